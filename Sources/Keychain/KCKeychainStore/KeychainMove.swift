package import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainKeys
package import KCKeychainModel

extension Keychain {
    /// Wraps the class keys under the key of another device, which is then the only one that opens the file.
    ///
    /// Class keys, items and passcode stay as they are; escrow and token records, and the share of a chip that counts
    /// the passcode, are renewed. The move is one transaction: if the process is killed, one of the two device keys
    /// opens the keychain. This object must not be used afterwards.
    ///
    /// - Parameter passcode: the present passcode; nil if there is none.
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, `locked`, `busy`, `diskFull`, `sqlite`, `escrow` and `token`
    ///   (`forged`).
    package func move(
        to key: DeviceKey, passcode: borrowing SecretBytes?, now: Timestamp
    ) throws(KeychainStoreError) {
        try unlock(passcode: passcode, now: now)
        let before = keybag
        guard let cost = before.cost ?? Self.defaultCost else {
            throw .limit("work factor", found: 0, allowed: Keybag.costRange.upperBound)
        }
        let retired = try withKeys(before.retiredKeys(under: classKeys))
        let after: Keybag
        if before.hasPasscode {
            after = try sealing(
                Keybag.wrapping(
                    classKeys, retired: retired, uuid: before.uuid, generation: before.generation + 1, deviceKey: key,
                    passcode: passcode, cost: cost, lockSettings: before.lockSettings, escrow: before.escrow,
                    tokens: before.tokens, files: before.sameFileKeys, counter: before.counter))
        } else {
            after = try sealing(
                Keybag.wrapping(
                    classKeys, retired: retired, uuid: before.uuid, generation: before.generation + 1, deviceKey: key,
                    passcode: nil, cost: cost, lockSettings: before.lockSettings, files: before.sameFileKeys))
        }
        try change { database throws(KeychainStoreError) in
            // Another process changed the passcode first.
            guard keybag == before else { throw .busy }
            try StoreRecord(database).replace(with: after, of: key, in: database)
        }
    }
}
