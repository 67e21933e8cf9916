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

    /// Runs `body` on one unchanging state of the file.
    func read<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try database.begin(writing: false)
        let result = try lend(to: body)
        try database.commit()
        return result
    }

    /// Runs `body` in one transaction, which the caller's `ChangeLock` guards: all becomes durable, or nothing.
    func write<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try database.begin(writing: true)
        let result = try lend(to: body)
        try database.commit()
        return result
    }

    /// Like `read`, for bodies whose own errors come out unchanged.
    func readRethrowing<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.begin(writing: false)
        let result = try lend(to: body)
        try database.commit()
        return result
    }

    /// Like `write`, for bodies whose own errors come out unchanged.
    func writeRethrowing<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.begin(writing: true)
        let result = try lend(to: body)
        try database.commit()
        return result
    }

    private func lend<Result, E: Error>(to body: (Database) throws(E) -> Result) throws(E) -> Result {
        do {
            return try body(database)
        } catch {
            database.rollBack()
            throw error
        }
    }
}
