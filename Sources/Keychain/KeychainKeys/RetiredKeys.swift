internal import ByteStreams
internal import Cryptography
internal import KeychainModel

/// The class keys of an earlier generation as a keybag keeps them, so that archives of their time still restore.
///
/// Each is wrapped (AES-KW, RFC 3394) under a key that takes the present class key of the same accessibility to derive:
/// whoever opens the present ones opens the earlier ones, and never the reverse. The key of `akpu` is never kept, since
/// no archive has anything that it opens.
enum RetiredKeys {
    /// Whose keys a set holds, in the order of its bytes: by code.
    static let accessibilities = Accessibility.inKeybag.filter { $0 != .whenPasscodeSetThisDeviceOnly }
    /// Bytes of a set.
    static let size = accessibilities.count * wrappedSize

    private static let wrappedSize = ClassKey.size + AESKeyWrap.overhead
    // The class key also keys the items' own keys, by another label.
    private static let label = Array("kcbackup/v1/retired-class-key".utf8)

    /// Wraps an earlier set under the present one; both are complete.
    ///
    /// - Throws: `CryptographyFailure`.
    static func wrap(_ keys: ClassKeys, under present: ClassKeys) throws(CryptographyFailure) -> [UInt8] {
        var set: [UInt8] = []
        for accessibility in accessibilities {
            guard let key = keys[accessibility], let newer = present[accessibility] else {
                throw .unsupportedParameters("class key to be retired")
            }
            set += try AESKeyWrap.wrap(key.secret, with: wrappingKey(newer))
        }
        return set
    }

    /// Opens the keys of a set whose present counterparts there are.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` when it was not wrapped under them).
    static func unwrap(_ set: [UInt8], under present: ClassKeys) throws(CryptographyFailure) -> ClassKeys {
        var keys = ClassKeys()
        for (index, accessibility) in accessibilities.enumerated() {
            guard let newer = present[accessibility] else { continue }
            let wrapped = Array(set[index * wrappedSize..<(index + 1) * wrappedSize])
            keys[accessibility] = try ClassKey(AESKeyWrap.unwrap(wrapped, with: wrappingKey(newer)))
        }
        return keys
    }

    private static func wrappingKey(_ key: ClassKey) throws(CryptographyFailure) -> SecretBytes {
        var wrapping = SecretBytes(capacity: ClassKey.size)
        try key.expander.expand(info: label.span, into: &wrapping)
        return wrapping
    }
}

extension Keybag {
    /// The class keys of earlier generations whose present counterparts there are, newest first.
    ///
    /// - Throws: `damaged`, `cryptography`.
    package func retiredKeys(under present: ClassKeys) throws(KeybagFailure) -> [ClassKeys] {
        do {
            return try retired.map { set in try RetiredKeys.unwrap(set, under: present) }
        } catch {
            throw Self.failure(error)
        }
    }
}
