import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite struct HostileFileTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
        let keychain = try bench.create()
        for account in ["ann", "bob"] { try keychain.add(password(account), secret: "x".secret, now: moment(1)) }
    }

    private func expectRefusal(_ expected: KeychainStoreError, _ location: SourceLocation = #_sourceLocation) {
        #expect(throws: expected, sourceLocation: location) { try bench.open() }
    }

    @Test(
        "A file whose schema differs in any way is refused",
        arguments: [
            "CREATE TABLE more(x)", "CREATE INDEX more ON genp(acct)", "CREATE VIEW more AS SELECT * FROM genp",
            "CREATE TRIGGER more AFTER INSERT ON genp BEGIN DELETE FROM inet; END", "DROP INDEX genp_uuid",
            "DROP TABLE attempts", "ALTER TABLE genp ADD COLUMN more BLOB",
            "ALTER TABLE cert RENAME COLUMN labl TO more",
            "CREATE VIRTUAL TABLE more USING fts5(x)", "DROP INDEX genp_key; CREATE INDEX genp_key ON genp(acct)",
            "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,'acct','ACCT') WHERE name='genp'",
            "ANALYZE",
        ])
    func schema(sql: String) throws {
        try bench.alter(sql)
        expectRefusal(.notAKeychain(.otherSchema))
    }

    @Test("Another program's database and a newer format are refused with the reason")
    func header() throws {
        try bench.alter("PRAGMA application_id = 1")
        expectRefusal(.notAKeychain(.otherApplication))
        try bench.alter("PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 2")
        expectRefusal(.newerFormat(found: 2, known: 1))
        try bench.alter("PRAGMA user_version = 0")
        expectRefusal(.notAKeychain(.otherSchema))
        try bench.alter("PRAGMA user_version = 1")
        _ = try bench.open()
    }

    @Test("Garbage and an empty file are refused and left unchanged", arguments: [0, 1, 100, 5_000])
    func garbage(count: Int) throws {
        var random = SeededRandom(seed: 1)
        let bytes = random.bytes(count)
        try FileManager.default.removeItem(atPath: bench.path)
        try bench.folder.write("login.keychain", bytes)
        #expect(throws: KeychainStoreError.self) { try bench.open() }
        #expect(try bench.folder.read("login.keychain") == bytes)
    }

    @Test("A truncated file is refused, or the loss is detected when it is read or checked")
    func truncated() throws {
        let bytes = try bench.folder.read("login.keychain")
        for size in stride(from: 0, to: bytes.count, by: 4_096) {
            for cut in [size, size + 1_000] where cut < bytes.count {
                try FileManager.default.removeItem(atPath: bench.path)
                try bench.folder.write("login.keychain", Array(bytes[..<cut]))
                #expect(throws: KeychainStoreError.self, "cut to \(cut) bytes") {
                    let keychain = try bench.open()
                    _ = try keychain.visit()
                    try keychain.checkIntegrity()
                }
            }
        }
    }

    @Test("Random damage never causes a crash or reveals a wrong secret")
    func damaged() throws {
        let bytes = try bench.folder.read("login.keychain")
        var random = SeededRandom(seed: 3)
        for _ in 0..<150 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            try FileManager.default.removeItem(atPath: bench.path)
            try bench.folder.write("login.keychain", damaged)
            guard let keychain = try? bench.open(), let visit = try? keychain.visit() else { continue }
            #expect(visit.secrets.allSatisfy { $0 == Array("x".utf8) })
        }
    }

    @Test("An exposed, linked or irregular file is refused")
    func exposed() throws {
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bench.path)
        expectRefusal(.file(FileFailure(bench.path, .exposed(mode: 0o644))))
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.path)
        try manager.linkItem(atPath: bench.path, toPath: bench.folder.path("second"))
        expectRefusal(.severalNames(bench.path))
        try manager.removeItem(atPath: bench.path)
        try manager.createSymbolicLink(atPath: bench.path, withDestinationPath: bench.folder.path("second"))
        expectRefusal(.file(FileFailure(bench.path, .notRegular)))
        try manager.removeItem(atPath: bench.path)
        try manager.createDirectory(atPath: bench.path, withIntermediateDirectories: false)
        expectRefusal(.file(FileFailure(bench.path, .notRegular)))
        try manager.removeItem(atPath: bench.path)
        expectRefusal(.notFound(bench.path))
        #expect(try bench.folder.list().contains("login.keychain") == false)
    }

    @Test("A journal that this program would not write is refused")
    func journals() throws {
        let manager = FileManager.default
        for suffix in ["-wal", "-shm"] {
            try bench.folder.write("login.keychain" + suffix, [1])
            expectRefusal(.foreignJournal(bench.path + suffix))
            try manager.removeItem(atPath: bench.path + suffix)
        }
        try bench.folder.write("login.keychain-journal", [1], mode: 0o644)
        expectRefusal(.file(FileFailure(bench.path + "-journal", .exposed(mode: 0o644))))
        try manager.removeItem(atPath: bench.path + "-journal")
        try manager.createSymbolicLink(atPath: bench.path + "-journal", withDestinationPath: bench.path)
        expectRefusal(.file(FileFailure(bench.path + "-journal", .notRegular)))
    }

    @Test("Another device's keychain is refused, and so are a changed record and a missing one")
    func otherDevice() throws {
        let stranger = try DeviceKey.generate()
        #expect(throws: KeychainStoreError.otherDevice(bench.device.id)) {
            try Keychain.open(at: bench.path, deviceKey: stranger)
        }
        try bench.alter("UPDATE keychain SET created = created + 1")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
        try bench.alter("UPDATE keychain SET created = created - 1, store = x'00112233445566778899aabbccddeeff'")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
        try bench.alter("DELETE FROM keychain")
        #expect(throws: KeychainStoreError.self) { try bench.open() }
    }

    @Test("An existing file is not overwritten")
    func exists() throws {
        let bytes = try bench.folder.read("login.keychain")
        #expect(throws: KeychainStoreError.exists(bench.path)) { try bench.create() }
        #expect(try bench.folder.read("login.keychain") == bytes)
    }

    @Test("A new keychain is a single private file, and an interrupted creation leaves nothing")
    func created() throws {
        let fresh = try Bench()
        _ = try fresh.create()
        #expect(try fresh.folder.list() == ["login.keychain"])
        let attributes = try FileManager.default.attributesOfItem(atPath: fresh.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(throws: KeychainStoreError.file(FileFailure(fresh.folder.path("no"), .notFound))) {
            try fresh.create(at: fresh.folder.path("no/login.keychain"))
        }
        #expect(try fresh.folder.list() == ["login.keychain"])
    }

    @Test("A name that SQLite would interpret specially is treated as a file name")
    func oddNames() throws {
        for name in ["file:x?mode=memory", ":memory:", "a b%20c"] {
            let path = bench.folder.path(name)
            try bench.create(at: path).add(password("ann"), secret: nil, now: moment(1))
            #expect(try bench.open(at: path).items().count == 1)
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("The connection is durable, does not trust the file, and cannot attach other files")
    func settings() throws {
        let database = try bench.open().connection.database
        let expected = [
            "synchronous": 3, "cell_size_check": 1, "mmap_size": 0, "temp_store": 2, "secure_delete": 1,
            "trusted_schema": 0, "foreign_keys": 0,
        ]
        for (name, value) in expected {
            let answer = try SQLStatement("PRAGMA \(name)", on: database)
            // If SQLite is built without memory mapping, this pragma returns no row.
            #expect(try (answer.step() ? answer.integer(0) : 0) == value, "\(name)")
        }
        let mode = try SQLStatement("PRAGMA journal_mode", on: database)
        #expect(try mode.step() && mode.withBytes(0) { bytes in bytes.count } == 6)
        for sql in [
            "ATTACH ':memory:' AS other", "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema",
            "SELECT load_extension('x')", "SELECT \"no such column\"",
            "SELECT zeroblob(\(ItemLimits.secretSize + 3 * ItemLimits.attributesSize))",
        ] {
            #expect(throws: KeychainStoreError.self, "\(sql)") { try database.execute(sql) }
        }
    }

    @Test("The schema of format version 1 never changes")
    func golden() {
        let text = Schema.entries.map { "\($0.type) \($0.name) \($0.table) \($0.sql)\n" }.joined()
        #expect(SHA256.hash(text.utf8.span).hex == "ba9c48d17d1cd9da4bdf9cffea28fa61d90b00314e261bd9ad85876c58f10f64")
    }
}
