internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainKeys
package import KCKeychainModel

/// Facts about a keychain that need no secret.
package struct KeychainInformation: Hashable, Sendable {
    /// Identifies the file (16 bytes).
    package let storeID: [UInt8]
    /// When the file was created.
    package let created: Timestamp
    /// The device whose key opens it.
    package let device: DeviceID
    /// The number of passcode changes, from 1.
    package let generation: Int
    /// The scrypt cost of one passcode attempt; nil without a passcode.
    package let cost: ScryptCost?
    /// Who counts wrong passcodes; nil without a passcode.
    package let counter: PasscodeCounter?
    /// When the keychain locks automatically.
    package let lockSettings: LockSettings
    /// The class keys for the holder of an escrow key; nil if escrow is not enabled.
    package let escrow: EscrowRecord?
    /// The security tokens that open items with `user-presence`.
    package let tokens: [TokenRecord]
    /// Live items by class.
    package let itemCounts: [ItemClass: Int]
    /// The number of tombstones of synchronizable items.
    package let tombstoneCount: Int
}

extension Keychain {
    /// Collects the facts and counts the rows.
    package func information() throws(KeychainStoreError) -> KeychainInformation {
        try withReadTransaction { database throws(KeychainStoreError) in
            let tables = ItemTables(database)
            var counts: [ItemClass: Int] = [:]
            var tombstones = 0
            for itemClass in ItemClass.allCases {
                let table = itemClass.rawValue
                counts[itemClass] = Int(try tables.number("SELECT count(*) FROM \(table) WHERE \(ItemRow.isLive)"))
                tombstones += Int(try tables.number("SELECT count(*) FROM \(table) WHERE \(ItemRow.isTombstone)"))
            }
            return KeychainInformation(
                storeID: storeID, created: created, device: keybag.device, generation: keybag.generation,
                cost: keybag.cost, counter: keybag.hasPasscode ? keybag.counter : nil,
                lockSettings: keybag.lockSettings, escrow: keybag.escrow, tokens: keybag.tokens,
                itemCounts: counts, tombstoneCount: tombstones)
        }
    }

    /// Reads every page of the file and compares tables with their indexes; items are not opened.
    package func checkIntegrity() throws(KeychainStoreError) {
        try connection.read { database throws(KeychainStoreError) in try Self.checkIntegrity(database) }
    }

    static func checkIntegrity(_ database: Database) throws(KeychainStoreError) {
        let statement = try SQLStatement("PRAGMA integrity_check(1)", on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        let answer = statement.withBytes(0) { bytes in bytes.indices.map { bytes[$0] } }
        // SQLite's messages may quote the file. A page that the device does not read is one of them.
        guard answer == Array("ok".utf8) else { throw database.damage() }
    }
}
