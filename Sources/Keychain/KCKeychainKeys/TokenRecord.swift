internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel

/// The presence key `user-presence` of a keychain, wrapped for the holder of a security token on this device
/// (docs/keychain-file.md, "Security tokens").
package struct TokenRecord: Hashable, Sendable {
    package let name: TokenName
    /// When the token was enrolled; unchanged when the record is renewed.
    package let since: Timestamp
    /// The data with which the token is asked for its secret.
    package let handle: TokenHandle
    /// The public half of the key that the secret of the token makes.
    let key: TokenPublicKey
    /// The public half of a key made for this record alone.
    let share: [UInt8]
    /// The presence key.
    let wrapped: [UInt8]
    /// HMAC-SHA-256 of the other members, under a key derived from passcode and device.
    ///
    /// Only someone who knows the passcode can make a record. Otherwise a passcode change would hand the new presence key
    /// to the holder of a planted token.
    let code: [UInt8]

    init(
        name: TokenName, since: Timestamp, handle: TokenHandle, key: TokenPublicKey, share: [UInt8], wrapped: [UInt8],
        code: [UInt8]
    ) {
        self.name = name
        self.since = since
        self.handle = handle
        self.key = key
        self.share = share
        self.wrapped = wrapped
        self.code = code
    }

    /// Wraps the presence key for the holder of `key`.
    ///
    /// - Parameter keys: must include the presence key `user-presence`.
    init(
        _ keys: ClassKeys, name: TokenName, since: Timestamp, handle: TokenHandle, for key: TokenPublicKey,
        _ bag: Keybag.Contents, _ deviceKey: DeviceKey, _ passcodeKeys: borrowing PasscodeKeys
    ) throws(CryptographyFailure) {
        guard let presence = keys.presenceKeys[.userPresence] else {
            throw .unsupportedParameters("presence key for a security token")
        }
        let ephemeral = try X25519.generatePrivateKey()
        let share = try X25519.publicKey(of: ephemeral)
        let shared = try X25519.sharedSecret(privateKey: ephemeral, publicKey: key.bytes)
        let wrapping = try Self.wrappingKey(shared, share, key, bag, deviceKey)
        let wrapped = try AESKeyWrap.wrap(presence.secret, with: wrapping)
        let unsigned = TokenRecord(
            name: name, since: since, handle: handle, key: key, share: share, wrapped: wrapped, code: [])
        self.init(
            name: name, since: since, handle: handle, key: key, share: share, wrapped: wrapped,
            code: try unsigned.code(passcodeKeys.tokenCode))
    }

    /// The record of the same token in another keybag, which takes no touch.
    func renewed(
        for keys: ClassKeys, _ bag: Keybag.Contents, _ deviceKey: DeviceKey, _ passcodeKeys: borrowing PasscodeKeys
    ) throws(CryptographyFailure) -> TokenRecord {
        try TokenRecord(keys, name: name, since: since, handle: handle, for: key, bag, deviceKey, passcodeKeys)
    }

    /// Opens the presence key.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if it was not wrapped in this way).
    func unwrap(
        _ tokenKey: TokenKey, _ bag: Keybag.Contents, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) -> PresenceKey {
        let shared = try X25519.sharedSecret(privateKey: tokenKey.secret, publicKey: share)
        let wrapping = try Self.wrappingKey(shared, share, key, bag, deviceKey)
        return try PresenceKey(AESKeyWrap.unwrap(wrapped, with: wrapping))
    }

    /// True if someone who had the passcode made the record; the codes are compared in constant time.
    func hasCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        constantTimeEqual(code, try code(key))
    }

    /// The members before the code, without braces.
    var text: [UInt8] {
        var text: [UInt8] = []
        CanonicalJSON.literal("\"name\":", into: &text)
        CanonicalJSON.string(name.text, into: &text)
        CanonicalJSON.literal(",\"since\":\"\(since)\",\"credential\":[", into: &text)
        let credential = [handle.credential, handle.publicKey].map { "\"\(Base64.encode($0))\"" }
        CanonicalJSON.literal(credential.joined(separator: ","), into: &text)
        CanonicalJSON.literal("],\"salt\":\"\(Base64.encode(handle.salt))\"", into: &text)
        CanonicalJSON.literal(",\"key\":\"\(Base64.encode(key.bytes))\"", into: &text)
        CanonicalJSON.literal(",\"share\":\"\(Base64.encode(share))\"", into: &text)
        CanonicalJSON.literal(",\"wrapped\":\"\(Base64.encode(wrapped))\"", into: &text)
        return text
    }

    private func code(_ key: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key)
        return try hmac.authenticate(text.span)
    }

    /// Derives the wrapping key, which differs for another device, keybag or generation.
    private static func wrappingKey(
        _ shared: borrowing SecretBytes, _ share: [UInt8], _ key: TokenPublicKey, _ bag: Keybag.Contents,
        _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) -> SecretBytes {
        try deviceKey.mixIntoTokenKey(
            sharedSecret: shared, context: share + key.bytes + bag.uuid.bytes + bag.salt)
    }
}
