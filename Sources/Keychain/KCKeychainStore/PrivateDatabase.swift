internal import KCByteStreams

/// A SQLite file of this program that is not a keychain, kept as one: private, with its own tables and no others.
///
/// Each page has a checksum, since nothing else proves what the file answers: a row that was lost in silence would look
/// like one that never was.
///
/// ```swift
/// let database = try PrivateDatabase(at: path, format, lockWait: .seconds(10))
/// let count = try database.read {
///     let rows = try database.statement("SELECT count(*) FROM archive")
///     return try rows.step() ? rows.integer(0) : 0
/// }
/// ```
package final class PrivateDatabase {
    /// The header and the schema of the file.
    package struct Format: Sendable {
        let applicationID: UInt32
        let version: Int64
        let tables: [String]
        let fullText: String

        /// Describes a format.
        ///
        /// - Parameters:
        ///   - applicationID: four characters in ASCII.
        ///   - version: counts up with each change of the tables.
        ///   - tables: the statements that create them, in SQLite's own spelling.
        ///   - fullText: the name of the table for full-text search, whose own tables have names that begin with it.
        package init(applicationID: UInt32, version: Int64, tables: [String], fullText: String) {
            self.applicationID = applicationID
            self.version = version
            self.tables = tables
            self.fullText = fullText
        }
    }

    private let database: Database
    // KiB of page cache, beside which the file is cached by the system.
    private static let cacheSize = 32_768

    /// Creates an empty file, mode 0600.
    ///
    /// - Throws: `exists` if the name is taken.
    package static func create(at path: String, _ format: Format) throws(KeychainStoreError) {
        let location = KeychainPath(path)
        if try location.identity() != nil { throw .exists(path) }
        try location.requireNothingBeside()
        let bytes = try Connection.newFile { database throws(KeychainStoreError) in
            try database.reserveChecksums()
            try database.execute(
                "PRAGMA application_id = \(format.applicationID); PRAGMA user_version = \(format.version)")
            for table in format.tables { try database.execute(table) }
        }
        do {
            try PrivateFile.create(location.path, bytes)
        } catch {
            throw error.problem == .exists ? .exists(path) : .file(error)
        }
    }

    /// Opens a file.
    ///
    /// - Parameter lockWait: how long a transaction waits for another process.
    /// - Throws: `notAKeychain` for a file of another format.
    package init(at path: String, _ format: Format, lockWait: Duration) throws(KeychainStoreError) {
        let location = KeychainPath(path)
        try location.examine()
        database = try Database(fileAt: location.path, lockWait: lockWait)
        try database.checkPages(application: format.applicationID)
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
        try verify(format)
    }

    private func verify(_ format: Format) throws(KeychainStoreError) {
        guard try number("PRAGMA application_id") == Int64(format.applicationID) else {
            throw .notAKeychain(.otherApplication)
        }
        let found = try number("PRAGMA user_version")
        guard found <= format.version else {
            throw .newerFormat(found: Int(clamping: found), known: Int(format.version))
        }
        guard found == format.version else { throw .notAKeychain(.otherSchema) }
        var expected = Set(format.tables.map { Array($0.utf8) })
        let rows = try SQLStatement("SELECT sql, name, type FROM sqlite_schema", on: database)
        while try rows.step() {
            let cells = (0..<3).map { column in rows.withBytes(column) { bytes in bytes.indices.map { bytes[$0] } } }
            if expected.remove(cells[0]) != nil { continue }
            guard cells[1].starts(with: Array((format.fullText + "_").utf8)), cells[2] == Array("table".utf8) else {
                throw .notAKeychain(.otherSchema)
            }
        }
        guard expected.isEmpty else { throw .notAKeychain(.otherSchema) }
    }

    private func number(_ sql: String) throws(KeychainStoreError) -> Int64 {
        let statement = try SQLStatement(sql, on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        return statement.integer(0)
    }

    /// Compiles a statement that is written in this program, for use in the transaction that is open.
    package func statement(_ sql: String) throws(KeychainStoreError) -> SQLStatement {
        try SQLStatement(sql, on: database)
    }

    /// The row that was inserted last.
    package var lastInsertedRow: Int64 { database.lastInsertedRow }

    /// Runs `body` in a read transaction, which sees one state of the file.
    ///
    /// - Throws: `KeychainStoreError`, and what `body` throws.
    package func read<Result>(_ body: () throws -> Result) throws -> Result { try transaction(false, body) }

    /// Runs `body` in a write transaction, which is durable when this returns; nothing is changed if `body` throws.
    ///
    /// - Throws: `KeychainStoreError`, and what `body` throws.
    package func write<Result>(_ body: () throws -> Result) throws -> Result { try transaction(true, body) }

    private func transaction<Result>(_ isWriting: Bool, _ body: () throws -> Result) throws -> Result {
        try database.begin(writing: isWriting)
        do {
            let result = try body()
            try database.commit()
            return result
        } catch {
            database.rollBack()
            throw error
        }
    }
}
