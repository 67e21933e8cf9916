package import KCByteStreams

/// A host that finds and runs plugins.
///
/// Each call is one run of a plugin, which asks its user at most once for whatever it needs.
package protocol PluginHost: Sendable {
    /// Wraps each of `fileKeys` for all of `recipients`, which are of one plugin.
    ///
    /// - Returns: what was wrapped, for each of the keys.
    /// - Throws: `AgeFailure`: `plugin`, `stream`.
    func wrap(_ fileKeys: [FileKey], for recipients: [PluginRecipient]) throws(AgeFailure) -> [WrappedFileKey]

    /// Unwraps the keys of files by their headers with `identities`, which are of one plugin.
    ///
    /// - Returns: for each of the files, a key that its header was made with; nil if no identity is one of its recipients.
    /// - Throws: `AgeFailure`: `plugin`, `stream`.
    func unwrap(_ headers: [AgeHeader], with identities: [PluginIdentity]) throws(AgeFailure) -> [FileKey?]
}

/// A public key that a plugin encrypts to, `age1NAME1…`.
package struct PluginRecipient: Recipient, Hashable, CustomStringConvertible {
    /// The plugin.
    package let plugin: PluginName
    private let text: ExactText
    let host: any PluginHost

    /// Parses `age1NAME1…` in lower case; nil for anything else.
    package init?(_ text: String, host: any PluginHost) {
        guard let plugin = PluginName(recipient: text) else { return nil }
        self.plugin = plugin
        self.text = text.exact
        self.host = host
    }

    package static func == (left: PluginRecipient, right: PluginRecipient) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The encoding of the key.
    package var description: String { text.string }

    /// Runs the plugin for one file key; `NewFileKey.make` runs it once for several.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        try host.wrap([FileKey(fileKey)], for: [self])[0]
    }
}

/// An identity that lets a plugin find a private key, `AGE-PLUGIN-NAME-1…`; it may be the key itself.
package final class PluginIdentity: Identity {
    /// The plugin.
    package let plugin: PluginName
    private let text: SecretBytes
    let host: any PluginHost

    private init(_ plugin: PluginName, _ text: consuming SecretBytes, _ host: any PluginHost) {
        self.plugin = plugin
        self.text = text
        self.host = host
    }

    /// Parses `AGE-PLUGIN-NAME-1…` in upper case; nil for anything else.
    package static func parse(_ text: borrowing Span<UInt8>, host: any PluginHost) -> PluginIdentity? {
        guard let plugin = PluginName(identity: text) else { return nil }
        return PluginIdentity(plugin, SecretBytes(text), host)
    }

    /// Calls `body` with the encoding.
    package func withText<R: ~Copyable, E: Error>(_ body: (borrowing Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try text.withBytes(body)
    }

    /// Not to be called: only a complete header shows whether a plugin gave the right key, see `FileKey.unwrap`.
    package func unwrap(_ stanzas: [Stanza]) -> SecretBytes? {
        preconditionFailure("a plugin is asked for the keys of headers")
    }
}

/// Why a plugin of age did not do what it was asked for.
package enum PluginFailure: Error, Hashable, Sendable {
    /// None of these folders has the program.
    case notFound(folders: [String])
    /// Others could replace the program, or its folder is not readable.
    case notSafe(FileFailure)
    /// The plugin could not be started, with this `errno`.
    case notStarted(Int32)
    /// The plugin ended before it was done; the text is the end of what it wrote to standard error.
    case ended(said: String)
    /// The plugin broke this rule of the protocol.
    case misbehaved(String)
    /// The plugin sent more than this.
    case tooMuch(limitInBytes: Int)
    /// The plugin took too long, and no user was present to wait for it.
    case overdue(seconds: Int)
    /// The plugin asked a question, and no user was present.
    case unattended
    /// The plugin reported this failure.
    case reported(String)
}
