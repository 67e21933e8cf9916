import BareSQLite
import Foundation

/// SQLite alone on a file with the tables and indexes of a keychain, as durable as one: the least that a call can take.
final class Bare {
    private let database: OpaquePointer?
    private let insertion: OpaquePointer?
    private let selection: OpaquePointer?
    // What a sealed password of a few characters takes, with its salt and its tag.
    private let secret = [UInt8](repeating: 7, count: 64)

    /// Opens a copy of an empty keychain.
    init(_ path: String) {
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK else { fatalError("cannot open \(path)") }
        self.database = database
        // Without an order among those who wait, some wait for minutes.
        sqlite3_busy_timeout(database, 600_000)
        sqlite3_exec(
            database, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON", nil, nil, nil)
        insertion = Self.prepared(
            """
            INSERT INTO genp(uuid, tomb, acct, agrp, cdat, mdat, musr, pdmn, svce, sync, data)
            VALUES(randomblob(16), 0, x'616461', x'43616c6c73', 800000000000000, 800000000000000, x'', x'616b',
                CAST(? AS BLOB), 0, ?)
            """, database)
        selection = Self.prepared(
            """
            SELECT data FROM genp
            WHERE ifnull(acct,x'') = x'616461' AND ifnull(svce,x'') = CAST(? AS BLOB) AND ifnull(agrp,x'') = x'43616c6c73'
            """, database)
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
        bind("service \(name)", to: insertion)
        secret.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob(insertion, 2, bytes.baseAddress, Int32(bytes.count), nil)
            guard sqlite3_step(insertion) == SQLITE_DONE else { fatalError(String(cString: sqlite3_errmsg(database))) }
        }
        sqlite3_reset(insertion)
        guard sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK else { fatalError("not committed") }
    }

    /// Finds a row.
    func find(_ name: String) {
        bind("service \(name)", to: selection)
        guard sqlite3_step(selection) == SQLITE_ROW, sqlite3_column_bytes(selection, 0) == Int32(secret.count) else {
            fatalError("\(name) is lost")
        }
        sqlite3_reset(selection)
    }

    private func bind(_ name: String, to statement: OpaquePointer?) {
        // SQLITE_TRANSIENT, which is a macro.
        sqlite3_bind_text(statement, 1, name, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}
