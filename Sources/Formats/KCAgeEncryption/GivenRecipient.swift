/// A public key that a user names: one that this program encrypts to, or one that a plugin does.
package enum GivenRecipient: Hashable, CustomStringConvertible {
    case native(NativeRecipient)
    case ssh(SSHRecipient)
    case plugin(PluginRecipient)

    /// Parses the encoding of a public key; nil for anything else, and for that of a plugin if there is no host.
    package init?(_ text: String, plugins: (any PluginHost)?) {
        if let recipient = NativeRecipient(text) {
            self = .native(recipient)
        } else if let recipient = SSHRecipient(text) {
            self = .ssh(recipient)
        } else if let plugins, let recipient = PluginRecipient(text, host: plugins) {
            self = .plugin(recipient)
        } else {
            return nil
        }
    }

    /// The encoding of the key.
    package var description: String {
        switch self {
        case .native(let recipient): recipient.description
        case .ssh(let recipient): recipient.description
        case .plugin(let recipient): recipient.description
        }
    }

    /// True if only a plugin opens what is encrypted to the key, and perhaps a token.
    package var needsPlugin: Bool {
        switch self {
        case .native(let recipient): recipient.isOnToken
        case .ssh: false
        case .plugin: true
        }
    }

    /// True if the key is post-quantum; nil for one of a plugin, which says it only when it wraps a file key.
    package var isPostQuantum: Bool? {
        switch self {
        case .native(let recipient): recipient.isPostQuantum
        case .ssh(let recipient): recipient.isPostQuantum
        case .plugin: nil
        }
    }

    /// The recipient that wraps file keys.
    package var recipient: any Recipient {
        switch self {
        case .native(let recipient): recipient
        case .ssh(let recipient): recipient
        case .plugin(let recipient): recipient
        }
    }
}
