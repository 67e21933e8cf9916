internal import KCByteStreams

/// A SQLite connection to an untrusted keychain file.
struct Connection {
    let database: Database

    // KiB of page cache; holds the UUID index of a million items, which has 27 MiB and is written in random order.
    private static let cacheSize = 40_960

    /// Opens a file that has been checked.
    init(_ location: KeychainPath, lockWait: Duration) throws(KeychainStoreError) {
        database = try Database(fileAt: location.path, lockWait: lockWait)
        try database.distrustFile()
        try database.execute(
            """
            PRAGMA cell_size_check = ON;
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA synchronous = EXTRA;
            PRAGMA secure_delete = ON;
            """)
        try database.limitCache(toKiB: Self.cacheSize)
        try database.lockOutReadersLate(lockWait: lockWait)
        try Schema.verify(database)
    }

    /// The bytes of a new database that `fill` populates in memory.
    static func newFile(
        _ fill: (Database) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> SecretBytes {
        let database = try Database()
        try fill(database)
        return try database.serialized()
    }

    /// Begins a read transaction: a consistent snapshot of the file.
    func beginReading() throws(KeychainStoreError) -> Transaction {
        try Transaction(database, lock: nil)
    }

    /// Begins a write transaction, as the only writing process.
    func beginWriting(_ lock: ChangeLock) throws(KeychainStoreError) -> Transaction {
        try Transaction(database, lock: lock)
    }

    /// Runs `body` in a read transaction.
    func read<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        let transaction = try beginReading()
        let result = try body(database)
        try transaction.commit()
        return result
    }
}

/// A transaction, rolled back unless it is committed.
struct Transaction: ~Copyable {
    let database: Database
    private let lock: ChangeLock?

    /// Begins a transaction, for writing if there is a lock.
    fileprivate init(_ database: Database, lock: ChangeLock?) throws(KeychainStoreError) {
        try database.begin(writing: lock != nil)
        self.database = database
        self.lock = lock
    }

    /// Makes the changes durable; if that fails, they are rolled back.
    consuming func commit() throws(KeychainStoreError) {
        try database.commit()
    }

    /// Rolls back now, not when the value goes out of scope.
    consuming func rollBack() {}

    deinit {
        // After a commit there is nothing to roll back.
        database.rollBack()
        withExtendedLifetime(lock) {}
    }
}
