import BareSQLite
import Foundation

/// SQLite alone, as durable as a keychain: the least that a call can take.
final class Bare {
    private let database: OpaquePointer?
    private let insertion: OpaquePointer?
    private let selection: OpaquePointer?
    private let secret = [UInt8](repeating: 7, count: 400)

    /// Opens or makes a database of one table with the two unique indexes of a keychain's.
    init(_ path: String) {
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK else { fatalError("cannot open \(path)") }
        self.database = database
        sqlite3_busy_timeout(database, 60_000)
        sqlite3_exec(
            database,
            """
            PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
            CREATE TABLE IF NOT EXISTS item(id INTEGER PRIMARY KEY, uuid BLOB, name TEXT, secret BLOB);
            CREATE UNIQUE INDEX IF NOT EXISTS item_uuid ON item(uuid);
            CREATE UNIQUE INDEX IF NOT EXISTS item_name ON item(name);
            """, nil, nil, nil)
        insertion = Self.prepared("INSERT INTO item(uuid, name, secret) VALUES(randomblob(16), ?, ?)", database)
        selection = Self.prepared("SELECT secret FROM item WHERE name = ?", database)
    }

    deinit {
        sqlite3_finalize(insertion)
        sqlite3_finalize(selection)
        sqlite3_close(database)
    }

    private static func prepared(_ sql: String, _ database: OpaquePointer?) -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            fatalError(String(cString: sqlite3_errmsg(database)))
        }
        return statement
    }

    /// Adds a row in a transaction of its own.
    func add(_ name: String) {
        guard sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK else { fatalError("busy") }
        bind(name, to: insertion)
        secret.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob(insertion, 2, bytes.baseAddress, Int32(bytes.count), nil)
            guard sqlite3_step(insertion) == SQLITE_DONE else { fatalError(String(cString: sqlite3_errmsg(database))) }
        }
        sqlite3_reset(insertion)
        guard sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK else { fatalError("not committed") }
    }

    /// Finds a row; the size of its secret.
    func find(_ name: String) -> Int {
        bind(name, to: selection)
        defer { sqlite3_reset(selection) }
        return sqlite3_step(selection) == SQLITE_ROW ? Int(sqlite3_column_bytes(selection, 0)) : 0
    }

    private func bind(_ name: String, to statement: OpaquePointer?) {
        // SQLITE_TRANSIENT, which is a macro.
        sqlite3_bind_text(statement, 1, name, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}
