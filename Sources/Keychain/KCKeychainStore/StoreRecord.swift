internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel

/// The single rows of a keychain file: its ID, its keybag, the count of wrong passcodes.
struct StoreRecord {
    let storeID: [UInt8]
    let created: Timestamp
    let keybag: Keybag
    private let code: [UInt8]

    static let storeIDSize = 16

    /// Creates the record of a new file.
    init(storeID: [UInt8], created: Timestamp, keybag: Keybag, deviceKey: DeviceKey) throws(CryptographyFailure) {
        self.storeID = storeID
        self.created = created
        self.keybag = keybag
        var hmac = try HMAC(key: DeviceKeys(deviceKey, keybag.uuid).code)
        code = try hmac.authenticate(Self.message(storeID, created, keybag).span)
    }

    /// Reads the rows.
    ///
    /// - Throws: `damaged`, `newerFormat`, or an error of SQLite.
    init(_ database: Database) throws(KeychainStoreError) {
        let row = try SQLStatement("SELECT store, created, mac FROM keychain WHERE id = 1", on: database)
        guard try row.step(), let created = Timestamp(microseconds: row.integer(1)) else {
            throw .damaged("the file does not say which keychain it is")
        }
        let bag = try SQLStatement("SELECT bag FROM keybag WHERE id = 1", on: database)
        guard try bag.step() else { throw .damaged("the keybag is missing") }
        storeID = row.withBytes(0) { bytes in bytes.indices.map { bytes[$0] } }
        self.created = created
        code = row.withBytes(2) { bytes in bytes.indices.map { bytes[$0] } }
        keybag = try bag.withBytes(0) { bytes throws(KeychainStoreError) in
            try withKeys(Keybag(text: bytes))
        }
        guard storeID.count == Self.storeIDSize else { throw .damaged("the store ID has the wrong length") }
    }

    /// True if the keybag in the file is identical to this one.
    static func holds(_ keybag: Keybag, in database: Database) throws(KeychainStoreError) -> Bool {
        let bag = try SQLStatement("SELECT bag FROM keybag WHERE id = 1", on: database)
        guard try bag.step() else { throw .damaged("the keybag is missing") }
        let text = keybag.text
        return bag.withBytes(0) { $0.isEqual(to: text.span) }
    }

    /// Checks that this device wrote the rows; the keybag authenticates itself.
    func authenticate(_ deviceKey: DeviceKey) throws(KeychainStoreError) {
        guard keybag.device == deviceKey.id else { throw .otherDevice(keybag.device) }
        var hmac = try sealing(HMAC(key: DeviceKeys(deviceKey, keybag.uuid).code))
        let message = Self.message(storeID, created, keybag)
        guard try sealing(hmac.isValid(code, of: message.span)) else {
            throw .damaged("the name of the keychain is not as this device wrote it")
        }
    }

    /// Writes the rows of a new file.
    func insert(into database: Database) throws(KeychainStoreError) {
        let row = try SQLStatement("INSERT INTO keychain(id, store, created, mac) VALUES(1, ?, ?, ?)", on: database)
        try row.bind(storeID.span, 1)
        try row.bind(created.microseconds, 2)
        try row.bind(code.span, 3)
        try row.run()
        let bag = try SQLStatement("INSERT INTO keybag(id, bag) VALUES(1, ?)", on: database)
        try bag.bindText(keybag.text.span, 1)
        try bag.run()
        try SQLStatement("INSERT INTO attempts(id, failed, last) VALUES(1, 0, 0)", on: database).run()
    }

    /// Replaces the keybag in the file.
    static func replace(with keybag: Keybag, in database: Database) throws(KeychainStoreError) {
        let bag = try SQLStatement("UPDATE keybag SET bag=? WHERE id = 1", on: database)
        try bag.bindText(keybag.text.span, 1)
        try bag.run()
    }

    /// Replaces the keybag by that of another device, whose code then authenticates the record.
    func replace(with keybag: Keybag, of deviceKey: DeviceKey, in database: Database) throws(KeychainStoreError) {
        let record = try sealing(
            StoreRecord(storeID: storeID, created: created, keybag: keybag, deviceKey: deviceKey))
        let row = try SQLStatement("UPDATE keychain SET mac=? WHERE id = 1", on: database)
        try row.bind(record.code.span, 1)
        try row.run()
        try Self.replace(with: keybag, in: database)
    }

    // No keybag begins like this, so the MAC of one can never pass for the MAC of the other.
    private static func message(_ storeID: [UInt8], _ created: Timestamp, _ keybag: Keybag) -> [UInt8] {
        Array("kcbackup/v1/store \(keybag.uuid) \(created) ".utf8) + storeID
    }
}
