internal import ByteStreams

/// A SQLite connection to a keychain file that distrusts the file.
struct Connection {
    let database: Database

    // KiB of page cache: the UUID index of a million items, which is written in random order, fits in.
    private static let cacheSize = 65_536

    /// Connects to a file that has been examined.
    ///
    /// - Throws: `notFound`, `file`, `notAKeychain`, `newerFormat`, `damaged`, `busy`, `sqlite`.
    init(_ location: KeychainPath, lockWait: Duration) throws(KeychainStoreError) {
        database = try Database(fileAt: location.path, lockWait: lockWait)
        try database.distrustFile()
        try database.execute(
            """
            PRAGMA cell_size_check = ON;
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -\(Self.cacheSize);
            PRAGMA synchronous = FULL;
            PRAGMA secure_delete = ON;
            """)
        try Schema.verify(database)
    }

    /// The bytes of a new database that `fill` fills in memory.
    static func newFile(
        _ fill: (Database) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> SecretBytes {
        let database = try Database()
        try fill(database)
        return try database.serialized()
    }

    /// Begins a transaction that sees one unchanging state of the file.
    func beginReading() throws(KeychainStoreError) -> Transaction {
        try Transaction(database, lock: nil)
    }

    /// Begins a transaction that changes the file, as the one process that does.
    func beginWriting(_ lock: ChangeLock) throws(KeychainStoreError) -> Transaction {
        try Transaction(database, lock: lock)
    }

    /// Runs `body` on one unchanging state of the file.
    func read<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        let transaction = try beginReading()
        let result = try body(database)
        try transaction.commit()
        return result
    }
}

/// A transaction, which is given up unless it is committed.
struct Transaction: ~Copyable {
    let database: Database
    private let lock: ChangeLock?

    /// Begins one, for changes if there is a lock.
    fileprivate init(_ database: Database, lock: ChangeLock?) throws(KeychainStoreError) {
        try database.begin(writing: lock != nil)
        self.database = database
        self.lock = lock
    }

    /// Makes what was changed durable; when that fails, nothing of it is left.
    consuming func commit() throws(KeychainStoreError) {
        try database.commit()
    }

    /// Gives it up, now and not earlier.
    consuming func rollBack() {}

    deinit {
        // After a commit there is nothing left to roll back.
        database.rollBack()
        withExtendedLifetime(lock) {}
    }
}
