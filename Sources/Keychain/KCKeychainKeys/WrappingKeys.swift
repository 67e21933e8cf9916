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
    /// The MAC key of token records.
    let tokenCode: SecretBytes

    /// Derives the keys of a keybag at the scrypt cost `cost`.
    ///
    /// - Throws: `CryptographyFailure` (`library`, `chip` if a chip has a share of the keys).
    init(
        _ passcode: borrowing SecretBytes, _ bag: Keybag.Contents, cost: ScryptCost, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) {
        try self.init(StretchedPasscode(passcode, bag, cost: cost), guarded: bag.guarded, deviceKey)
    }

    /// Derives the keys from a passcode that is stretched already.
    init(
        _ passcode: borrowing StretchedPasscode, guarded: GuardedSecret?, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) {
        let keys = try deviceKey.mixIntoPasscodeKey(
            scryptOutput: passcode.output, context: passcode.context, guarded: guarded)
        wrapping = keys.withBytes { SecretBytes($0.extracting(0..<32)) }
        code = keys.withBytes { SecretBytes($0.extracting(32..<64)) }
        escrowCode = keys.withBytes { SecretBytes($0.extracting(64..<96)) }
        tokenCode = keys.withBytes { SecretBytes($0.extracting(96..<128)) }
    }
}

/// The output of scrypt for the passcode of a keybag.
struct StretchedPasscode: ~Copyable {
    let output: SecretBytes
    fileprivate let context: [UInt8]

    /// - Parameter memory: what may have the output already.
    init(
        _ passcode: borrowing SecretBytes, _ bag: Keybag.Contents, cost: ScryptCost,
        remembering memory: PasscodeMemory? = nil
    ) throws(CryptographyFailure) {
        if let known = memory?.entry(for: passcode, salt: bag.salt, cost) {
            output = known.output.copy()
        } else {
            output = try Scrypt.derive(passphrase: passcode, salt: bag.salt, cost: cost, count: 32)
        }
        context = bag.uuid.bytes + bag.salt
    }

    /// Makes a share of the passcode's keys that only the chip gives.
    func guardedShare(_ deviceKey: DeviceKey) throws(CryptographyFailure) -> GuardedSecret {
        try deviceKey.guardedShare(scryptOutput: output, context: context)
    }
}
