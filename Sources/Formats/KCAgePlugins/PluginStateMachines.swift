internal import KCAgeEncryption
internal import KCByteStreams

// The order of messages in both kinds of run is that of C2SP age-plugin, "Wrapping with recipient-v1" and "Unwrapping with
// identity-v1".

extension PluginTalk {
    /// Has each of `fileKeys` wrapped for all of `recipients`.
    ///
    /// - Returns: what was wrapped, for each of the keys.
    mutating func wrap(
        _ fileKeys: [FileKey], for recipients: [PluginRecipient]
    ) throws(AgeFailure) -> [WrappedFileKey] {
        for recipient in recipients { try send(PluginMessage("add-recipient", [recipient.description])) }
        try sendGrease()
        for key in fileKeys {
            try key.withKey { key throws(AgeFailure) in try send(PluginMessage("wrap-file-key", body: key.copy())) }
        }
        try send(PluginMessage("extension-labels"))
        try send(PluginMessage("done"))

        var stanzas = [[Stanza]](repeating: [], count: fileKeys.count)
        var labels: Set<ExactText>?
        try answerAll { message, plugin throws(AgeFailure) in
            switch message.command {
            case Self.stanzaCommand:
                guard let (file, stanza) = message.stanza(), stanzas.indices.contains(file) else {
                    throw plugin.misbehaved("it wrapped a key that it was not given")
                }
                guard !Self.isOfPassphrase(stanza) else { throw plugin.misbehaved("it wrapped a key in a passphrase") }
                guard stanzas[file].count < AgeHeader.stanzaLimit else {
                    throw plugin.misbehaved("it wrapped a key more than \(AgeHeader.stanzaLimit) times")
                }
                stanzas[file].append(stanza)
            case Self.labelsCommand:
                guard labels == nil else { throw plugin.misbehaved("it gave labels twice") }
                let given = Set(message.arguments.map(\.exact))
                guard given.count == message.arguments.count else { throw plugin.misbehaved("it gave a label twice") }
                labels = given
            default: return .unsupported
            }
            return .ok
        }
        try requireNoFailure()
        // Each recipient has at least one; a file that one of them cannot open must not seem to be for all.
        guard stanzas.allSatisfy({ $0.count >= recipients.count }) else {
            throw misbehaved("it wrapped a key for some of the recipients alone")
        }
        return stanzas.map { WrappedFileKey($0, labels: labels ?? []) }
    }

    /// Has the keys of files unwrapped with `identities`.
    ///
    /// - Returns: the key of each file; nil where no identity is a recipient.
    mutating func unwrap(
        _ headers: [AgeHeader], with identities: [PluginIdentity]
    ) throws(AgeFailure) -> [FileKey?] {
        for identity in identities {
            try identity.withText { text throws(AgeFailure) in
                try send(PluginMessage("add-identity"), secret: text)
            }
        }
        try sendGrease()
        for (file, header) in headers.enumerated() {
            for stanza in header.stanzas { try send(PluginMessage(Self.stanzaCommand, of: file, stanza)) }
        }
        try send(PluginMessage("done"))

        var keys = [FileKey?](repeating: nil, count: headers.count)
        try answerAll { message, plugin throws(AgeFailure) in
            guard message.command == Self.fileKeyCommand else { return .unsupported }
            guard message.arguments.count == 1, let file = PluginMessage.index(message.arguments[0]),
                headers.indices.contains(file)
            else { throw plugin.misbehaved("it gave the key of a file that it was not asked for") }
            guard keys[file] == nil else { throw plugin.misbehaved("it gave the key of a file twice") }
            guard let key = try FileKey.of(headers[file], message.body) else {
                throw plugin.misbehaved("it gave a wrong key")
            }
            keys[file] = key
            return .ok
        }
        if keys.contains(where: { $0 == nil }) { try requireNoFailure() }
        return keys
    }

    private static var stanzaCommand: String { "recipient-stanza" }
    private static var labelsCommand: String { "labels" }
    private static var fileKeyCommand: String { "file-key" }

    /// A stanza of a passphrase must be the only one of a file, so no plugin can make one for an archive.
    private static func isOfPassphrase(_ stanza: Stanza) -> Bool { stanza.type == ScryptRecipient.type }
}
