// Fence: opens a database of another program in memory, with calls that the keychain file does not need.
internal import CKCSQLite
package import KCByteStreams

/// A foreign SQLite database in memory, read-only: nothing of it is written to disk.
///
/// ```swift
/// let image = try DatabaseImage(bytes)
/// let rows = try image.rows("SELECT file FROM Files WHERE fileID = ?", [id], limit: 1)
/// ```
@safe package final class DatabaseImage {
    private let pointer: OpaquePointer
    // SQLite reads these bytes in place.
    private let bytes: SecretBytes

    /// Why a database cannot be read.
    package enum Failure: Error, Hashable, Sendable {
        /// The bytes are not a database, or are damaged.
        case damaged
        /// A statement returns more rows than are read.
        case tooManyRows(limit: Int)
        /// Another failure of SQLite, such as insufficient memory.
        case library(Int32)
    }

    /// Has SQLite open the files that it reads when it is used for the first time.
    package static func prepare() {
        var opened: OpaquePointer?
        _ = unsafe sqlite3_open_v2(
            ":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nil)
        _ = unsafe sqlite3_close(opened)
        var byte: UInt8 = 0
        unsafe sqlite3_randomness(1, &byte)
    }

    /// Opens the bytes of a database file.
    package init(_ bytes: consuming SecretBytes) throws(Failure) {
        guard bytes.count >= 100 else { throw .damaged }
        // The file is marked as having a write-ahead log, but there is none in memory.
        bytes.withMutableBytes { span in
            for index in [18, 19] where span[index] == 2 { span[index] = 1 }
        }
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            ":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            _ = unsafe sqlite3_close(opened)
            throw .library(code)
        }
        unsafe pointer = unsafe opened
        self.bytes = bytes
        try attach()
    }

    deinit {
        _ = unsafe sqlite3_close(pointer)
    }

    private func attach() throws(Failure) {
        let flags: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        ]
        for (flag, value) in flags { try check(unsafe csqlite_set_flag(pointer, flag, value)) }
        let limits: [(Int32, Int32)] = [
            (SQLITE_LIMIT_LENGTH, 1 << 20), (SQLITE_LIMIT_VDBE_OP, 100_000), (SQLITE_LIMIT_ATTACHED, 0),
        ]
        for (limit, value) in limits { unsafe sqlite3_limit(pointer, limit, value) }
        let connection = unsafe pointer
        let code = bytes.withBytes { span in
            unsafe span.withUnsafeBufferPointer { buffer in
                // The parameter is a mutable pointer, but the flag makes the database read-only.
                unsafe sqlite3_deserialize(
                    connection, "main", UnsafeMutablePointer(mutating: buffer.baseAddress), Int64(buffer.count),
                    Int64(buffer.count), UInt32(SQLITE_DESERIALIZE_READONLY))
            }
        }
        try check(code)
        try check(unsafe sqlite3_exec(pointer, "PRAGMA query_only = 1; PRAGMA cell_size_check = 1", nil, nil, nil))
    }

    /// A value of a row.
    package enum Value: Hashable, Sendable {
        case null
        case number(Int64)
        /// A blob, or text in UTF-8.
        case bytes([UInt8])
    }

    /// The rows that a statement returns.
    ///
    /// - Parameters:
    ///   - sql: a statement written in this program.
    ///   - texts: the values of its parameters.
    ///   - limit: the maximum number of rows; a small file can have any number of them.
    package func rows(_ sql: String, _ texts: [String] = [], limit: Int) throws(Failure) -> [[Value]] {
        var prepared: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(pointer, sql, -1, &prepared, nil))
        guard let statement = unsafe prepared else { throw .library(SQLITE_MISUSE) }
        defer { _ = unsafe sqlite3_finalize(statement) }
        for (index, text) in texts.enumerated() {
            let bytes = Array(text.utf8)
            try check(unsafe csqlite_bind_text_copy(statement, Int32(index + 1), bytes, Int32(bytes.count)))
        }
        let columns = unsafe sqlite3_column_count(statement)
        var rows: [[Value]] = []
        while true {
            let code = unsafe sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                if code == SQLITE_DONE { return rows }
                throw Self.failure(code)
            }
            guard rows.count < limit else { throw .tooManyRows(limit: limit) }
            rows.append((0..<columns).map { unsafe Self.value($0, of: statement) })
        }
    }

    private static func value(_ column: Int32, of statement: OpaquePointer) -> Value {
        let start: UnsafeRawPointer?
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .number(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_BLOB: unsafe start = sqlite3_column_blob(statement, column)
        // In UTF-8, whatever the encoding of the database.
        default: unsafe start = unsafe UnsafeRawPointer(sqlite3_column_text(statement, column))
        }
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
        return .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: count)))
    }

    private func check(_ code: Int32) throws(Failure) {
        if code != SQLITE_OK { throw Self.failure(code) }
    }

    /// Converts a result code; any failure that the bytes can cause is damage, including a missing table.
    private static func failure(_ code: Int32) -> Failure {
        switch code & 0xff {
        case SQLITE_NOMEM, SQLITE_MISUSE, SQLITE_INTERNAL: .library(code)
        default: .damaged
        }
    }
}
