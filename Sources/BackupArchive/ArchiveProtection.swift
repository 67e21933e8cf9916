public import AgeEncryption
public import ByteStreams
public import Cryptography
internal import KeychainModel

/// Who will be able to open an archive.
public struct ArchiveProtection: Sendable {
    /// 32 random bytes that no other archive shares.
    public let archiveID: [UInt8]
    /// Who can read the metadata stream.
    private(set) var metadataRecipients: [any Recipient] = []
    /// Who can read the secrets stream.
    private(set) var secretsRecipients: [any Recipient] = []
    /// The bytes of `identity.age`, where a passphrase was set.
    private(set) var identityMember: [UInt8]?

    /// Starts with nobody, which is right for an unencrypted archive and wrong for an encrypted one.
    ///
    /// - Throws: `ArchiveFailure.cryptography` when there is no randomness.
    public init() throws(ArchiveFailure) {
        archiveID = try cryptography { () throws(CryptographyFailure) in try RandomBytes.bytes(count: 32) }
    }

    /// True when somebody will be able to open the secrets.
    public var isComplete: Bool { !secretsRecipients.isEmpty }

    /// Adds who may read both streams.
    public mutating func add(_ recipient: any Recipient) {
        metadataRecipients.append(recipient)
        secretsRecipients.append(recipient)
    }

    /// Adds who may read the metadata and never a secret.
    public mutating func addInspector(_ recipient: any Recipient) {
        metadataRecipients.append(recipient)
    }

    /// Lets a passphrase open the archive: through an identity made for this archive alone.
    ///
    /// To be called last: the identity file notes whether the passphrase is the only key, which is what makes a
    /// passphrase vouch for the origin of an archive (docs/threat-model.md, "Origin").
    public mutating func addPassphrase(_ passphrase: borrowing SecretBytes, cost: ScryptCost) throws(ArchiveFailure) {
        precondition(identityMember == nil, "an archive has one passphrase")
        let isOnlyKey = metadataRecipients.isEmpty && secretsRecipients.isEmpty
        do {
            let identity = try X25519Identity.generate()
            let text = IdentityNote.text(of: identity, archiveID: archiveID, isOnlyKey: isOnlyKey)
            var encryptor = try AgeEncryptor(
                recipients: [ScryptRecipient(passphrase: passphrase, cost: cost)], to: MemorySink())
            try text.withBytes { bytes throws(StreamFailure) in try encryptor.write(bytes) }
            identityMember = try encryptor.finish()
            add(identity.recipient)
        } catch let failure as AgeFailure {
            throw ArchiveFailure(failure)
        } catch let failure as StreamFailure {
            throw ArchiveFailure(failure)
        } catch {
            throw ArchiveFailure(any: error)
        }
    }
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
