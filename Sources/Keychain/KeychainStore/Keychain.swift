internal import ByteStreams
package import Cryptography
package import DeviceIdentity
package import KeychainKeys
package import KeychainModel

/// A keychain file that is open: items in a SQLite database, their secrets sealed under class keys.
///
/// Attributes are readable at any time; secrets, and changes of items, take the class key of their accessibility. Every
/// change is one transaction. The object belongs to one thread; other processes and objects may use the same file.
package final class Keychain {
    /// Where the file is.
    package let path: String
    /// Names this file (16 random bytes); a keychain restored elsewhere has another.
    package let storeID: [UInt8]
    /// When the file was made.
    package let created: Timestamp
    /// The class keys as they are stored.
    package private(set) var keybag: Keybag

    let location: KeychainPath
    private let identity: KeychainPath.Identity?
    let connection: Connection
    let deviceKey: DeviceKey
    let lockWait: Duration
    let minimumCost: ScryptCost?
    var classKeys: ClassKeys

    /// The work that one try of a passcode takes: 0.4 s and 128 MiB (OWASP's recommendation for scrypt, 2023).
    package static let defaultCost = ScryptCost(logN: 17)
    /// How long to wait for another process that holds the lock, if the caller does not say.
    package static let defaultLockWait = Duration.seconds(10)

    /// Opens an existing keychain; `dk` and `dku` items are readable at once, and all are if there is no passcode.
    ///
    /// - Parameters:
    ///   - lockWait: how long to wait for another process, here and in every later change.
    ///   - minimumCost: the lowest scrypt cost believed, when not the lower end of `Keybag.costRange`; for tests.
    /// - Throws: `notFound`, `file`, `notAKeychain`, `newerFormat`, `damaged`, `otherDevice`, `busy`, `sqlite`.
    package static func open(
        at path: String, deviceKey: DeviceKey, lockWait: Duration = defaultLockWait, minimumCost: ScryptCost? = nil
    ) throws(KeychainStoreError) -> Keychain {
        try Keychain(KeychainPath(path), path, deviceKey, lockWait, minimumCost)
    }

    /// Opens a file that was examined or just made.
    init(
        _ location: KeychainPath, _ path: String, _ deviceKey: DeviceKey, _ lockWait: Duration,
        _ minimumCost: ScryptCost?
    ) throws(KeychainStoreError) {
        try location.examine()
        identity = try location.identity()
        let connection = try Connection(location, lockWait: lockWait)
        let record = try connection.read { database throws(KeychainStoreError) in try StoreRecord(database) }
        try record.authenticate(deviceKey)
        classKeys = try withKeys { () throws(KeybagFailure) in try record.keybag.deviceOnlyKeys(deviceKey) }
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

    /// True while the file that was opened is the one under this path; false once it was deleted or replaced.
    ///
    /// - Throws: `file`.
    package var isInPlace: Bool {
        get throws(KeychainStoreError) {
            let found = try location.identity()
            return found != nil && found == identity
        }
    }

    /// True when the class keys of all items are at hand.
    package var isUnlocked: Bool { classKeys[.whenUnlocked] != nil }

    /// True when a passcode was set.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// The class key for writing or reading items of an accessibility.
    ///
    /// - Throws: `passcodeNotSet`, `locked`.
    func key(_ accessibility: Accessibility) throws(KeychainStoreError) -> ClassKey {
        if let key = classKeys[accessibility] { return key }
        if accessibility == .whenPasscodeSetThisDeviceOnly, !keybag.hasPasscode { throw .passcodeNotSet }
        throw .locked(accessibility)
    }

    /// Begins a transaction on one unchanging state of the file, with class keys that belong to that state.
    func beginLook() throws(KeychainStoreError) -> Transaction {
        let transaction = try connection.beginReading()
        try noticeForeignChange(transaction.database)
        return transaction
    }

    /// Begins a transaction as the one process that changes the file, with class keys that belong to its state.
    func beginChange() throws(KeychainStoreError) -> Transaction {
        let transaction = try connection.beginWriting(ChangeLock(for: location, waitingAtMost: lockWait))
        try noticeForeignChange(transaction.database)
        return transaction
    }

    /// Runs `body` in a transaction of `beginLook`.
    func look<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        let transaction = try beginLook()
        let result = try body(transaction.database)
        try transaction.commit()
        return result
    }

    /// Runs `body` in a transaction of `beginChange`.
    func change<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        let transaction = try beginChange()
        let result = try body(transaction.database)
        try transaction.commit()
        return result
    }

    /// Runs `body` while no other process changes the keychain or unlocks it; the file is not touched.
    ///
    /// - Throws: what `body` throws, `busy`, `file`, `damaged`, `sqlite`.
    package func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        let transaction = try beginChange()
        let result = try body()
        transaction.rollBack()
        return result
    }

    /// Takes note of a passcode or of lock settings that another process has set or removed since.
    ///
    /// A change of the passcode makes new class keys, and nothing may be sealed under the old ones: those that the
    /// device does not open are forgotten. Lock settings have nothing to do with keys.
    func noticeForeignChange(_ database: Database) throws(KeychainStoreError) {
        if try StoreRecord.holds(keybag, in: database) { return }
        let record = try StoreRecord(database)
        try record.authenticate(deviceKey)
        guard record.keybag.uuid == keybag.uuid, record.storeID == storeID else {
            throw .damaged("the keybag is another one than before")
        }
        // What the device opens is opened again, which also proves that the keybag is genuine.
        let opened = try withKeys { () throws(KeybagFailure) in try record.keybag.deviceOnlyKeys(deviceKey) }
        if !record.keybag.hasKeys(of: keybag) { classKeys = ClassKeys() }
        classKeys.merge(opened)
        keybag = record.keybag
    }

    /// Remembers what has just become durable.
    func adopt(_ keybag: Keybag, _ keys: ClassKeys) {
        self.keybag = keybag
        classKeys = keys
    }
}
