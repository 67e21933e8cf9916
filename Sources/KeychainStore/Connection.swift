internal import ByteStreams
internal import GRDB

/// A SQLite connection to a keychain file that distrusts the file.
struct Connection {
    let queue: DatabaseQueue

    // KiB of page cache: the UUID index of a million items, which is written in random order, fits in.
    private static let cacheSize = 65_536

    /// Connects to a file that has been examined.
    ///
    /// - Throws: `notAKeychain`, `newerFormat`, `damaged`, `busy`, `sqlite`.
    init(_ location: KeychainPath, lockWait: Duration) throws(KeychainStoreError) {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let (seconds, attoseconds) = lockWait.components
        configuration.busyMode = .timeout(Double(seconds) + Double(attoseconds) / 1e18)
        configuration.prepareDatabase { database in
            try database.distrustFile()
            try database.execute(
                sql: """
                    PRAGMA cell_size_check = ON;
                    PRAGMA mmap_size = 0;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA cache_size = -\(Self.cacheSize);
                    PRAGMA synchronous = FULL;
                    PRAGMA secure_delete = ON;
                    """)
            try Schema.verify(database)
        }
        do {
            queue = try DatabaseQueue(path: location.path, configuration: configuration)
        } catch {
            throw KeychainStoreError(sqlite: error)
        }
    }

    /// The bytes of a new database that `fill` fills in memory.
    static func newFile(
        _ fill: (Database) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> SecretBytes {
        var bytes = SecretBytes(capacity: 0)
        do {
            try DatabaseQueue().inDatabase { database in
                try fill(database)
                bytes = try database.serialized()
            }
        } catch {
            throw KeychainStoreError(sqlite: error)
        }
        return bytes
    }

    /// Runs `body` on one unchanging state of the file.
    func read<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        do {
            return try queue.read { database in try body(database) }
        } catch {
            throw KeychainStoreError(sqlite: error)
        }
    }

    /// Runs `body` in one transaction, which the caller's `ChangeLock` guards: all becomes durable, or nothing.
    func write<Result>(
        _ body: (Database) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        do {
            return try writeRethrowing { database in try body(database) }
        } catch {
            throw KeychainStoreError(sqlite: error)
        }
    }

    /// Like `write`, for bodies whose own errors come out unchanged.
    func writeRethrowing<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try queue.inDatabase { database in
            var result: Result?
            do {
                try database.inTransaction(.immediate) {
                    result = try body(database)
                    return .commit
                }
            } catch let error as DatabaseError {
                throw KeychainStoreError(sqlite: error)
            }
            guard let result else { throw KeychainStoreError.interrupted }
            return result
        }
    }

    /// Like `read`, for bodies whose own errors come out unchanged.
    func readRethrowing<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try queue.read(body)
        } catch let error as DatabaseError {
            throw KeychainStoreError(sqlite: error)
        }
    }
}
