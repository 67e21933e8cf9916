internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// The class keys of an earlier generation in a keybag, so that archives made with them can still be restored.
///
/// Each is wrapped (AES-KW, RFC 3394) under a key derived from the current class key of the same accessibility. So the
/// current keys open the earlier ones, but not vice versa. The key of `akpu` is not kept, since no archive has items
/// that it opens. Presence keys are kept in the same way if both generations have a passcode.
enum RetiredKeys {
    /// The accessibilities of a set, ordered by code.
    static let accessibilities = Accessibility.inKeybag.filter { $0 != .whenPasscodeSetThisDeviceOnly }
    /// True if a set can have this size in bytes in a keybag; only one with a passcode has keys that open presence keys.
    static func isSize(_ count: Int, hasPasscode: Bool) -> Bool {
        count == classKeysSize || hasPasscode && count == classKeysSize + AccessConstraint.allCases.count * wrappedSize
    }

    private static let classKeysSize = accessibilities.count * wrappedSize
    private static let wrappedSize = ClassKey.size + AESKeyWrap.overhead
    // The class key is also used to derive item keys, with another label.
    private static let label = Array("kcbackup/v1/retired-class-key".utf8)
    private static let presenceLabel = Array("kcbackup/v1/retired-presence-key".utf8)

    /// Wraps an earlier set under the current one; both must be complete.
    static func wrap(_ keys: ClassKeys, under present: ClassKeys) throws(CryptographyFailure) -> [UInt8] {
        var set: [UInt8] = []
        for accessibility in accessibilities {
            guard let key = keys[accessibility], let newer = present[accessibility] else {
                throw .unsupportedParameters("class key to be retired")
            }
            set += try AESKeyWrap.wrap(key.secret, with: wrappingKey(newer))
        }
        if keys.presenceKeys.isEmpty || present.presenceKeys.isEmpty { return set }
        for constraint in AccessConstraint.inKeybag {
            guard let key = keys.presenceKeys[constraint], let newer = present.presenceKeys[constraint] else {
                throw .unsupportedParameters("presence key to be retired")
            }
            set += try AESKeyWrap.wrap(key.secret, with: wrappingKey(newer))
        }
        return set
    }

    /// Opens the keys of a set for which there is a current key.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if it was not wrapped under them).
    static func unwrap(_ set: [UInt8], under present: ClassKeys) throws(CryptographyFailure) -> ClassKeys {
        var keys = ClassKeys()
        for (index, accessibility) in accessibilities.enumerated() {
            guard let newer = present[accessibility] else { continue }
            let wrapped = Array(set[index * wrappedSize..<(index + 1) * wrappedSize])
            keys[accessibility] = try ClassKey(AESKeyWrap.unwrap(wrapped, with: wrappingKey(newer)))
        }
        if set.count == classKeysSize { return keys }
        for (index, constraint) in AccessConstraint.inKeybag.enumerated() {
            guard let newer = present.presenceKeys[constraint] else { continue }
            let start = classKeysSize + index * wrappedSize
            let wrapped = Array(set[start..<start + wrappedSize])
            keys.add(try PresenceKey(AESKeyWrap.unwrap(wrapped, with: wrappingKey(newer))), for: constraint)
        }
        return keys
    }

    private static func wrappingKey(_ key: PresenceKey) throws(CryptographyFailure) -> SecretBytes {
        // The private half is also used with public keys, and never hashed on its own elsewhere.
        try HKDF.derive(inputKey: key.secret, salt: presenceLabel, info: presenceLabel, count: ClassKey.size)
    }

    private static func wrappingKey(_ key: ClassKey) throws(CryptographyFailure) -> SecretBytes {
        var wrapping = SecretBytes(capacity: ClassKey.size)
        try key.expander.expand(info: label.span, into: &wrapping)
        return wrapping
    }
}

extension Keybag {
    /// The class keys of earlier generations for which there is a current key, newest first.
    package func retiredKeys(under present: ClassKeys) throws(KeybagFailure) -> [ClassKeys] {
        do {
            return try retired.map { set in try RetiredKeys.unwrap(set, under: present) }
        } catch {
            throw Self.failure(error)
        }
    }
}
