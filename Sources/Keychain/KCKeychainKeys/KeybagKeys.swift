package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// Opens the class keys of a keybag: with the device key alone, or together with the passcode.
extension Keybag {
    /// Wraps class keys in a new keybag.
    ///
    /// - Parameters:
    ///   - retired: the class keys of earlier generations, newest first.
    ///   - escrow: an escrow record to be renewed for `keys`; it is dropped if there is no passcode.
    ///   - tokens: token records, which are renewed or dropped likewise.
    ///   - files: the keys of files, wrapped under `keys`.
    ///   - counter: who counts wrong passcodes, if there is a passcode.
    package static func wrapping(
        _ keys: ClassKeys, retired: [ClassKeys] = [], uuid: ItemUUID, generation: Int, deviceKey: DeviceKey,
        passcode: borrowing SecretBytes?, cost: ScryptCost, lockSettings: LockSettings = .default,
        escrow: EscrowRecord? = nil, tokens: [TokenRecord] = [], files: WrappedFileKeys = WrappedFileKeys(),
        counter: PasscodeCounter = .file
    ) throws(CryptographyFailure) -> Keybag {
        var contents = Contents(
            uuid: uuid, device: deviceKey.id, generation: generation, salt: try RandomBytes.bytes(count: saltSize),
            wrappedKeys: [:], cost: nil, lockSettings: lockSettings, files: files)
        let deviceKeys = try DeviceKeys(deviceKey, uuid)
        var passcodeKeys: PasscodeKeys?
        switch passcode {
        case .none: break
        case .some(let passcode):
            contents.cost = cost
            let stretched = try StretchedPasscode(passcode, contents, cost: cost)
            if counter == .chip { contents.guarded = try stretched.guardedShare(deviceKey) }
            // This opens the share too, before anything relies on it.
            passcodeKeys = try PasscodeKeys(stretched, guarded: contents.guarded, deviceKey)
        }
        for accessibility in Accessibility.allCases {
            guard let key = keys[accessibility] else { continue }
            switch passcodeKeys {
            case .some(let passcodeKeys) where !accessibility.isReadableWithoutPasscode:
                contents.wrappedKeys[accessibility] = try AESKeyWrap.wrap(key.secret, with: passcodeKeys.wrapping)
            default:
                contents.wrappedKeys[accessibility] = try AESKeyWrap.wrap(key.secret, with: deviceKeys.wrapping)
            }
        }
        switch passcodeKeys {
        case .some(let passcodeKeys):
            for (constraint, key) in keys.presenceKeys {
                contents.presence[constraint] = try WrappedPresenceKey(key, with: passcodeKeys.wrapping)
            }
        case .none: break
        }
        for set in retired { contents.retired.append(try RetiredKeys.wrap(set, under: keys)) }
        switch passcodeKeys {
        case .some(let passcodeKeys):
            contents.escrow = try escrow.map { old throws(CryptographyFailure) in
                try EscrowRecord(keys, for: old.key, since: old.since, contents, deviceKey, passcodeKeys)
            }
            for old in tokens {
                contents.tokens.append(try old.renewed(for: keys, contents, deviceKey, passcodeKeys))
            }
        case .none: break
        }
        return try Keybag(contents, passcodeKeys, deviceKeys)
    }

    /// The same keybag with different lock settings, which needs only the device key.
    package func with(_ settings: LockSettings, _ deviceKey: DeviceKey) throws(CryptographyFailure) -> Keybag {
        var contents = contents
        contents.lockSettings = settings
        return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
    }

    /// The class keys that the device alone opens, after verifying that this device wrote the keybag.
    package func deviceOnlyKeys(_ deviceKey: DeviceKey) throws(KeybagFailure) -> ClassKeys {
        guard device == deviceKey.id else { throw .otherDevice(device) }
        do {
            let deviceKeys = try DeviceKeys(deviceKey, uuid)
            guard try hasDeviceCode(under: deviceKeys.code) else { throw KeybagFailure.damaged(Self.forged) }
            var keys = try unwrap(deviceKeys.wrapping) { !hasPasscode || $0.isReadableWithoutPasscode }
            keys.presencePublicKeys = presence.mapValues(\.publicKey)
            return keys
        } catch {
            throw Self.failure(error)
        }
    }

    /// The class keys that need the passcode, which is verified only after the full key derivation, or by the chip that
    /// counts it.
    ///
    /// - Parameter memory: spares the derivation if it has the passcode, and gets it if it is right.
    /// - Throws: `wrongPasscode`, `damaged` (before any work if the cost is out of range), `cryptography`, `escrow`
    ///   and `token` (`forged`).
    package func passcodeKeys(
        _ passcode: borrowing SecretBytes, _ deviceKey: DeviceKey, minimumCost: ScryptCost?,
        remembering memory: PasscodeMemory? = nil
    ) throws(KeybagFailure) -> ClassKeys {
        guard let cost else { return try deviceOnlyKeys(deviceKey) }
        let lowest = minimumCost?.logN ?? Self.costRange.lowerBound
        guard cost.logN >= lowest, cost.logN <= Self.costRange.upperBound else {
            throw .damaged("the work factor of the keybag is out of range")
        }
        do {
            let stretched = try StretchedPasscode(passcode, contents, cost: cost, remembering: memory)
            let keys = try PasscodeKeys(stretched, guarded: guarded, deviceKey)
            guard try hasPasscodeCode(under: keys.code) else { throw KeybagFailure.wrongPasscode }
            if let memory { memory.keep(stretched.output, of: passcode, salt: salt, cost) }
            // Checked before a passcode change could renew a record for someone who planted it.
            if let escrow, try !escrow.hasCode(under: keys.escrowCode) { throw KeybagFailure.escrow(.forged) }
            for token in tokens where try !token.hasCode(under: keys.tokenCode) {
                throw KeybagFailure.token(.forged(token.name))
            }
            var opened = try unwrap(keys.wrapping) { !$0.isReadableWithoutPasscode }
            for (constraint, key) in presence { opened.add(try key.unwrap(keys.wrapping), for: constraint) }
            return opened
        } catch {
            throw Self.failure(error)
        }
    }

    private func unwrap(
        _ wrappingKey: borrowing SecretBytes, where condition: (Accessibility) -> Bool
    ) throws(CryptographyFailure) -> ClassKeys {
        var keys = ClassKeys()
        for accessibility in Accessibility.allCases where condition(accessibility) {
            guard let wrapped = wrappedKeys[accessibility] else { continue }
            keys[accessibility] = try ClassKey(AESKeyWrap.unwrap(wrapped, with: wrappingKey))
        }
        return keys
    }

    private static let forged = "the keybag is not as this device wrote it"

    static func failure(_ error: any Error) -> KeybagFailure {
        switch error {
        case let error as KeybagFailure: error
        case CryptographyFailure.authentication: .damaged(forged)
        case CryptographyFailure.chip(.wrongPassword): .wrongPasscode
        case let error as CryptographyFailure: .cryptography(error)
        default: .damaged(forged)
        }
    }
}
