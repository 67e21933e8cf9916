internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel

/// Class keys of a keychain, wrapped for the holder of an escrow key on this device (docs/keychain-file.md, "Escrow").
///
/// They are the ones that the passcode protects, except that of `akpu`, which no backup needs, and the presence keys. The
/// device opens the others.
package struct EscrowRecord: Hashable, Sendable {
    /// When escrow was enabled; unchanged when the record is renewed.
    package let since: Timestamp
    /// The public half of the escrow key that opens the record.
    package let key: EscrowPublicKey
    /// The public half of a key made for this record alone.
    let share: [UInt8]
    /// The class keys by code and the presence keys by name, each under its own key.
    let wrappedKeys: [UInt8]
    /// HMAC-SHA-256 of the other members, under a key derived from passcode and device.
    ///
    /// Only someone who knows the passcode can make a record. Otherwise a passcode change would hand the new class keys
    /// to the holder of a planted key.
    let code: [UInt8]

    static let accessibilities = Accessibility.inKeybag.filter {
        !$0.isReadableWithoutPasscode && $0 != .whenPasscodeSetThisDeviceOnly
    }
    static let wrappedSize = ClassKey.size + AESKeyWrap.overhead
    private static let keyCount = accessibilities.count + AccessConstraint.inKeybag.count
    static let keysSize = keyCount * wrappedSize

    init(since: Timestamp, key: EscrowPublicKey, share: [UInt8], wrappedKeys: [UInt8], code: [UInt8]) {
        self.since = since
        self.key = key
        self.share = share
        self.wrappedKeys = wrappedKeys
        self.code = code
    }

    /// Wraps class keys for the holder of `key`.
    ///
    /// - Parameter keys: must include those of `accessibilities`.
    init(
        _ keys: ClassKeys, for key: EscrowPublicKey, since: Timestamp, _ bag: Keybag.Contents, _ deviceKey: DeviceKey,
        _ passcodeKeys: borrowing PasscodeKeys
    ) throws(CryptographyFailure) {
        let ephemeral = try X25519.generatePrivateKey()
        let share = try X25519.publicKey(of: ephemeral)
        let shared = try X25519.sharedSecret(privateKey: ephemeral, publicKey: key.bytes)
        let wrapping = try Self.wrappingKeys(shared, share, key, bag, deviceKey)
        var wrapped: [UInt8] = []
        for (index, accessibility) in Self.accessibilities.enumerated() {
            guard let classKey = keys[accessibility] else { throw .unsupportedParameters("class key for escrow") }
            wrapped += try AESKeyWrap.wrap(classKey.secret, with: Self.part(index, of: wrapping))
        }
        for (index, constraint) in AccessConstraint.inKeybag.enumerated() {
            guard let key = keys.presenceKeys[constraint] else {
                throw .unsupportedParameters("presence key for escrow")
            }
            let place = Self.accessibilities.count + index
            wrapped += try AESKeyWrap.wrap(key.secret, with: Self.part(place, of: wrapping))
        }
        let unsigned = EscrowRecord(since: since, key: key, share: share, wrappedKeys: wrapped, code: [])
        self.init(
            since: since, key: key, share: share, wrappedKeys: wrapped, code: try unsigned.code(passcodeKeys.escrowCode)
        )
    }

    /// Opens the class keys.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if they were not wrapped in this way).
    func unwrap(
        _ escrowKey: EscrowKey, _ bag: Keybag.Contents, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) -> ClassKeys {
        let wrapping = try Self.wrappingKeys(escrowKey.sharedSecret(with: share), share, key, bag, deviceKey)
        var keys = ClassKeys()
        for (index, accessibility) in Self.accessibilities.enumerated() {
            keys[accessibility] = try ClassKey(unwrapped(index, wrapping))
        }
        for (index, constraint) in AccessConstraint.inKeybag.enumerated() {
            keys.add(try PresenceKey(unwrapped(Self.accessibilities.count + index, wrapping)), for: constraint)
        }
        return keys
    }

    private func unwrapped(
        _ index: Int, _ wrapping: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        let wrapped = Array(wrappedKeys[index * Self.wrappedSize..<(index + 1) * Self.wrappedSize])
        return try AESKeyWrap.unwrap(wrapped, with: Self.part(index, of: wrapping))
    }

    /// True if someone who had the passcode made the record; the codes are compared in constant time.
    func hasCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        constantTimeEqual(code, try code(key))
    }

    /// The members before the code, without braces.
    var text: [UInt8] {
        var text: [UInt8] = []
        CanonicalJSON.literal(
            "\"since\":\"\(since)\",\"key\":\"\(Base64.encode(key.bytes))\",\"share\":\"\(Base64.encode(share))\",",
            into: &text)
        CanonicalJSON.literal("\"keys\":\"\(Base64.encode(wrappedKeys))\"", into: &text)
        return text
    }

    private func code(_ key: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key)
        return try hmac.authenticate(text.span)
    }

    /// Derives a key for each class key, which differs for another device, keybag or generation.
    private static func wrappingKeys(
        _ shared: borrowing SecretBytes, _ share: [UInt8], _ key: EscrowPublicKey, _ bag: Keybag.Contents,
        _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) -> SecretBytes {
        try deviceKey.mixIntoEscrowKey(
            sharedSecret: shared, context: share + key.bytes + bag.uuid.bytes + bag.salt,
            count: keyCount * ClassKey.size)
    }

    private static func part(_ index: Int, of keys: borrowing SecretBytes) -> SecretBytes {
        keys.withBytes { SecretBytes($0.extracting(index * ClassKey.size..<(index + 1) * ClassKey.size)) }
    }
}
