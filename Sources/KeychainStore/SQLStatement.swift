internal import ByteStreams
internal import CSQLite
internal import GRDB
internal import KeychainModel

/// A prepared statement, bound and read through SQLite's own functions: with GRDB's rows a scan takes twice as long.
///
/// It must not outlive the database access it was made in.
@safe final class SQLStatement {
    // Keeps the statement alive and finalises it.
    private let owner: Statement
    private let pointer: OpaquePointer

    /// Compiles `sql`, which is always text of this program.
    init(_ sql: String, on database: Database) throws(KeychainStoreError) {
        do {
            owner = try database.makeStatement(sql: sql)
        } catch {
            throw KeychainStoreError(sqlite: error)
        }
        unsafe pointer = owner.sqliteStatement
    }

    /// Runs to the next row; false at the end.
    func step() throws(KeychainStoreError) -> Bool {
        switch unsafe sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            unsafe sqlite3_reset(pointer)
            throw KeychainStoreError(sqliteCode: code)
        }
    }

    /// Runs a statement that returns no rows, and makes it ready for the next run.
    func run() throws(KeychainStoreError) {
        guard try !step() else { throw .sqlite(SQLITE_MISUSE) }
        reset()
    }

    /// Makes the statement ready for another run; what was bound stays.
    func reset() {
        // It repeats the result of the last step, which was looked at there.
        _ = unsafe sqlite3_reset(pointer)
    }

    // MARK: Binding (parameters count from 1)

    func bindNull(_ index: Int) throws(KeychainStoreError) {
        try check(unsafe sqlite3_bind_null(pointer, Int32(index)))
    }

    func bind(_ number: Int64, _ index: Int) throws(KeychainStoreError) {
        try check(unsafe sqlite3_bind_int64(pointer, Int32(index), number))
    }

    func bind(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
        try check(
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe csqlite_bind_blob_copy(pointer, Int32(index), buffer.baseAddress, Int32(buffer.count))
            })
    }

    /// Binds the UTF-8 of `text` as a blob.
    func bindBytes(of text: String, _ index: Int) throws(KeychainStoreError) {
        var text = text
        let code = text.withUTF8 { buffer in
            unsafe csqlite_bind_blob_copy(pointer, Int32(index), buffer.baseAddress, Int32(buffer.count))
        }
        try check(code)
    }

    /// Binds text that has the type TEXT.
    func bindText(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
        try check(
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe csqlite_bind_text_copy(pointer, Int32(index), buffer.baseAddress, Int32(buffer.count))
            })
    }

    // MARK: Reading (columns count from 0)

    /// What a column of the current row holds.
    enum ColumnType: Int32 {
        case integer = 1
        case real = 2
        case text = 3
        case blob = 4
        case null = 5
    }

    func type(_ column: Int) -> ColumnType {
        ColumnType(rawValue: unsafe sqlite3_column_type(pointer, Int32(column))) ?? .null
    }

    func integer(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(pointer, Int32(column))
    }

    /// Lends the bytes of a blob or a text for the time of the call; a NULL is empty.
    func withBytes<Result: ~Copyable, E: Error>(
        _ column: Int, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        let start = unsafe sqlite3_column_blob(pointer, Int32(column))
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(pointer, Int32(column)))
        let bytes = unsafe UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe bytes.span)
    }

    private func check(_ code: Int32) throws(KeychainStoreError) {
        guard code == SQLITE_OK else { throw KeychainStoreError(sqliteCode: code) }
    }
}

extension KeychainStoreError {
    /// Turns a result code of SQLite into what one would act on.
    init(sqliteCode code: Int32) {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_FULL: self = .diskFull
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_CORRUPT, SQLITE_FORMAT: self = .damaged("the database is malformed")
        case SQLITE_NOTADB: self = .notAKeychain(.notADatabase)
        case SQLITE_CONSTRAINT: self = .duplicateItem
        case SQLITE_INTERRUPT: self = .interrupted
        default: self = .sqlite(code)
        }
    }

    /// Turns an error that comes out of GRDB into ours; one of ours stays as it is.
    init(sqlite error: any Error) {
        switch error {
        case let error as KeychainStoreError: self = error
        case let error as DatabaseError: self.init(sqliteCode: error.extendedResultCode.rawValue)
        default: self = .sqlite(SQLITE_ERROR)
        }
    }
}

extension Database {
    /// All bytes of an in-memory database, as a file would hold them.
    func serialized() throws(KeychainStoreError) -> SecretBytes {
        var size: Int64 = 0
        guard let bytes = unsafe sqlite3_serialize(sqliteConnection, "main", &size, 0) else {
            throw .sqlite(SQLITE_NOMEM)
        }
        defer { unsafe sqlite3_free(bytes) }
        return unsafe SecretBytes(UnsafeBufferPointer(start: bytes, count: Int(size)).span)
    }

    /// Makes a connection distrust its file, before the first statement that reads it (SQLite: "Defense Against The
    /// Dark Arts"), and keeps foreign text and large allocations out of reach.
    func distrustFile() throws(KeychainStoreError) {
        let connection = unsafe sqliteConnection
        func check(_ code: Int32) throws(KeychainStoreError) {
            guard code == SQLITE_OK else { throw KeychainStoreError(sqliteCode: code) }
        }
        let flags: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_DQS_DML, 0),
        ]
        for (flag, value) in flags { try check(unsafe csqlite_set_flag(connection, flag, value)) }
        let limits: [(Int32, Int32)] = [
            // Bytes of one row: the largest secret, all attributes and their frame.
            (SQLITE_LIMIT_LENGTH, Int32(ItemLimits.secretSize + 2 * ItemLimits.attributesSize)),
            // Bytes of one statement: ours are below 8 KiB, and a query may list many access groups.
            (SQLITE_LIMIT_SQL_LENGTH, 65_536), (SQLITE_LIMIT_COLUMN, 64), (SQLITE_LIMIT_VDBE_OP, 100_000),
            (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        ]
        for (limit, value) in limits { unsafe sqlite3_limit(connection, limit, value) }
    }
}
