import CKCSQLite

/// A database file, read and changed as another program would do it, without the checks of KCKeychainStore.
package struct SQLiteFile {
    let path: String

    /// An error of SQLite, with its result code.
    package struct Failure: Error {
        let code: Int32
        let message: String
    }

    /// A value of a column or a parameter.
    package enum Value: Hashable, Sendable, ExpressibleByStringLiteral {
        case null
        case integer(Int)
        case text(String)
        case blob([UInt8])

        /// Creates a text value.
        package init(stringLiteral text: String) { self = .text(text) }

        /// The number; nil if the value is not a number.
        package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
        /// The text; nil if the value is not a text.
        package var text: String? { if case .text(let text) = self { text } else { nil } }
        /// The bytes; nil if the value is not a blob.
        package var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
    }

    /// Names an existing file, which each call opens and closes.
    package init(_ path: String) {
        self.path = path
    }

    /// Runs one or more statements, the first one with parameters.
    ///
    /// - Returns: the rows of all statements.
    @discardableResult
    package func run(_ sql: String, _ parameters: [Value] = []) throws -> [[Value]] {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
        defer { unsafe sqlite3_close(opened) }
        guard code == SQLITE_OK, let database = unsafe opened else { throw Failure(code: code, message: path) }
        // Other threads and processes of the test may be writing.
        unsafe sqlite3_busy_timeout(database, 60_000)
        func check(_ code: Int32) throws {
            if code == SQLITE_OK || code == SQLITE_DONE { return }
            throw unsafe Failure(code: code, message: String(cString: sqlite3_errmsg(database)))
        }
        var rows: [[Value]] = []
        var parameters = parameters
        try unsafe sql.withCString { start in
            var rest: UnsafePointer<CChar>? = unsafe start
            while let next = unsafe rest, unsafe next.pointee != 0 {
                var statement: OpaquePointer?
                try check(unsafe sqlite3_prepare_v2(database, next, -1, &statement, &rest))
                guard let statement = unsafe statement else { continue }
                defer { unsafe sqlite3_finalize(statement) }
                for (index, value) in parameters.enumerated() {
                    try check(unsafe Self.bind(value, Int32(index + 1), statement))
                }
                parameters = []
                var code = unsafe sqlite3_step(statement)
                while code == SQLITE_ROW {
                    rows.append(unsafe (0..<sqlite3_column_count(statement)).map { unsafe Self.value($0, statement) })
                    code = unsafe sqlite3_step(statement)
                }
                try check(code)
            }
        }
        return rows
    }

    private static func bind(_ value: Value, _ index: Int32, _ statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: unsafe sqlite3_bind_null(statement, index)
        case .integer(let number): unsafe sqlite3_bind_int64(statement, index, Int64(number))
        case .text(let text): unsafe csqlite_bind_text_copy(statement, index, text, Int32(text.utf8.count))
        case .blob(let bytes): unsafe csqlite_bind_blob_copy(statement, index, bytes, Int32(bytes.count))
        }
    }

    private static func value(_ column: Int32, _ statement: OpaquePointer) -> Value {
        func bytes() -> [UInt8] {
            guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
            let count = unsafe Int(sqlite3_column_bytes(statement, column))
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
        }
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(Int(unsafe sqlite3_column_int64(statement, column)))
        case SQLITE_TEXT: return .text(String(decoding: bytes(), as: UTF8.self))
        case SQLITE_BLOB: return .blob(bytes())
        default: return .null
        }
    }
}
