import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite struct ConnectionTests {
    // Retains the temporary folder for the whole test.
    private let bench = try? Bench()

    private struct StopHere: Error {}

    private func connection() throws -> (Connection, Bench) {
        let bench = try #require(bench)
        return (try bench.create().connection, bench)
    }

    private func failed(_ connection: Connection) throws -> Int64 {
        let transaction = try connection.beginReading()
        let failed = try failed(transaction.database)
        try transaction.commit()
        return failed
    }

    private func failed(_ database: Database) throws -> Int64 {
        let row = try SQLStatement("SELECT failed FROM attempts", on: database)
        return try row.step() ? row.integer(0) : -1
    }

    @Test("A read transaction cannot write and sees one state")
    func reading() throws {
        let (connection, bench) = try connection()
        #expect(throws: KeychainStoreError.readOnly) {
            try connection.read { database throws(KeychainStoreError) in
                try SQLStatement("UPDATE attempts SET failed = 3", on: database).run()
            }
        }
        let other = try bench.open(lockWait: .zero).connection
        let transaction = try connection.beginReading()
        #expect(try failed(transaction.database) == 0)
        #expect(throws: KeychainStoreError.busy) {
            try other.write { try SQLStatement("UPDATE attempts SET failed = 3", on: $0).run() }
        }
        #expect(try failed(transaction.database) == 0)
        try transaction.commit()
        // The failed commit left no trace, and its connection still works.
        #expect(try failed(other) == 0)
        try other.write { try SQLStatement("UPDATE attempts SET failed = 3", on: $0).run() }
        #expect(try failed(connection) == 3)
    }

    @Test("An error thrown by a body is passed on, and nothing is written")
    func rollBack() throws {
        let (connection, _) = try connection()
        #expect(throws: StopHere.self) {
            try connection.write { database in
                try SQLStatement("UPDATE attempts SET failed = 3", on: database).run()
                throw StopHere()
            }
        }
        #expect(try failed(connection) == 0)
    }

    @Test("After SQLite rolls a transaction back, further statements fail and nothing is committed")
    func lostTransaction() throws {
        let (connection, _) = try connection()
        func lose(_ database: Database) throws {
            try SQLStatement("UPDATE attempts SET failed = 3", on: database).run()
            // As on a full disk, where SQLite rolls back on its own.
            #expect(throws: KeychainStoreError.self) {
                try database.execute("ROLLBACK; SELECT no_such_function()")
            }
            #expect(throws: KeychainStoreError.sqlite(4)) {
                try SQLStatement("UPDATE attempts SET failed = 4", on: database).run()
            }
        }
        #expect(throws: KeychainStoreError.sqlite(4)) { try connection.write(lose) }
        #expect(try failed(connection) == 0)
    }

    @Test("A keychain in a symbolically linked folder opens, but a linked keychain file does not")
    func links() throws {
        let (_, bench) = try connection()
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("linked"), withDestinationPath: bench.folder.path)
        #expect(try bench.open(at: folder.path("linked/login.keychain")).items() == [])
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("x.keychain"), withDestinationPath: bench.path)
        #expect(throws: KeychainStoreError.file(FileFailure(folder.path("x.keychain"), .notRegular))) {
            try Database(fileAt: folder.path("x.keychain"), lockWait: .zero)
        }
        #expect(throws: KeychainStoreError.notFound(folder.path("y.keychain"))) {
            try Database(fileAt: folder.path("y.keychain"), lockWait: .zero)
        }
    }
}

@Suite struct SQLiteCodeTests {
    /// A result code, the system error number behind it, and the resulting error.
    struct Example: Sendable {
        let code: Int32
        let errorNumber: Int32
        let meaning: KeychainStoreError

        init(_ primary: Int32, _ extension: Int32, _ errorNumber: Int32, _ meaning: KeychainStoreError) {
            code = primary | `extension` << 8
            self.errorNumber = errorNumber
            self.meaning = meaning
        }

        init(_ primary: Int32, _ extension: Int32, _ errorNumber: Int32, doing: String) {
            self.init(primary, `extension`, errorNumber, .file(FileFailure("/x", .system(errorNumber, doing: doing))))
        }
    }

    static let examples: [Example] = [
        Example(10, 1, EIO, doing: "reading"),
        Example(10, 3, EDQUOT, doing: "writing"),
        Example(10, 4, EIO, doing: "making durable"),
        Example(10, 15, ENOLCK, doing: "locking"),
        Example(10, 10, EACCES, doing: "removing the journal of"),
        // A page that the device cannot read.
        Example(11, 0, EIO, doing: "reading"),
        Example(11, 0, 0, .damaged("the database is malformed")),
        Example(11, 1, 0, .damaged("the database is malformed")),
        Example(14, 0, EMFILE, doing: "opening"),
        Example(14, 0, ENOENT, .notFound("/x")),
        Example(14, 6, ELOOP, .file(FileFailure("/x", .notRegular))),
        Example(14, 0, 0, .sqlite(14)),
        Example(10, 12, 0, .sqlite(7)),
        Example(7, 0, 0, .sqlite(7)),
        Example(13, 0, ENOSPC, .diskFull),
        Example(8, 0, 0, .readOnly),
        Example(8, 3, 0, .readOnly),
        Example(8, 4, 0, .notFound("/x")),
        Example(5, 0, 0, .busy),
        Example(6, 0, 0, .busy),
        Example(26, 0, 0, .notAKeychain(.notADatabase)),
        Example(19, 8, 0, .duplicateItem),
        Example(19, 6, 0, .duplicateItem),
        Example(19, 12, 0, .sqlite(3091)),
        Example(18, 0, 0, .damaged("a row is larger than an item can be")),
        Example(9, 0, 0, .interrupted),
        Example(1, 0, 0, .sqlite(1)),
    ]

    @Test("An I/O failure reports the system's reason, and only a malformed file is damaged", arguments: examples)
    func meaning(example: Example) {
        let found = KeychainStoreError(sqliteCode: example.code, systemError: example.errorNumber, "/x")
        #expect(found == example.meaning)
    }

    @Test("Every SQLite result code has a description", arguments: Int32(1)...26)
    func words(code: Int32) {
        #expect(!KeychainStoreError.words(ofSQLiteCode: code).isEmpty)
    }
}
