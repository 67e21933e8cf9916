package import KCAgeEncryption
package import KCByteStreams
package import KCCryptography

/// Makes the keys for new archives; each archive has its own.
package final class ArchiveKeyMaker {
    private let recipients: GivenRecipients
    private let passphrase: SecretBytes
    private let cost: ScryptCost?
    private let quietly: (() throws -> ArchiveKeys) throws -> ArchiveKeys

    /// Creates a maker of keys without a passphrase.
    package init(_ recipients: GivenRecipients) {
        self.recipients = recipients
        passphrase = SecretBytes(capacity: 0)
        cost = nil
        quietly = { make in try make() }
    }

    /// Creates a maker of keys that also open with a passphrase.
    ///
    /// - Parameter quietly: runs what derives keys from it.
    package init(
        _ recipients: GivenRecipients, passphrase: consuming SecretBytes, cost: ScryptCost,
        quietly: @escaping (() throws -> ArchiveKeys) throws -> ArchiveKeys
    ) {
        self.recipients = recipients
        self.passphrase = passphrase
        self.cost = cost
        self.quietly = quietly
    }

    /// Returns keys for an existing archive.
    ///
    /// - Throws: `ArchiveFailure`, and what `quietly` throws.
    package func make(of archiveID: [UInt8]) throws -> ArchiveKeys {
        guard let cost else {
            return try ArchiveKeys(
                of: archiveID, recipients: recipients.opening.map(\.recipient),
                inspectors: recipients.inspecting.map(\.recipient))
        }
        return try quietly {
            try ArchiveKeys(
                of: archiveID, passphrase: passphrase, cost: cost, recipients: recipients.opening.map(\.recipient),
                inspectors: recipients.inspecting.map(\.recipient))
        }
    }

    /// Returns keys for a new archive.
    ///
    /// - Throws: `ArchiveFailure`, and what `quietly` throws.
    package func make() throws -> ArchiveKeys {
        guard let cost else {
            return try ArchiveKeys(
                recipients: recipients.opening.map(\.recipient),
                inspectors: recipients.inspecting.map(\.recipient))
        }
        return try quietly {
            try ArchiveKeys(
                passphrase: passphrase, cost: cost, recipients: recipients.opening.map(\.recipient),
                inspectors: recipients.inspecting.map(\.recipient))
        }
    }
}

/// Where the keys of an archive are, as far as this device knows.
package enum KeyReach: Hashable, Sendable {
    /// A passphrase opens the archive, or nothing is needed for that.
    case anywhere
    /// Public keys alone open it, of which one may be that of a recovery kit. Each of the others may be bound to one device,
    /// which a public key does not tell.
    case itsKeys
    /// Every key that opens it is one that this device has for files.
    case thisDevice
}

/// The given public keys, without duplicates.
package struct GivenRecipients {
    /// Public keys that open the whole archive.
    package var restoring: [GivenRecipient] = []
    /// Public keys that open only the metadata.
    package var inspecting: [GivenRecipient] = []

    /// Recovery kits of this device that open the whole archive too, without being given.
    package var kits: [NativeRecipient] = []
    /// The names of all recovery kits of this device, also of those for which no more archives are made.
    package var knownKits: Set<ExactText> = []

    /// Where something opens the archive.
    package var reach = KeyReach.anywhere

    package init() {}

    /// Everything that opens the whole archive.
    package var opening: [GivenRecipient] { restoring + kits.map { .native($0) } }
}
