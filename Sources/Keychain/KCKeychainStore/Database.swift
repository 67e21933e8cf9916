internal import CKCSQLite
internal import Glibc
internal import KCByteStreams
internal import KCKeychainModel

/// An open SQLite database; not thread-safe.
///
/// A statement retains its database, so the handle is closed after the last statement.
@safe final class Database {
    private let pointer: OpaquePointer
    /// The path for messages; nil for a database in memory.
    private let path: String?
    /// True once SQLite has rolled back on its own, so that later statements do not silently run outside the
    /// transaction.
    private(set) var isTransactionLost = false
    private var isLent = false
    /// The result code of the last call that failed.
    private var lastFailure = SQLITE_OK
    private var isReading = false
    /// The methods that make the file lock out its readers late.
    private var lateFile: UnsafeMutablePointer<csqlite_file>?
    /// The methods that make the file have checksums.
    private var checkedFile: UnsafeMutablePointer<csqlite_checked_file>?
    /// True for a database in memory whose pages get checksums when it is serialized.
    private var hasChecksums = false
    /// Compiled statements that are not in use, by their text; compiling a statement takes longer than running it.
    private var spare: [String: OpaquePointer] = unsafe [:]
    // The number of statements: more than a program uses, and few enough that their memory is negligible.
    private static let spareLimit = 64

    /// Opens an existing file without reading it.
    ///
    /// Symbolic links are followed in the folder, but not in the last component.
    ///
    /// - Parameter lockWait: how long a statement waits for another connection.
    init(fileAt path: String, lockWait: Duration) throws(KeychainStoreError) {
        let real = try Self.resolvingFolder(of: path)
        unsafe pointer = try Self.open(real, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, as: path)
        self.path = path
        let limit = unsafe UnsafeMutableRawPointer(bitPattern: Int(lockWait.milliseconds))
        try check(
            unsafe sqlite3_busy_handler(
                pointer, { limit, tries in unsafe Interruption.isRequested ? 0 : csqlite_pause(limit, tries) }, limit))
    }

    /// Creates a database in memory.
    init() throws(KeychainStoreError) {
        unsafe pointer = try Self.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, as: nil)
        path = nil
    }

    deinit {
        // Statements retain the database, so only spare ones are left here; once they are finalized, closing cannot
        // fail.
        unsafe spare.values.forEach { statement in _ = unsafe sqlite3_finalize(statement) }
        _ = unsafe sqlite3_close(pointer)
        unsafe free(lateFile)
        unsafe free(checkedFile)
    }

    private static func open(
        _ name: String, _ flags: Int32, as path: String?
    ) throws(KeychainStoreError) -> OpaquePointer {
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            name, &pointer, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        // Without memory there is no handle, and its errno reads as 0.
        guard code == SQLITE_OK, let opened = unsafe pointer else {
            let systemError = unsafe sqlite3_system_errno(pointer)
            _ = unsafe sqlite3_close(pointer)
            throw KeychainStoreError(sqliteCode: code, systemError: systemError, path)
        }
        return unsafe opened
    }

    /// SQLite's "no follow" flag covers the whole path, but a home folder may be behind a link.
    private static func resolvingFolder(of path: String) throws(KeychainStoreError) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "."
        guard let real = unsafe realpath(folder, nil) else {
            let code = errno
            throw code == ENOENT || code == ENOTDIR
                ? .notFound(path) : .file(FileFailure(path, .system(code, doing: "opening")))
        }
        defer { unsafe free(real) }
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        return unsafe String(cString: real) + "/" + name
    }

    // MARK: Statements

    /// Compiles one statement, or takes a spare one.
    ///
    /// - Throws: `readOnly` for a statement that would change the file in a read transaction, `sqlite`.
    func prepare(_ sql: String) throws(KeychainStoreError) -> OpaquePointer {
        let statement: OpaquePointer
        if let kept = unsafe spare.removeValue(forKey: sql) {
            unsafe statement = kept
        } else {
            unsafe statement = try compile(sql)
        }
        // SQLite's own switch for this, "query_only", makes it compile every statement again.
        if isReading, unsafe sqlite3_stmt_readonly(statement) == 0 {
            unsafe takeBack(statement, sql)
            throw .readOnly
        }
        return unsafe statement
    }

    private func compile(_ sql: String) throws(KeychainStoreError) -> OpaquePointer {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(pointer, sql, -1, &statement, nil))
        guard let statement = unsafe statement else { throw .sqlite(SQLITE_MISUSE) }
        return unsafe statement
    }

    /// Takes a statement back for reuse and clears its bindings.
    func takeBack(_ statement: OpaquePointer, _ sql: String) {
        // Both return results that were already checked.
        _ = unsafe sqlite3_reset(statement)
        _ = unsafe sqlite3_clear_bindings(statement)
        if unsafe spare.count < Self.spareLimit && spare[sql] == nil {
            unsafe spare[sql] = statement
        } else {
            _ = unsafe sqlite3_finalize(statement)
        }
    }

    /// The number of rows that this connection has inserted, changed and deleted.
    var changeCount: Int64 { unsafe sqlite3_total_changes64(pointer) }

    /// The row that was inserted last.
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(pointer) }

    /// Runs one statement without rows and keeps it compiled.
    func run(_ sql: String) throws(KeychainStoreError) {
        let statement = unsafe try prepare(sql)
        let code = unsafe sqlite3_step(statement)
        let failure = code == SQLITE_DONE ? nil : failure(code)
        unsafe takeBack(statement, sql)
        if let failure { throw failure }
    }

    /// Runs statements whose rows are ignored.
    func execute(_ sql: String) throws(KeychainStoreError) {
        try check(unsafe sqlite3_exec(pointer, sql, nil, nil, nil))
    }

    /// Throws unless a call succeeded.
    func check(_ code: Int32) throws(KeychainStoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// The error for the result code of the last call.
    func failure(_ code: Int32) -> KeychainStoreError {
        lastFailure = code
        // The lock that was waited for did not come, since a signal ended the waiting.
        if code & 0xff == SQLITE_BUSY, Interruption.isRequested { return .interrupted }
        if isLent, unsafe sqlite3_get_autocommit(pointer) != 0 { isTransactionLost = true }
        if code & 0xff == SQLITE_IOERR, unsafe lateFile?.pointee.failure == SQLITE_BUSY {
            return Interruption.isRequested ? .interrupted : .busy
        }
        var systemError = unsafe sqlite3_system_errno(pointer)
        if code & 0xff == SQLITE_CORRUPT {
            // SQLite treats a failing device as damage; only the operating system knows the difference.
            systemError = 0
            unsafe withUnsafeMutablePointer(to: &systemError) { error in
                _ = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_LAST_ERRNO, error)
            }
        } else if code & 0xff == SQLITE_CANTOPEN, systemError == ENOENT || systemError == ENOTDIR {
            // The keychain itself is open. If a journal cannot be created, SQLite retries read-only, and that error
            // hides the first one.
            systemError = 0
        }
        return KeychainStoreError(sqliteCode: code, systemError: systemError, path)
    }

    /// The error for damage that SQLite has found and told of in words.
    func damage() -> KeychainStoreError { failure(SQLITE_CORRUPT) }

    /// Throws `notFound` if the path leads to another file, or to none, since this one was opened.
    func requireInPlace() throws(KeychainStoreError) {
        var isElsewhere: Int32 = 0
        let code = unsafe withUnsafeMutablePointer(to: &isElsewhere) { isElsewhere in
            unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_HAS_MOVED, isElsewhere)
        }
        try check(code)
        if isElsewhere != 0, let path { throw .notFound(path) }
    }

    // MARK: Transactions

    /// Begins a transaction; a read transaction is a consistent snapshot and cannot change the file.
    func begin(writing: Bool) throws(KeychainStoreError) {
        precondition(!isLent, "a transaction within a transaction of the same connection")
        // A transaction that could not be rolled back for lack of memory may still be open.
        rollBack()
        isTransactionLost = false
        try run(writing ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED")
        isLent = true
        isReading = !writing
    }

    /// Commits durably; if that fails, the transaction is rolled back.
    ///
    /// If the change is in place, and only the removal of its journal could not be made durable, `Durability` records that.
    func commit() throws(KeychainStoreError) {
        lastFailure = SQLITE_OK
        do throws(KeychainStoreError) {
            if isTransactionLost { throw .sqlite(SQLITE_ABORT) }
            try run("COMMIT")
            isLent = false
            isReading = false
        } catch {
            rollBack()
            guard lastFailure == KeychainStoreError.folderNotSynced, let path else { throw error }
            // SQLite does not say which error of the system it was.
            Durability.doubt(FileFailure(Path.split(path).folder, .system(EIO, doing: "making durable")))
        }
    }

    /// Rolls back the transaction, if there is one.
    func rollBack() {
        isLent = false
        isReading = false
        guard unsafe sqlite3_get_autocommit(pointer) == 0 else { return }
        // A failure here was already reported, or prevents the next transaction from beginning.
        _ = unsafe sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil)
    }

    /// Limits how much of the file is kept in memory; what does not fit is read again.
    func limitCache(toKiB size: Int) throws(KeychainStoreError) { try execute("PRAGMA cache_size = -\(size)") }

    /// Lets transactions lock out readers only while they write the file itself, and not while they make the journal
    /// durable; called once, before the first transaction.
    ///
    /// - Parameter lockWait: how long a commit waits for those who read.
    func lockOutReadersLate(lockWait: Duration) throws(KeychainStoreError) {
        precondition(unsafe lateFile == nil, "called twice")
        unsafe lateFile = csqlite_lock_late(pointer, lockWait.milliseconds) { Interruption.isRequested ? 1 : 0 }
        guard unsafe lateFile != nil else { throw .sqlite(SQLITE_NOMEM) }
    }

    /// Makes room for checksums in a database in memory, before its first table.
    func reserveChecksums() throws(KeychainStoreError) {
        try execute("PRAGMA page_size = \(csqlite_page_size)")
        try check(unsafe csqlite_reserve_checksums(pointer))
        hasChecksums = true
    }

    /// Checks each page of the file where it is read, and writes its checksum; called once, before anything is read.
    ///
    /// A page with another checksum is damaged, or the file is none with this application ID.
    func checkPages(application: UInt32) throws(KeychainStoreError) {
        precondition(unsafe checkedFile == nil && lateFile == nil, "called twice")
        unsafe checkedFile = csqlite_check_pages(pointer, application)
        guard unsafe checkedFile != nil else { throw .sqlite(SQLITE_NOMEM) }
    }

    // MARK: Serialization

    /// All bytes of the database, as in a file.
    func serialized() throws(KeychainStoreError) -> SecretBytes {
        var size: Int64 = 0
        guard let bytes = unsafe sqlite3_serialize(pointer, "main", &size, 0) else { throw .sqlite(SQLITE_NOMEM) }
        defer { unsafe sqlite3_free(bytes) }
        if hasChecksums { unsafe csqlite_seal_pages(bytes, size) }
        return unsafe SecretBytes(UnsafeBufferPointer(start: bytes, count: Int(size)).span)
    }

    /// Copies the file, exactly as it is on disk, to the end of `output`.
    ///
    /// Within a transaction that has changed nothing, this is the state that the transaction began with. The bytes are
    /// read through SQLite's own descriptor, because closing another one on this file would release SQLite's locks
    /// (fcntl(2), "Advisory record locking").
    ///
    /// - Throws: `KeychainStoreError.sqlite`; `StreamFailure` for `output`.
    func copyFile(to output: OpenFile) throws {
        try readFile { piece in try output.write(piece) }
    }

    /// Passes the bytes of the file to `body`, piece by piece.
    ///
    /// - Throws: `sqlite`, and what `body` throws.
    func readFile(_ body: (borrowing Span<UInt8>) throws -> Void) throws {
        var found: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe withUnsafeMutablePointer(to: &found) { found in
            unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_FILE_POINTER, found)
        }
        try check(code)
        guard let file = unsafe found, let methods = unsafe file.pointee.pMethods,
            let readSize = unsafe methods.pointee.xFileSize, let read = unsafe methods.pointee.xRead
        else { throw KeychainStoreError.sqlite(SQLITE_MISUSE) }
        var size: Int64 = 0
        try check(unsafe readSize(file, &size))
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(size - offset, Int64(piece.count)))
            let code = unsafe piece.withUnsafeMutableBytes { buffer in
                unsafe read(file, buffer.baseAddress, Int32(count), offset)
            }
            try check(code)
            try body(piece.span.extracting(0..<count))
            offset += Int64(count)
        }
    }

    /// Makes the connection distrust its file, and limits foreign text and large allocations.
    ///
    /// This must precede the first statement that reads the file (SQLite: "Defense Against The Dark Arts").
    func distrustFile() throws(KeychainStoreError) {
        let flags: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 0),
        ]
        for (flag, value) in flags { try check(unsafe csqlite_set_flag(pointer, flag, value)) }
        let limits: [(Int32, Int32)] = [
            // Bytes of one row: the largest secret, all attributes and their frame.
            (SQLITE_LIMIT_LENGTH, Int32(ItemLimits.secretSize + 2 * ItemLimits.attributesSize)),
            // Bytes of one statement: this program's are below 8 KiB, except that a query may list many access groups.
            (SQLITE_LIMIT_SQL_LENGTH, 65_536), (SQLITE_LIMIT_COLUMN, 64), (SQLITE_LIMIT_VDBE_OP, 100_000),
            (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        ]
        for (limit, value) in limits { unsafe sqlite3_limit(pointer, limit, value) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
