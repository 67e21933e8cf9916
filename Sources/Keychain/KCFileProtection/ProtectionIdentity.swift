package import KCAgeEncryption
internal import KCByteStreams
package import KCKeychainKeys

/// An age identity that names a key of this device, `AGE-PLUGIN-KCBACKUP-1…` (docs/protect.md, "Identities").
///
/// An identity is no secret: it says where the key is, and has the public half, so that files can be encrypted to it at
/// any time.
package struct ProtectionIdentity: Hashable, Sendable, LosslessStringConvertible {
    /// Who has the key.
    package let holder: FileKeyHolder
    /// The public half.
    package let recipient: X25519Recipient

    private static let prefix = "AGE-PLUGIN-KCBACKUP-"
    private static let deviceKind: UInt8 = 1
    private static let keychainKind: UInt8 = 2
    private static let storeIDSize = 16
    private static let keySize = 32

    /// Names the key of a device.
    package init(device publicKey: [UInt8]) {
        holder = .device(publicKey)
        recipient = X25519Recipient(publicKey: publicKey)
    }

    /// Names a key of a keychain.
    package init(keychain storeID: [UInt8], _ fileClass: FileKeyClass, publicKey: [UInt8]) {
        precondition(storeID.count == Self.storeIDSize, "a store ID has 16 bytes")
        holder = .keychain(storeID, fileClass)
        recipient = X25519Recipient(publicKey: publicKey)
    }

    /// Parses the upper-case Bech32 form; nil for anything else.
    package init?(_ description: String) {
        var bytes: [UInt8] = []
        guard Bech32.decode(description.utf8.span, prefix: Self.prefix, uppercase: true, into: &bytes),
            bytes.count > Self.keySize
        else { return nil }
        let publicKey = Array(bytes.suffix(Self.keySize))
        switch bytes[0] {
        case Self.deviceKind where bytes.count == 1 + Self.keySize: self.init(device: publicKey)
        case Self.keychainKind where bytes.count == 2 + Self.storeIDSize + Self.keySize:
            guard let fileClass = FileKeyClass.allCases.first(where: { $0.code == bytes[1] }) else { return nil }
            self.init(keychain: Array(bytes[2..<2 + Self.storeIDSize]), fileClass, publicKey: publicKey)
        default: return nil
        }
    }

    /// The upper-case Bech32 form.
    package var description: String {
        var bytes: [UInt8]
        switch holder {
        case .device: bytes = [Self.deviceKind]
        case .keychain(let storeID, let fileClass): bytes = [Self.keychainKind, fileClass.code] + storeID
        }
        bytes += recipient.publicKey
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, bytes.span, uppercase: true, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of an identity file, as age reads it.
    ///
    /// - Parameter comments: single lines.
    package func file(comments: [String]) -> String {
        (comments + ["public key: \(recipient)"]).map { "# \($0)\n" }.joined() + "\(self)\n"
    }
}

extension FileKeyClass {
    /// The byte that stands for it in an identity.
    fileprivate var code: UInt8 {
        switch self {
        case .complete: 1
        case .unlessOpen: 2
        case .untilFirstUnlock: 3
        }
    }
}
