package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

extension Keybag {
    /// The same keybag with an escrow record.
    ///
    /// - Parameters:
    ///   - keys: the class keys of this keybag.
    ///   - since: when escrow is enabled.
    /// - Throws: `escrow` (`noPasscode`, `exists`), `wrongPasscode`, `cryptography`.
    package func withEscrow(
        for key: EscrowPublicKey, since: Timestamp, _ keys: ClassKeys, _ deviceKey: DeviceKey,
        passcode: borrowing SecretBytes
    ) throws(KeybagFailure) -> Keybag {
        guard let cost else { throw .escrow(.noPasscode) }
        if escrow != nil { throw .escrow(.exists) }
        do {
            var contents = contents
            let passcodeKeys = try PasscodeKeys(passcode, contents, cost: cost, deviceKey)
            guard try hasPasscodeCode(under: passcodeKeys.code) else { throw KeybagFailure.wrongPasscode }
            contents.escrow = try EscrowRecord(keys, for: key, since: since, contents, deviceKey, passcodeKeys)
            return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
        } catch {
            throw Self.failure(error)
        }
    }

    /// The same keybag without an escrow record, which needs only the device key.
    package func withoutEscrow(_ deviceKey: DeviceKey) throws(CryptographyFailure) -> Keybag {
        if escrow == nil { return self }
        var contents = contents
        contents.escrow = nil
        return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
    }

    /// The class keys that the escrow record holds, to be used in addition to those that the device opens.
    ///
    /// - Throws: `escrow` (`none`, `otherKey`, `forged`), `cryptography`.
    package func escrowedKeys(_ keys: EscrowKeys, _ deviceKey: DeviceKey) throws(KeybagFailure) -> ClassKeys {
        guard let escrow else { throw .escrow(.none) }
        guard let key = keys.key(escrow.key) else { throw .escrow(.otherKey) }
        do throws(CryptographyFailure) {
            return try escrow.unwrap(key, contents, deviceKey)
        } catch {
            throw error == .authentication ? .escrow(.forged) : .cryptography(error)
        }
    }
}
