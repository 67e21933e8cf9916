package import AgeEncryption
package import ByteStreams
package import Cryptography
package import KeychainModel

/// How an archive is protected, which decides where it can be restored.
package enum ArchiveProtection: Sendable {
    /// It opens with these keys, on any device.
    case encrypted(ArchiveKeys)
    /// Anybody can read its metadata; its secrets stay as this keychain stores them, which only its device opens.
    case unencrypted(StoredKeychain)

    /// What the archive says of itself.
    package var mode: ArchiveMode {
        switch self {
        case .encrypted: .encrypted
        case .unencrypted: .unencrypted
        }
    }

    /// Who can read a stream; empty if it is not encrypted.
    func recipients(of stream: StreamKind) -> [any Recipient] {
        guard case .encrypted(let keys) = self else { return [] }
        return stream == .metadata ? keys.recipients + keys.inspectors : keys.recipients
    }
}

/// The keys that open an encrypted archive; at least one of them restores it.
package struct ArchiveKeys: Sendable {
    /// 32 random bytes that no other archive shares.
    let archiveID: [UInt8]
    /// Who can read both streams.
    let recipients: [any Recipient]
    /// Who can read the metadata and never a secret.
    let inspectors: [any Recipient]
    /// The bytes of `identity.age`, where a passphrase was set.
    let identityMember: [UInt8]?
}

extension ArchiveKeys {
    /// The keys of an archive without a passphrase.
    ///
    /// - Throws: `ArchiveFailure`: `age(.noRecipients)` when no key could restore, `cryptography` without randomness.
    package init(recipients: [any Recipient], inspectors: [any Recipient] = []) throws(ArchiveFailure) {
        try self.init(of: try randomID(), recipients: recipients, inspectors: inspectors)
    }

    /// The keys of an archive that exists, as `init(recipients:inspectors:)`.
    package init(
        of archiveID: [UInt8], recipients: [any Recipient], inspectors: [any Recipient]
    ) throws(ArchiveFailure) {
        guard !recipients.isEmpty else { throw .age(.noRecipients) }
        self.init(
            archiveID: archiveID, recipients: recipients, inspectors: inspectors, identityMember: nil)
    }

    /// The keys of an archive that a passphrase opens too, through an identity made for this archive alone.
    ///
    /// The identity file notes whether the passphrase is the only key, which is what makes a passphrase vouch for the
    /// origin of an archive (docs/threat-model.md, "Origin").
    ///
    /// - Throws: `ArchiveFailure` (`age`, `cryptography`).
    package init(
        passphrase: borrowing SecretBytes, cost: ScryptCost, recipients: [any Recipient] = [],
        inspectors: [any Recipient] = []
    ) throws(ArchiveFailure) {
        try self.init(
            of: try randomID(), passphrase: passphrase, cost: cost, recipients: recipients, inspectors: inspectors)
    }

    /// The keys of an archive that exists, as `init(passphrase:cost:recipients:inspectors:)`.
    package init(
        of archiveID: [UInt8], passphrase: borrowing SecretBytes, cost: ScryptCost, recipients: [any Recipient],
        inspectors: [any Recipient]
    ) throws(ArchiveFailure) {
        do {
            let identity = try X25519Identity.generate()
            let text = IdentityNote.text(
                of: identity, archiveID: archiveID, isOnlyKey: recipients.isEmpty && inspectors.isEmpty)
            var encryptor = try AgeEncryptor(
                recipients: [ScryptRecipient(passphrase: passphrase, cost: cost)], to: MemorySink())
            try text.withBytes { bytes throws(StreamFailure) in try encryptor.write(bytes) }
            self.init(
                archiveID: archiveID, recipients: recipients + [identity.recipient], inspectors: inspectors,
                identityMember: try encryptor.finish())
        } catch {
            throw ArchiveFailure(any: error)
        }
    }
}

/// A new archive ID.
func randomID() throws(ArchiveFailure) -> [UInt8] {
    try cryptography { () throws(CryptographyFailure) in try RandomBytes.bytes(count: 32) }
}

/// What an archive's own identity file says beside the identity (docs/format.md, "Encryption").
enum IdentityNote {
    /// The whole text of the file.
    static func text(of identity: X25519Identity, archiveID: [UInt8], isOnlyKey: Bool) -> SecretBytes {
        IdentityFile.text(of: identity, comments: [archive(archiveID), isOnlyKey ? onlyKey : notOnlyKey])
    }

    static func archive(_ archiveID: [UInt8]) -> String { "kcbackup archive: " + Hexadecimal.encode(archiveID) }
    static let onlyKey = "kcbackup only key: yes"
    static let notOnlyKey = "kcbackup only key: no"
}

/// Runs a cryptographic call whose failure says nothing about the data.
func cryptography<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(ArchiveFailure) -> R {
    do {
        return try body()
    } catch {
        throw .cryptography(error)
    }
}
