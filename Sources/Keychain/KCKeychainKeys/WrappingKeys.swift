package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The keys of a keybag that only the device can derive.
package struct DeviceKeys: ~Copyable {
    /// The key that wraps class keys.
    let wrapping: SecretBytes
    /// The MAC key of the keybag and of the store ID.
    package let code: SecretBytes

    package init(_ deviceKey: DeviceKey, _ keybag: ItemUUID) throws(CryptographyFailure) {
        // Both are derived before either is stored: a noncopyable value must not be left half-initialized.
        let wrapping = try deviceKey.wrappingKey(context: keybag.bytes)
        let code = try deviceKey.keybagMACKey(context: keybag.bytes)
        self.wrapping = wrapping
        self.code = code
    }
}

/// The keys of a keybag that only device and passcode together can derive.
struct PasscodeKeys: ~Copyable {
    /// The key that wraps class keys.
    let wrapping: SecretBytes
    /// The MAC key that verifies a passcode.
    let code: SecretBytes
    /// The MAC key of an escrow record.
    let escrowCode: SecretBytes

    /// Derives the keys at the scrypt cost `cost`.
    init(
        _ passcode: borrowing SecretBytes, salt: [UInt8], cost: ScryptCost, uuid: ItemUUID, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) {
        let stretched = try Scrypt.derive(passphrase: passcode, salt: salt, cost: cost, count: 32)
        let keys = try deviceKey.mixIntoPasscodeKey(scryptOutput: stretched, context: uuid.bytes + salt)
        wrapping = keys.withBytes { SecretBytes($0.extracting(0..<32)) }
        code = keys.withBytes { SecretBytes($0.extracting(32..<64)) }
        escrowCode = keys.withBytes { SecretBytes($0.extracting(64..<96)) }
    }
}
