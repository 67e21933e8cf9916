package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

extension Keybag {
    /// The same keybag with another security token.
    ///
    /// - Parameters:
    ///   - secret: what the token gives for `handle`.
    ///   - since: when the token is enrolled.
    ///   - keys: the keys of this keybag, with the presence keys.
    /// - Throws: `token` (`noPasscode`, `exists`, `full`), `wrongPasscode`, `cryptography`.
    package func withToken(
        _ name: TokenName, _ handle: TokenHandle, secret: borrowing SecretBytes, since: Timestamp, _ keys: ClassKeys,
        _ deviceKey: DeviceKey, passcode: borrowing SecretBytes
    ) throws(KeybagFailure) -> Keybag {
        let cost = try requirePlace(forToken: name)
        do {
            var contents = contents
            let passcodeKeys = try PasscodeKeys(passcode, contents, cost: cost, deviceKey)
            guard try hasPasscodeCode(under: passcodeKeys.code) else { throw KeybagFailure.wrongPasscode }
            let key = try TokenKey(secret, of: handle, for: uuid)
            contents.tokens.append(
                try TokenRecord(
                    keys, name: name, since: since, handle: handle, for: key.publicKey, contents, deviceKey,
                    passcodeKeys))
            return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
        } catch {
            throw Self.failure(error)
        }
    }

    /// Checks that a token of this name can be enrolled.
    ///
    /// - Returns: the cost of the passcode, which enrolling takes.
    /// - Throws: `token` (`noPasscode`, `exists`, `full`).
    @discardableResult
    package func requirePlace(forToken name: TokenName) throws(KeybagFailure) -> ScryptCost {
        guard let cost else { throw .token(.noPasscode) }
        if tokens.contains(where: { $0.name.text.exact == name.text.exact }) { throw .token(.exists(name)) }
        if tokens.count >= Self.tokenLimit { throw .token(.full) }
        return cost
    }

    /// The same keybag without a security token, which needs only the device key.
    ///
    /// - Throws: `token` (`none`), `cryptography`.
    package func withoutToken(_ name: TokenName, _ deviceKey: DeviceKey) throws(KeybagFailure) -> Keybag {
        var contents = contents
        contents.tokens.removeAll { $0.name.text.exact == name.text.exact }
        if contents.tokens.count == tokens.count { throw .token(.none(name)) }
        return try failing(
            as: KeybagFailure.cryptography,
            Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid)))
    }

    /// The keys that a security token opens, to be used in addition to those of the session: `user-presence`, and never
    /// `device-passcode`.
    ///
    /// - Parameter secret: what the token gives for the handle of its record.
    /// - Throws: `token` (`none`, `otherSecret`, `forged`), `cryptography`.
    package func presenceKeys(
        ofToken name: TokenName, secret: borrowing SecretBytes, _ deviceKey: DeviceKey
    ) throws(KeybagFailure) -> ClassKeys {
        guard let token = tokens.first(where: { $0.name.text.exact == name.text.exact }) else {
            throw .token(.none(name))
        }
        let tokenKey = try failing(as: KeybagFailure.cryptography, TokenKey(secret, of: token.handle, for: uuid))
        guard tokenKey.publicKey == token.key else { throw .token(.otherSecret(name)) }
        do throws(CryptographyFailure) {
            let key = try token.unwrap(tokenKey, contents, deviceKey)
            guard key.publicKey == presence[.userPresence]?.publicKey else { throw .authentication }
            var keys = ClassKeys()
            keys.add(key, for: .userPresence)
            return keys
        } catch {
            throw error == .authentication ? .token(.forged(name)) : .cryptography(error)
        }
    }
}
