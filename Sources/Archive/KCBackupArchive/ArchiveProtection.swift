package import KCAgeEncryption
package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// How an archive is protected, which determines where it can be restored.
package enum ArchiveProtection: Sendable {
    /// The archive opens with these keys, on any device.
    case encrypted(ArchiveKeys)
    /// Anyone can read the metadata; the secrets stay as this keychain stores them, and only its device can open them.
    case unencrypted(StoredKeychain)

    /// The mode stated in the archive.
    package var mode: ArchiveMode {
        switch self {
        case .encrypted: .encrypted
        case .unencrypted: .unencrypted
        }
    }

    /// Fresh keys for the two streams, made together so that a plugin is run once for both; nil for streams that are not
    /// encrypted.
    func fileKeys() throws(ArchiveFailure) -> (metadata: NewFileKey?, secrets: NewFileKey?) {
        guard case .encrypted(let keys) = self else { return (nil, nil) }
        do throws(AgeFailure) {
            let made = try NewFileKey.make(for: [keys.recipients + keys.inspectors, keys.recipients])
            return (made[0], made[1])
        } catch {
            throw ArchiveFailure(error)
        }
    }
}

/// The keys that open an encrypted archive, at least one of which can restore it.
package struct ArchiveKeys: Sendable {
    /// 32 random bytes, unique to this archive.
    let archiveID: [UInt8]
    /// The recipients that can read both streams.
    let recipients: [any Recipient]
    /// The recipients that can read the metadata but not the secrets.
    let inspectors: [any Recipient]
    /// The bytes of `identity.age`, if a passphrase was set.
    let identityMember: [UInt8]?
}

extension ArchiveKeys {
    /// Creates the keys of an archive without a passphrase.
    ///
    /// - Throws: `ArchiveFailure`: `age(.noRecipients)` if no key could restore the archive, `cryptography` without
    ///   randomness.
    package init(recipients: [any Recipient], inspectors: [any Recipient] = []) throws(ArchiveFailure) {
        try self.init(of: try randomID(), recipients: recipients, inspectors: inspectors)
    }

    /// Creates the keys of an existing archive, like `init(recipients:inspectors:)`.
    package init(
        of archiveID: [UInt8], recipients: [any Recipient], inspectors: [any Recipient]
    ) throws(ArchiveFailure) {
        guard !recipients.isEmpty else { throw .age(.noRecipients) }
        self.init(
            archiveID: archiveID, recipients: recipients, inspectors: inspectors, identityMember: nil)
    }

    /// Creates the keys of an archive that a passphrase opens, through an identity made for this archive alone.
    ///
    /// The identity file states whether the passphrase is the only key. If it is, the passphrase also proves the origin
    /// of the archive (docs/threat-model.md, "Origin").
    package init(
        passphrase: borrowing SecretBytes, cost: ScryptCost, recipients: [any Recipient] = [],
        inspectors: [any Recipient] = []
    ) throws(ArchiveFailure) {
        try self.init(
            of: try randomID(), passphrase: passphrase, cost: cost, recipients: recipients, inspectors: inspectors)
    }

    /// Creates the keys of an existing archive, like `init(passphrase:cost:recipients:inspectors:)`.
    package init(
        of archiveID: [UInt8], passphrase: borrowing SecretBytes, cost: ScryptCost, recipients: [any Recipient],
        inspectors: [any Recipient]
    ) throws(ArchiveFailure) {
        do {
            // All recipients of a stream have the same strength.
            let isPostQuantum = (recipients + inspectors).contains { $0.isPostQuantum }
            let identity = try NativeIdentity.generate(isPostQuantum ? .hybrid : .x25519)
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
    try cryptography(RandomBytes.bytes(count: 32))
}

/// The comments in an archive's own identity file (docs/format.md, "Encryption").
enum IdentityNote {
    /// The complete text of the file.
    static func text(of identity: NativeIdentity, archiveID: [UInt8], isOnlyKey: Bool) -> SecretBytes {
        IdentityFile.text(of: identity, comments: [archive(archiveID), isOnlyKey ? onlyKey : notOnlyKey])
    }

    static func archive(_ archiveID: [UInt8]) -> String { "kcbackup archive: " + Hexadecimal.encode(archiveID) }
    static let onlyKey = "kcbackup only key: yes"
    static let notOnlyKey = "kcbackup only key: no"
}

/// Runs a cryptographic call that can fail only for reasons other than the data.
func cryptography<R: ~Copyable>(_ call: @autoclosure () throws(CryptographyFailure) -> R) throws(ArchiveFailure) -> R {
    try failing(as: ArchiveFailure.cryptography, call())
}
