package import KCAgeEncryption
package import KCByteStreams
internal import KCCryptography
internal import KCKeychainKeys

/// A stanza that tells the device that protected a file which of its keys opens it, and tells others nothing.
///
/// The stanza for an X25519 key does not name the key. Without a mark, only a key that is at hand could find out what a
/// file is waiting for. Other programs pass over it (C2SP age, "Recipient stanza"). A mark has no key of the file.
package enum ProtectionMark {
    /// The type of the stanza.
    package static let type = "kcbackup"
    private static let label = Array("kcbackup/v1/file-mark".utf8)
    private static let saltSize = 16
    private static let tagSize = 16

    /// Makes the mark of a new file.
    ///
    /// - Throws: `AgeFailure.cryptography` if there is no randomness.
    package static func make(for holder: FileKeyHolder) throws(AgeFailure) -> Stanza {
        do throws(CryptographyFailure) {
            let salt = try RandomBytes.bytes(count: saltSize)
            let tag = try tag(of: holder, salt)
            return Stanza(
                type: type, arguments: [salt, tag].map { Base64.encode($0, padded: false) }, body: [])
        } catch {
            throw .cryptography(error)
        }
    }

    /// True if a header has a mark, of whomever.
    package static func isMarked(_ stanzas: [Stanza]) -> Bool { stanzas.contains { $0.type == type } }

    /// The one of `holders` for whom a file is marked; nil if it is for none of them.
    ///
    /// Only opening the file proves it.
    package static func holder(
        of stanzas: [Stanza], among holders: [FileKeyHolder]
    ) throws(AgeFailure) -> FileKeyHolder? {
        for stanza in stanzas where stanza.type == type {
            guard stanza.arguments.count == 2, let salt = Base64.decode(stanza.arguments[0], padded: false),
                salt.count == saltSize, let found = Base64.decode(stanza.arguments[1], padded: false)
            else { continue }
            for holder in holders {
                do throws(CryptographyFailure) {
                    if try found == tag(of: holder, salt) { return holder }
                } catch {
                    throw .cryptography(error)
                }
            }
        }
        return nil
    }

    private static func tag(of holder: FileKeyHolder, _ salt: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        let name: [UInt8]
        switch holder {
        case .device(let publicKey): name = publicKey
        case .keychain(let storeID, let fileClass): name = storeID + Array(fileClass.rawValue.utf8)
        }
        let key = SecretBytes(copying: name)
        let tag = try HKDF.derive(inputKey: key, salt: label, info: label + salt, count: tagSize)
        return tag.withBytes { [UInt8](copying: $0) }
    }
}

/// A recipient with a mark for its holder.
package struct MarkedRecipient: Recipient {
    private let recipient: X25519Recipient
    private let holder: FileKeyHolder

    /// Encrypts to the key that an identity names.
    package init(_ identity: ProtectionIdentity) {
        recipient = identity.recipient
        holder = identity.holder
    }

    /// Wraps the file key, and adds the mark.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        let wrapped = try recipient.wrap(fileKey: fileKey)
        return WrappedFileKey(wrapped.stanzas + [try ProtectionMark.make(for: holder)], labels: wrapped.labels)
    }
}
