package import KCAgeEncryption
package import KCByteStreams

/// A keyring that opens the keys that identities name, for the plugin.
package protocol FileKeyring {
    /// Opens the keys of an identity, newest first.
    ///
    /// - Parameter secret: asks the user for a secret; nil if nobody can be asked.
    /// - Throws: `PluginRefusal` if they cannot be opened now; other errors end the plugin.
    func keys(
        of identity: ProtectionIdentity, asking secret: (String) throws -> SecretBytes?
    ) throws -> [any Identity]

    /// True if the keys can be opened without a question.
    func isOpen(_ identity: ProtectionIdentity) throws -> Bool
}

/// Why the plugin does not do what its client wants, in words for the user.
package struct PluginRefusal: Error, Hashable, Sendable {
    let message: String

    /// - Parameter message: one line.
    package init(_ message: String) {
        self.message = message
    }
}

/// The plugin's side of one run (C2SP age-plugin, "State machines").
package struct PluginServer<Input: ByteSource & ~Copyable> {
    let connection: PluginConnection<Input>

    /// Talks over a connection.
    package init(_ connection: PluginConnection<Input>) {
        self.connection = connection
    }

    /// The most files, identities and recipients of a run: each may cost a key exchange with each key.
    static var limit: Int { 10_000 }

    /// Unwraps file keys (`identity-v1`): all that the keys of this device open.
    ///
    /// - Throws: `AgeFailure` if the client breaks the protocol or ends; errors of `keyring`.
    package func unwrap(with keyring: some FileKeyring) throws {
        let request = try UnwrapRequest(connection)
        if let index = request.identities.firstIndex(where: { $0 == nil }) {
            try refuse("identity", index, "this is not an identity that age-plugin-kcbackup knows")
            return try connection.finish()
        }
        var waiting = try sound(request.files)
        let identities = request.identities.enumerated().compactMap { index, identity in identity.map { (index, $0) } }
        // Nobody is asked for anything before what is open has been tried.
        let open = try identities.filter { try keyring.isOpen($0.1) }
        let closed = identities.filter { candidate in !open.contains { $0.0 == candidate.0 } }
        var refusals: [(index: Int, refusal: PluginRefusal)] = []
        for (place, (index, identity)) in (open + closed).enumerated() {
            // A mark is a hint: what is open costs nothing to try.
            let meant = try waiting.filter { try place < open.count || $0.isMeant(for: identity.holder) }
            if meant.isEmpty { continue }
            do {
                let keys = try keyring.keys(of: identity) { try connection.secret($0) }
                for file in meant where try unwrap(file, keys) { waiting.removeAll { $0.index == file.index } }
            } catch let refusal as PluginRefusal {
                refusals.append((index, refusal))
            }
        }
        // A key that is not needed is no error.
        if !waiting.isEmpty { for (index, refusal) in refusals { try refuse("identity", index, refusal.message) } }
        try connection.finish()
    }

    /// The files without a stanza that breaks the rules, which the client is told about.
    private func sound(_ files: [UnwrapRequest.File]) throws -> [UnwrapRequest.File] {
        var sound: [UnwrapRequest.File] = []
        for file in files {
            var isSound = true
            for (position, stanza) in file.stanzas.enumerated() where stanza.type == X25519Recipient.type {
                if stanza.isWellFormed { continue }
                isSound = false
                try connection.ask(
                    PluginMessage(
                        "error", ["stanza", "\(file.index)", "\(position)"],
                        body: SecretBytes("the X25519 stanza breaks the rules of its type".utf8.span)))
            }
            if isSound, file.isForX25519 { sound.append(file) }
        }
        return sound
    }

    /// Sends the file key if one of `keys` opens it.
    private func unwrap(_ file: UnwrapRequest.File, _ keys: [any Identity]) throws -> Bool {
        for key in keys {
            guard let fileKey = try key.unwrap(file.stanzas) else { continue }
            try connection.ask(PluginMessage("file-key", ["\(file.index)"], body: fileKey))
            return true
        }
        return false
    }

    func refuse(_ kind: String, _ index: Int, _ message: String) throws {
        try connection.ask(PluginMessage("error", [kind, "\(index)"], body: SecretBytes(message.utf8.span)))
    }
}

/// The request of a client of `identity-v1`.
struct UnwrapRequest {
    /// The identities in order; nil for one that is not known.
    private(set) var identities: [ProtectionIdentity?] = []
    private(set) var files: [File] = []

    struct File {
        let index: Int
        var stanzas: [Stanza]

        /// True if a key of this plugin may open it.
        var isForX25519: Bool { stanzas.contains { $0.type == X25519Recipient.type } }

        /// False if the file is marked for other holders.
        func isMeant(for holder: FileKeyHolder) throws(AgeFailure) -> Bool {
            if !ProtectionMark.isMarked(stanzas) { return true }
            return try ProtectionMark.holder(of: stanzas, among: [holder]) != nil
        }
    }

    /// Reads the first phase; unknown commands are passed over.
    init<Input: ByteSource & ~Copyable>(_ connection: PluginConnection<Input>) throws(AgeFailure) {
        while let message = try connection.command() {
            switch message.command {
            case "add-identity" where message.arguments.count == 1:
                identities.append(ProtectionIdentity(message.arguments[0]))
            case "recipient-stanza":
                guard let (index, stanza) = message.stanza() else {
                    throw .malformedHeader("a stanza does not say of which file it is")
                }
                if files.last?.index == index {
                    try AgeHeader.requireRoom(forStanzas: files[files.count - 1].stanzas.count + 1)
                    files[files.count - 1].stanzas.append(stanza)
                } else {
                    guard index > files.last?.index ?? -1 else { throw .malformedHeader("files are out of order") }
                    files.append(File(index: index, stanzas: [stanza]))
                }
            default: break
            }
            guard identities.count + files.count <= PluginServer<Input>.limit else {
                throw .headerTooLarge("identities and files", allowed: PluginServer<Input>.limit)
            }
        }
    }
}
