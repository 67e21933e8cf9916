internal import ArgumentParser
internal import ByteStreams
internal import KeychainModel

/// The secret of one item.
struct SecretOptions: ParsableArguments {
    @Option(
        name: OptionName.secret.name,
        help: ArgumentHelp("Where the secret comes from: one line of text.", valueName: "source"))
    var secret: SecretSource?

    @Option(
        name: OptionName.secretFile.name,
        help: ArgumentHelp("A file that is the secret, byte for byte.", valueName: "file"),
        completion: .file())
    var secretFile: String?

    /// True if either is given.
    var isGiven: Bool { secret != nil || secretFile != nil }

    /// Reads the secret; nil if none is given.
    ///
    /// - Parameter isPublic: true for certificates, whose file others may read.
    /// - Throws: the errors of `SecretInput`, `FileFailure`, `UsageProblem` (`together`).
    func read(isPublic: Bool, in session: Session) throws -> SecretBytes? {
        if let secretFile {
            if secret != nil { throw UsageProblem.together(.secret, .secretFile) }
            let path = session.world.resolve(secretFile)
            return try isPublic
                ? PrivateFile.readPublic(path, limit: ItemLimits.secretSize)
                : PrivateFile.read(path, limit: ItemLimits.secretSize)
        }
        guard let secret else { return nil }
        return try session.secrets.new(
            WantedSecret(what: "secret of the item", flag: .secret, source: secret, isContent: true))
    }
}
