internal import AgeEncryption
internal import ArgumentParser
internal import ByteStreams

/// Public keys whose identities open what is encrypted to them.
struct RecipientOptions: ParsableArguments {
    @Option(
        name: OptionName.recipient.name,
        help: ArgumentHelp(
            "A public key (age1…) whose identity opens the file; may be repeated.", valueName: "recipient"))
    var recipient: [String] = []

    @Option(
        name: OptionName.recipientsFile.name,
        help: ArgumentHelp("A file of public keys, one a line; may be repeated.", valueName: "file"),
        completion: .file())
    var recipientsFile: [String] = []

    /// The first of these options that is given.
    var firstGiven: OptionName? {
        if !recipient.isEmpty { return .recipient }
        return recipientsFile.isEmpty ? nil : .recipientsFile
    }

    /// The public keys in the order in which they are given.
    ///
    /// - Throws: `AgeFailure`, `FileFailure`.
    func recipients(in session: Session) throws -> [X25519Recipient] {
        try recipient.map(Self.parse) + recipientsFile.flatMap { try Self.parse(file: $0, session) }
    }

    static func parse(_ text: String) throws(AgeFailure) -> X25519Recipient {
        guard let recipient = X25519Recipient(text) else { throw .malformedRecipient }
        return recipient
    }

    private static func parse(file path: String, _ session: Session) throws -> [X25519Recipient] {
        session.subjects.path = path
        let text = try PrivateFile.readPublic(session.world.resolve(path))
        return try RecipientFile.parse(
            text.withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            })
    }
}
