package import ByteStreams
package import Cryptography
package import DeviceIdentity
package import KeychainModel

/// What the device alone knows of a keybag.
package struct DeviceKeys: ~Copyable {
    /// Wraps class keys.
    let wrapping: SecretBytes
    /// Keys the codes of the keybag and of the store's name.
    package let code: SecretBytes

    package init(_ deviceKey: DeviceKey, _ keybag: ItemUUID) throws(CryptographyFailure) {
        // Both before either is stored: a value that cannot be copied is not to be left half made.
        let wrapping = try deviceKey.wrappingKey(context: keybag.bytes)
        let code = try deviceKey.keybagMACKey(context: keybag.bytes)
        self.wrapping = wrapping
        self.code = code
    }
}

/// What only somebody with the passcode, on this device, knows of a keybag.
struct PasscodeKeys: ~Copyable {
    /// Wraps class keys.
    let wrapping: SecretBytes
    /// Keys the code that tells a right passcode from a wrong one.
    let code: SecretBytes

    /// Derives them, which takes the work of `cost`.
    init(
        _ passcode: borrowing SecretBytes, salt: [UInt8], cost: ScryptCost, uuid: ItemUUID, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) {
        let stretched = try Scrypt.derive(passphrase: passcode, salt: salt, cost: cost, count: 32)
        let keys = try deviceKey.mixIntoPasscodeKey(scryptOutput: stretched, context: uuid.bytes + salt)
        wrapping = keys.withBytes { SecretBytes($0.extracting(0..<32)) }
        code = keys.withBytes { SecretBytes($0.extracting(32..<64)) }
    }
}
