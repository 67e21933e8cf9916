package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainKeys
package import KCKeychainModel

extension Keychain {
    /// Creates a new keychain, unlocked, in an existing folder.
    ///
    /// The file gets its name once it is complete and durable.
    ///
    /// - Parameters:
    ///   - passcode: at least one byte; nil creates a keychain that the device key alone opens.
    ///   - cost: the scrypt cost of one passcode attempt; `open` accepts only `Keybag.costRange`.
    package static func create(
        at path: String, deviceKey: DeviceKey, passcode: borrowing SecretBytes?, cost: ScryptCost? = defaultCost,
        now: Timestamp, lockWait: Duration = defaultLockWait
    ) throws(KeychainStoreError) -> Keychain {
        let keys = try publish(at: path, deviceKey, passcode, .file, cost, now)
        let keychain = try Keychain(KeychainPath(path), path, deviceKey, lockWait, cost ?? defaultCost)
        keychain.classKeys = keys
        return keychain
    }

    /// Creates a new keychain without opening it: once the file has its name, nothing can fail.
    ///
    /// - Parameter counter: who counts wrong passcodes, if there is a passcode.
    /// - Throws: as `create(at:deviceKey:passcode:cost:now:lockWait:)`; there is then no keychain.
    package static func make(
        at path: String, deviceKey: DeviceKey, passcode: borrowing SecretBytes?, countedBy counter: PasscodeCounter,
        cost: ScryptCost? = defaultCost, now: Timestamp
    ) throws(KeychainStoreError) {
        _ = try publish(at: path, deviceKey, passcode, counter, cost, now)
    }

    private static func publish(
        at path: String, _ deviceKey: DeviceKey, _ passcode: borrowing SecretBytes?, _ counter: PasscodeCounter,
        _ cost: ScryptCost?, _ now: Timestamp
    ) throws(KeychainStoreError) -> ClassKeys {
        let hasPasscode = try checked(passcode)
        guard let cost = cost ?? defaultCost else { throw .limit("work factor", found: 0, allowed: 20) }
        let location = try free(path)
        let keys = try sealing(ClassKeys(generatingWithPasscode: hasPasscode))
        let keybag = try sealing(
            Keybag.wrapping(
                keys, uuid: ItemUUID(), generation: 1, deviceKey: deviceKey, passcode: passcode, cost: cost,
                counter: counter))
        try write(location, path, keybag, deviceKey, now)
        return keys
    }

    /// Creates a new, empty keychain with the class keys of an earlier one of this device, which had the same passcode.
    ///
    /// - Throws: `exists`, `otherDevice`, `damaged` if the keybag is not authentic, `cryptography` (`chip`, `countedElsewhere`)
    ///   if a chip that is not here counts its passcode, and as the other `create`.
    package static func create(
        at path: String, adopting keybag: Keybag, deviceKey: DeviceKey, now: Timestamp,
        lockWait: Duration = defaultLockWait, minimumCost: ScryptCost? = nil
    ) throws(KeychainStoreError) -> Keychain {
        let location = try free(path)
        try withKeys(keybag.requireArchivable())
        _ = try withKeys(keybag.deviceOnlyKeys(deviceKey))
        // No passcode would open it, and an archive has no escrow record.
        if try sealing(keybag.isCountedElsewhere(deviceKey)) { throw .cryptography(.chip(.countedElsewhere)) }
        try write(location, path, keybag, deviceKey, now)
        return try Keychain(location, path, deviceKey, lockWait, minimumCost)
    }

    /// Checks that a new keychain can be created at this path.
    ///
    /// Neither the file nor any file that SQLite would use with it may exist: the journal of a previous keychain would
    /// be rolled back into the new one.
    ///
    /// - Throws: `exists`, `file` (`exists`) for a file next to it.
    package static func requireFree(at path: String) throws(KeychainStoreError) {
        _ = try free(path)
    }

    private static func free(_ path: String) throws(KeychainStoreError) -> KeychainPath {
        let location = KeychainPath(path)
        if try location.identity() != nil { throw .exists(path) }
        try location.requireNothingBeside()
        return location
    }

    /// Returns whether a passcode is given.
    static func checked(_ passcode: borrowing SecretBytes?) throws(KeychainStoreError) -> Bool {
        switch passcode {
        case .none: return false
        case .some(let passcode):
            if passcode.isEmpty { throw .passcodeEmpty }
            return true
        }
    }

    private static func write(
        _ location: KeychainPath, _ path: String, _ keybag: Keybag, _ deviceKey: DeviceKey, _ now: Timestamp
    ) throws(KeychainStoreError) {
        let record = try sealing(
            StoreRecord(
                storeID: RandomBytes.bytes(count: StoreRecord.storeIDSize), created: now, keybag: keybag,
                deviceKey: deviceKey))
        let bytes = try Connection.newFile { database throws(KeychainStoreError) in
            try Schema.create(in: database)
            try record.insert(into: database)
        }
        do {
            try PrivateFile.create(location.path, bytes)
        } catch {
            throw error.problem == .exists ? .exists(path) : .file(error)
        }
    }
}
