internal import KCAgeEncryption
internal import KCByteStreams

extension PluginServer where Input: ~Copyable {
    /// Wraps file keys (`recipient-v1`) for identities; no key of this device is needed for that.
    ///
    /// There are no recipients of this plugin: its keys have `age1…`, to which everybody can encrypt without it.
    ///
    /// - Throws: `AgeFailure` if the client breaks the protocol or ends, `cryptography`.
    package func wrap() throws {
        var identities: [ProtectionIdentity?] = []
        var recipients = 0
        var fileKeys: [FileKeyToWrap] = []
        while let message = try connection.command() {
            switch message.command {
            case "add-identity" where message.arguments.count == 1:
                identities.append(ProtectionIdentity(message.arguments[0]))
            case "add-recipient": recipients += 1
            case "wrap-file-key": fileKeys.append(FileKeyToWrap(message.body))
            default: break
            }
            guard identities.count + recipients + fileKeys.count <= Self.limit else {
                throw AgeFailure.headerTooLarge("identities and files", allowed: Self.limit)
            }
        }
        var isRefused = false
        for index in 0..<recipients {
            isRefused = true
            try refuse("recipient", index, "a key of kcbackup is an ordinary recipient: age1…")
        }
        for (index, identity) in identities.enumerated() where identity == nil {
            isRefused = true
            try refuse("identity", index, "this is not an identity that age-plugin-kcbackup knows")
        }
        if !isRefused {
            for (index, fileKey) in fileKeys.enumerated() {
                for identity in identities {
                    guard let identity else { continue }
                    for stanza in try MarkedRecipient(identity).wrap(fileKey: fileKey.bytes).stanzas {
                        try connection.ask(PluginMessage("recipient-stanza", of: index, stanza))
                    }
                }
            }
        }
        try connection.finish()
    }
}

/// A file key of the client, in a class, since a list cannot hold a secret.
private final class FileKeyToWrap {
    let bytes: SecretBytes

    init(_ bytes: borrowing SecretBytes) {
        self.bytes = bytes.copy()
    }
}
