import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Journals next to a keychain")
struct JournalTests {
    private let bench: Bench
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    init() throws {
        bench = try Bench()
        try bench.create().add(password("ann"), secret: "x".secret, now: moment(1))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// A journal without records that SQLite considers valid.
    private static func journal(pages: UInt32 = 1, sector: UInt32 = 512, page: UInt32 = 4_096) -> [UInt8] {
        let fields = [0, 7, pages, sector, page].flatMap(bigEndian)
        return (magic + fields + [UInt8](repeating: 0, count: 512)).prefix(512) + []
    }

    /// The record that makes SQLite delete `path`.
    private static func superJournal(_ path: String) -> [UInt8] {
        let name = Array(path.utf8)
        let checksum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        return bigEndian(0xffff_ffff) + name + bigEndian(UInt32(name.count)) + bigEndian(checksum) + magic
    }

    private func plant(_ journal: [UInt8]) throws {
        try bench.folder.write("login.keychain-journal", journal)
    }

    @Test(
        "A keychain is not created next to a leftover journal, which SQLite would play back into it",
        arguments: ["-journal", "-wal", "-shm"])
    func leftJournal(suffix: String) throws {
        let path = bench.folder.path("new.keychain")
        try bench.folder.write("new.keychain" + suffix, Self.journal())
        #expect(throws: KeychainStoreError.file(FileFailure(path + suffix, .exists))) {
            try Keychain.requireFree(at: path)
        }
        #expect(throws: KeychainStoreError.file(FileFailure(path + suffix, .exists))) {
            _ = try bench.create(at: path)
        }
        #expect(try bench.folder.list().filter { $0.hasPrefix("new") } == ["new.keychain" + suffix])
    }

    private func expectRefusal(_ location: SourceLocation = #_sourceLocation) {
        #expect(throws: KeychainStoreError.foreignJournal(bench.path + "-journal"), sourceLocation: location) {
            try bench.open()
        }
    }

    @Test("A planted journal that names another file as its super-journal does not delete it")
    func superJournal() throws {
        let victim = try bench.folder.write("victim", [1, 2, 3])
        for head in [Self.journal(), [1], [0], [], [UInt8](repeating: 0, count: 512)] {
            try plant(head + Self.superJournal(victim))
            expectRefusal()
            #expect(try bench.folder.read("victim") == [1, 2, 3])
        }
    }

    @Test("A journal with a header that this program does not write is refused, and changes nothing")
    func foreignHeader() throws {
        let before = try bench.folder.read("login.keychain")
        var changed = Self.journal()
        changed[7] ^= 1
        let bad: [[UInt8]] = [
            [1], Array("a text".utf8), changed, Array(Self.journal().prefix(27)), Self.journal(sector: 500),
            Self.journal(sector: 131_072), Self.journal(page: 256), Self.journal(page: 0), Self.journal(page: 4_097),
        ]
        for journal in bad {
            try plant(journal)
            expectRefusal()
            #expect(try bench.folder.read("login.keychain") == before)
        }
    }

    @Test("A planted journal in a folder that others can write to does not truncate the keychain")
    func sharedFolder() throws {
        let before = try bench.folder.read("login.keychain")
        try plant(Self.journal(pages: 0))
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: bench.folder.path)
        #expect(throws: KeychainStoreError.file(FileFailure(bench.folder.path, .sharedFolder(mode: 0o1777)))) {
            try bench.open()
        }
        #expect(throws: KeychainStoreError.self) { try bench.create(at: bench.folder.path("new.keychain")) }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: bench.folder.path)
        #expect(try bench.folder.read("login.keychain") == before)
    }

    @Test("A journal with a second name is refused: SQLite would write into the other file", arguments: [0, 600])
    func linked(count: Int) throws {
        let other = try bench.folder.write("other", [UInt8](repeating: 0, count: count))
        let before = try bench.folder.read("login.keychain")
        try FileManager.default.linkItem(atPath: other, toPath: bench.path + "-journal")
        expectRefusal()
        #expect(try bench.folder.read("login.keychain") == before)
        #expect(try bench.folder.read("other").count == count)
        try FileManager.default.removeItem(atPath: other)
        #expect(try bench.open().items().count == 1)
    }

    @Test("A journal that SQLite ignores (empty or starting with zero) is accepted", arguments: [0, 1, 28, 600])
    func cold(count: Int) throws {
        try plant([UInt8](repeating: 0, count: count))
        #expect(try bench.open().items().count == 1)
    }

    @Test("An interrupted change is rolled back when the keychain is next opened")
    func interruptedChange() throws {
        let other = try Bench(device: bench.device)
        let change = try bench.open().beginWriteTransaction()
        // With a tiny cache, SQLite writes the old pages to the journal and the new ones to the file.
        try change.database.execute("PRAGMA cache_size = 1")
        try change.database.execute("UPDATE genp SET labl = zeroblob(900000)")
        try change.database.execute("DELETE FROM keychain")
        for name in ["login.keychain", "login.keychain-journal"] {
            try other.folder.write(name, try bench.folder.read(name))
        }
        change.rollBack()
        let journal = try other.folder.read("login.keychain-journal")
        try #require(journal.prefix(8) == Self.magic[...])
        #expect(try other.open().items().map(\.attributes) == bench.open().items().map(\.attributes))
        #expect(try other.folder.list().contains("login.keychain-journal") == false)
    }

    @Test("A keychain still opens after a killed process left a second name")
    func secondName() throws {
        try FileManager.default.linkItem(atPath: bench.path, toPath: bench.folder.path(".kcbackup-1abc000000000.tmp"))
        #expect(try bench.open().items().count == 1)
        #expect(try bench.folder.list().contains(".kcbackup-1abc000000000.tmp") == false)
    }
}
