internal import CKCSQLite

/// A prepared statement; valid within the transaction in which it was prepared.
@safe package final class SQLStatement {
    private let database: Database
    private let pointer: OpaquePointer
    private let sql: String

    /// Compiles `sql`, which is always written in this program.
    init(_ sql: String, on database: Database) throws(KeychainStoreError) {
        unsafe pointer = try database.prepare(sql)
        self.database = database
        self.sql = sql
    }

    deinit {
        unsafe database.takeBack(pointer, sql)
    }

    /// Runs to the next row; false at the end.
    package func step() throws(KeychainStoreError) -> Bool {
        // Outside a transaction, each change would be a transaction of its own.
        if database.isTransactionLost { throw .sqlite(SQLITE_ABORT) }
        switch unsafe sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let failure = database.failure(code)
            _ = unsafe sqlite3_reset(pointer)
            throw failure
        }
    }

    /// Runs a statement that returns no rows, and resets it.
    package func run() throws(KeychainStoreError) {
        guard try !step() else { throw .sqlite(SQLITE_MISUSE) }
        reset()
    }

    /// Runs a statement that returns no rows, and resets it; parameters without a value are NULL.
    ///
    /// SQLite reads the values where they are, so they are unbound again before this returns.
    func run(_ parameters: borrowing SQLParameters) throws(KeychainStoreError) {
        defer { _ = unsafe sqlite3_clear_bindings(pointer) }
        try parameters.withValues { bytes, values throws(KeychainStoreError) in
            for value in values {
                switch value {
                case .number(let number, let index): try bind(number, index)
                case .bytes(let range, let index): try bindInPlace(bytes.extracting(range), index)
                case .text(let range, let index): try bindTextInPlace(bytes.extracting(range), index)
                }
            }
            try run()
        }
    }

    /// Runs a statement as `run` does, with the value of one more parameter, which may be large.
    func run(
        _ parameters: borrowing SQLParameters, data: borrowing Span<UInt8>, _ index: Int
    ) throws(KeychainStoreError) {
        try bindInPlace(data, index)
        try run(parameters)
    }

    private func bindInPlace(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
        // SQLite treats a null pointer as NULL.
        if bytes.isEmpty { return try check(unsafe sqlite3_bind_zeroblob(pointer, Int32(index), 0)) }
        try check(
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe sqlite3_bind_blob(pointer, Int32(index), buffer.baseAddress, Int32(buffer.count), nil)
            })
    }

    private func bindTextInPlace(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
        try check(
            unsafe bytes.withUnsafeBytes { buffer in
                let text = unsafe buffer.assumingMemoryBound(to: CChar.self)
                return unsafe sqlite3_bind_text(pointer, Int32(index), text.baseAddress, Int32(text.count), nil)
            })
    }

    /// Resets the statement for another run; bindings are kept.
    package func reset() {
        // `sqlite3_reset` returns the result of the last step, which has already been checked.
        _ = unsafe sqlite3_reset(pointer)
    }

    // MARK: Binding (parameters count from 1)

    package func bindNull(_ index: Int) throws(KeychainStoreError) {
        try check(unsafe sqlite3_bind_null(pointer, Int32(index)))
    }

    package func bind(_ number: Int64, _ index: Int) throws(KeychainStoreError) {
        try check(unsafe sqlite3_bind_int64(pointer, Int32(index), number))
    }

    package func bind(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
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

    /// Binds text as TEXT.
    package func bindText(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(KeychainStoreError) {
        try check(
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe csqlite_bind_text_copy(pointer, Int32(index), buffer.baseAddress, Int32(buffer.count))
            })
    }

    // MARK: Reading (columns count from 0)

    /// The type of a column of the current row.
    package enum ColumnType: Int32 {
        case integer = 1
        case real = 2
        case text = 3
        case blob = 4
        case null = 5
    }

    /// The number of columns of a row.
    var columnCount: Int { Int(unsafe sqlite3_column_count(pointer)) }

    package func type(_ column: Int) -> ColumnType {
        ColumnType(rawValue: unsafe sqlite3_column_type(pointer, Int32(column))) ?? .null
    }

    package func integer(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(pointer, Int32(column))
    }

    /// Passes the bytes of a blob or text to `body`; NULL is empty.
    package func withBytes<Result: ~Copyable, E: Error>(
        _ column: Int, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        let start = unsafe sqlite3_column_blob(pointer, Int32(column))
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(pointer, Int32(column)))
        let bytes = unsafe UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe bytes.span)
    }

    private func check(_ code: Int32) throws(KeychainStoreError) {
        try database.check(code)
    }
}
