internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainKeys
package import KCKeychainModel

/// An open keychain file: items in a SQLite database, their secrets sealed under class keys.
///
/// Attributes are always readable; reading secrets and changing items needs the class key of their accessibility. Every
/// change is one transaction. The object is not thread-safe; other processes and objects may use the same file.
package final class Keychain {
    /// The path of the file.
    package let path: String
    /// Identifies this file (16 random bytes); a keychain restored elsewhere has a different one.
    package let storeID: [UInt8]
    /// When the file was created.
    package let created: Timestamp
    /// The class keys in their stored form.
    package private(set) var keybag: Keybag

    let location: KeychainPath
    private let identity: KeychainPath.Identity?
    let connection: Connection
    /// The key of the device to which the keychain belongs.
    package let deviceKey: DeviceKey
    let lockWait: Duration
    /// The lowest scrypt cost that is accepted; nil for the lower end of `Keybag.costRange`.
    package let minimumCost: ScryptCost?
    var classKeys: ClassKeys
    /// The database of a batch in progress; transactions within are part of the batch.
    var batch: Database?
    /// The function that `write` calls before it commits the present transaction.
    var lastStep: ((KeychainReader) throws -> Void)?
    /// Within `asOneTry`: whether a wrong passcode has been counted for it.
    var isTryCounted: Bool?

    /// The scrypt cost of one passcode attempt: 0.4 s and 128 MiB (OWASP's recommendation for scrypt, 2023).
    package static let defaultCost = ScryptCost(logN: 17)
    /// How long to wait for the lock of another process by default.
    package static let defaultLockWait = Duration.seconds(10)

    /// Opens an existing keychain.
    ///
    /// `dk` and `dku` items are readable at once; all items are if there is no passcode.
    ///
    /// - Parameters:
    ///   - lockWait: how long to wait for another process, now and in every later change.
    ///   - minimumCost: overrides the lower end of `Keybag.costRange`; for tests.
    package static func open(
        at path: String, deviceKey: DeviceKey, lockWait: Duration = defaultLockWait, minimumCost: ScryptCost? = nil
    ) throws(KeychainStoreError) -> Keychain {
        try Keychain(KeychainPath(path), path, deviceKey, lockWait, minimumCost)
    }

    /// Opens a file that has been checked or just created.
    init(
        _ location: KeychainPath, _ path: String, _ deviceKey: DeviceKey, _ lockWait: Duration,
        _ minimumCost: ScryptCost?
    ) throws(KeychainStoreError) {
        try location.examine()
        identity = try location.identity()
        let connection = try Connection(location, lockWait: lockWait)
        let record = try connection.read { database throws(KeychainStoreError) in try StoreRecord(database) }
        try record.authenticate(deviceKey)
        classKeys = try withKeys(record.keybag.deviceOnlyKeys(deviceKey))
        keybag = record.keybag
        storeID = record.storeID
        created = record.created
        self.path = path
        self.location = location
        self.connection = connection
        self.deviceKey = deviceKey
        self.lockWait = lockWait
        self.minimumCost = minimumCost
    }

    /// True while this path leads to the file that was opened; false once the file has been deleted or replaced.
    ///
    /// - Throws: `file`.
    package var isInPlace: Bool {
        get throws(KeychainStoreError) {
            let found = try location.identity()
            return found != nil && found == identity
        }
    }

    /// True if the class keys of all items are available.
    package var isUnlocked: Bool { classKeys[.whenUnlocked] != nil }

    /// True if a passcode was set.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// The key that opens secrets of a protection.
    ///
    /// - Throws: `locked`, `presenceNeeded`, `passcodeNotSet` if the keychain could not have such items.
    func openingKey(_ protection: Protection) throws(KeychainStoreError) -> OpeningKey {
        if let key = classKeys.openingKey(protection) { return key }
        throw missingKey(protection)
    }

    /// The key that seals secrets of a protection.
    ///
    /// - Throws: `locked`, `passcodeNotSet` if the keychain cannot have such items.
    func sealingKey(_ protection: Protection) throws(KeychainStoreError) -> SealingKey {
        if let key = classKeys.sealingKey(protection) { return key }
        throw missingKey(protection)
    }

    private func missingKey(_ protection: Protection) -> KeychainStoreError {
        let needsPasscode = protection.accessibility == .whenPasscodeSetThisDeviceOnly || protection.constraint != nil
        if needsPasscode, !keybag.hasPasscode { return .passcodeNotSet }
        guard classKeys[protection.accessibility] != nil, let constraint = protection.constraint else {
            return .locked(protection.accessibility)
        }
        return .presenceNeeded(constraint)
    }

    /// Begins a transaction on one consistent state of the file, with class keys that belong to that state.
    func beginReadTransaction() throws(KeychainStoreError) -> Transaction {
        let transaction = try connection.beginReading()
        try refreshKeybag(transaction.database)
        return transaction
    }

    /// Begins a transaction as the only process that changes the file, with class keys that belong to its state.
    func beginWriteTransaction() throws(KeychainStoreError) -> Transaction {
        let transaction = try connection.beginWriting(ChangeLock(for: location, waitingAtMost: lockWait))
        try refreshKeybag(transaction.database)
        return transaction
    }

    /// Runs `body` in a transaction of `beginReadTransaction`.
    func withReadTransaction<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        if let batch { return try body(batch) }
        let transaction = try beginReadTransaction()
        let result = try body(transaction.database)
        try transaction.commit()
        return result
    }

    /// Runs `body` in a write transaction.
    func change<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        if let batch { return try body(batch) }
        let transaction = try beginWriteTransaction()
        let result = try body(transaction.database)
        try transaction.commit()
        return result
    }

    /// Waits for the end of a change that another process is making, so that its state and its result are seen together.
    package func awaitChange() throws(KeychainStoreError) { try location.awaitChange(atMost: lockWait) }

    /// Runs `body` while no other process can change, unlock or delete the keychain; the file is not changed.
    ///
    /// - Throws: what `body` throws, `notFound` if another process has deleted it, `busy`, `file`, `damaged`, `sqlite`.
    package func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        let transaction = try beginWriteTransaction()
        try transaction.database.requireInPlace()
        let result = try body()
        transaction.rollBack()
        return result
    }

    /// Notices a passcode or lock settings that another process has set or removed.
    ///
    /// A passcode change creates new class keys, and nothing may be sealed under the old ones: all keys that the device
    /// key alone cannot open are dropped. Lock settings do not affect keys.
    func refreshKeybag(_ database: Database) throws(KeychainStoreError) {
        if try StoreRecord.holds(keybag, in: database) { return }
        let record = try StoreRecord(database)
        try record.authenticate(deviceKey)
        guard record.keybag.uuid == keybag.uuid, record.storeID == storeID else {
            throw .damaged("the keybag is another one than before")
        }
        // The device's keys are opened again, which also authenticates the keybag.
        let opened = try withKeys(record.keybag.deviceOnlyKeys(deviceKey))
        if !record.keybag.hasKeys(of: keybag) { classKeys = ClassKeys() }
        classKeys.merge(opened)
        keybag = record.keybag
    }

    /// Adopts a keybag and keys that have just been committed.
    func adopt(_ keybag: Keybag, _ keys: ClassKeys) {
        self.keybag = keybag
        classKeys = keys
    }
}
