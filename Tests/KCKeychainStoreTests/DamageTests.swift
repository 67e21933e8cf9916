import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

@Suite struct DamageTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let ann: Item
    private let bob: Item

    init() throws {
        bench = try Bench()
        let keychain = try bench.create()
        ann = try keychain.add(password("ann", [.labl: .text("bank")]), secret: "1".secret, now: moment(1))
        bob = try keychain.add(password("bob", [.labl: .text("forum")]), secret: "2".secret, now: moment(1))
    }

    private func expectDamage(of item: Item, _ location: SourceLocation = #_sourceLocation) throws {
        let keychain = try bench.open()
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid), sourceLocation: location) {
            try keychain.text(of: item)
        }
        let visit = try keychain.visit()
        #expect(visit.damaged.count == 1 && visit.items.count == 1, sourceLocation: location)
        #expect(visit.items.first != item, sourceLocation: location)
    }

    @Test(
        "An attribute changed by another program breaks the seal",
        arguments: [
            "labl = CAST('forum' AS BLOB)", "labl = NULL", "icmt = x''", "cdat = cdat + 1", "mdat = mdat - 1",
            "acct = CAST('eve' AS BLOB)", "agrp = CAST('eve' AS BLOB)", "sync = 1", "pdmn = CAST('dk' AS BLOB)",
            "pdmn = CAST('aku' AS BLOB)", "odd = 'labl'", "extra = '{\"a\":\"b\"}'",
            "uuid = x'00112233445566778899aabbccddeeff'",
        ])
    func changedAttribute(assignment: String) throws {
        try bench.alter("UPDATE genp SET \(assignment) WHERE acct = CAST('ann' AS BLOB)")
        let keychain = try bench.open()
        let visit = try keychain.visit()
        #expect(visit.items == [bob])
        #expect(visit.damaged.count == 1)
        let changed = try #require(try keychain.items().first { $0 != bob })
        #expect(throws: KeychainStoreError.itemDamaged(changed.uuid)) { try keychain.text(of: changed) }
        #expect(throws: KeychainStoreError.itemDamaged(changed.uuid)) {
            try keychain.update(matching: ItemQuery(changed), set: [:], secret: "new".secret, now: moment(2))
        }
    }

    @Test("Secrets swapped between two rows do not open")
    func exchanged() throws {
        try bench.alter(
            """
            CREATE TEMP TABLE old AS SELECT uuid, data FROM genp;
            UPDATE genp SET data = (SELECT data FROM old WHERE old.uuid <> genp.uuid)
            """)
        let keychain = try bench.open()
        for item in [ann, bob] {
            #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) { try keychain.text(of: item) }
        }
        #expect(try keychain.visit().damaged == [ann, bob])
    }

    @Test("A sealed secret that is changed in any byte, truncated or removed is refused")
    func changedSecret() throws {
        let blob = try #require(
            try bench.alter("SELECT data FROM genp WHERE acct = CAST('ann' AS BLOB)").first?.first?.blob)
        #expect(blob.count == 1 + SealedFrame.overhead)
        let update = "UPDATE genp SET data = ? WHERE acct = CAST('ann' AS BLOB)"
        for index in blob.indices {
            var changed = blob
            changed[index] ^= 4
            try bench.alter(update, [.blob(changed)])
            #expect(throws: KeychainStoreError.itemDamaged(ann.uuid), "byte \(index)") {
                try bench.open().text(of: ann)
            }
        }
        try bench.alter(update, [.blob(blob)])
        #expect(try bench.open().text(of: ann) == "1")
        for data in ["x'01020304'", "x''", "NULL", "substr(data, 1, 49)", "CAST(data || x'00' AS BLOB)"] {
            let before = try bench.folder.read("login.keychain")
            try bench.alter("UPDATE genp SET data = \(data) WHERE acct = CAST('ann' AS BLOB)")
            try expectDamage(of: ann)
            try bench.folder.write("login.keychain", before)
        }
    }

    @Test("An unencrypted certificate changed by another program is refused")
    func certificate() throws {
        let keychain = try bench.create(at: bench.folder.path("c.keychain"))
        let item = try keychain.add(draft(.certificate, [.subj: .data([1])]), secret: "public".secret, now: moment(1))
        let stored = try keychain.visit(.stored).secrets[0]
        #expect(String(decoding: stored.suffix(6), as: UTF8.self) == "public")
        try SQLiteFile(bench.folder.path("c.keychain"))
            .run("UPDATE cert SET data = CAST(replace(data, 'public', 'forged') AS BLOB)")
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) {
            try bench.open(at: bench.folder.path("c.keychain")).text(of: item)
        }
    }

    @Test(
        "An invalid row is counted, never returned, and does not prevent reading other rows",
        arguments: [
            "pdmn = CAST('zz' AS BLOB)", "pdmn = NULL", "agrp = NULL", "cdat = NULL", "mdat = 9223372036854775807",
            "sync = 7", "labl = x'ff'", "extra = '{'", "extra = '{}'", "odd = 'nope'", "odd = ''",
            "extra = '{\"b\":\"\",\"a\":\"\"}'", "odd = 'gena'", "odd = 'acct,acct'", "odd = 'cdat'",
        ])
    func invalidRow(assignment: String) throws {
        try bench.alter("UPDATE genp SET \(assignment) WHERE acct = CAST('ann' AS BLOB)")
        let keychain = try bench.open()
        let matches = try keychain.find(ItemQuery())
        #expect(matches.items == [bob] && matches.damaged == 1)
        let visit = try keychain.visit()
        #expect(visit.items == [bob] && visit.damaged == [nil])
        #expect(throws: KeychainStoreError.itemDamaged(ann.uuid)) { try keychain.text(of: ann) }
        #expect(try keychain.readItems { try $0.item(withKeyOf: ann) } == nil)
    }

    @Test("A damaged row is replaced by an added item and by an updated one")
    func givesWay() throws {
        try bench.alter("UPDATE genp SET data = x'01020304' WHERE acct = CAST('ann' AS BLOB)")
        let keychain = try bench.open()
        let again = try keychain.add(password("ann"), secret: "new".secret, now: moment(2))
        #expect(try keychain.text(of: again) == "new")
        try bench.alter("UPDATE genp SET labl = x'21' WHERE acct = CAST('ann' AS BLOB)")
        let moved = try keychain.update(matching: ItemQuery(bob), set: [.acct: .text("ann")], now: moment(3))
        #expect(moved.map(\.uuid) == [bob.uuid])
        #expect(try keychain.items().count == 1)
        #expect(try keychain.text(of: bob) == "2")
    }

    @Test("A row whose key is locked is not treated as damaged, so adding over it is a duplicate")
    func lockedIsNotDamaged() throws {
        let path = bench.folder.path("l.keychain")
        let keychain = try bench.create(passcode: "open", at: path)
        try keychain.add(password("ann"), secret: nil, now: moment(1))
        keychain.lock()
        #expect(throws: KeychainStoreError.duplicateItem) {
            try keychain.add(password("ann", [.pdmn: .text("dk")]), secret: nil, now: moment(2))
        }
    }

    @Test("A damaged row can be deleted")
    func deletable() throws {
        try bench.alter("UPDATE genp SET pdmn = NULL WHERE acct = CAST('ann' AS BLOB)")
        let keychain = try bench.open()
        let deleted = try keychain.delete(matching: ItemQuery(attributes: [.acct: .text("ann")]), now: moment(2))
        #expect(deleted.items == [] && deleted.damaged == 1)
        #expect(try keychain.items() == [bob])
    }

    @Test("An index with missing entries is an error, not a keychain with fewer items")
    func lostEntries() throws {
        // Turns the root page of the key index into an empty leaf, which cuts off its entries.
        let root = try #require(
            try bench.alter("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_key'").first?.first?.integer)
        var bytes = try bench.folder.read("login.keychain")
        bytes.replaceSubrange((root - 1) * 4096..<(root - 1) * 4096 + 8, with: [10, 0, 0, 0, 0, 0x10, 0, 0])
        try bench.folder.write("login.keychain", bytes)
        let keychain = try bench.open()
        #expect(throws: KeychainStoreError.damaged("an index does not fit its table")) { try keychain.visit() }
        #expect(throws: KeychainStoreError.damaged("the database is malformed")) { try keychain.checkIntegrity() }
    }

    @Test("A page that the device does not read is not called damaged by the integrity check")
    func unreadablePage() throws {
        let keychain = try bench.open()
        let transaction = try keychain.connection.beginReading()
        // The first page and the schema are in memory from here on, and the file is locked.
        _ = try ItemTables(transaction.database).number("SELECT count(*) FROM keychain")
        let path = "/" + bench.path.split(separator: "/").suffix(2).joined(separator: "/")
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let links = descriptors.filter { descriptor in
            // Other tests close descriptors meanwhile.
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return link?.hasSuffix(path) ?? false
        }
        let own = try #require(links.max())
        // Nothing is at the first addresses of a process, and so reading there fails with EIO.
        let nothing = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        let whole = dup(own)
        dup2(nothing, own)
        defer {
            dup2(whole, own)
            close(whole)
            close(nothing)
        }
        #expect(throws: KeychainStoreError.file(FileFailure(bench.path, .system(EIO, doing: "reading")))) {
            try Keychain.checkIntegrity(transaction.database)
        }
    }

    @Test("An intact file passes the integrity check")
    func whole() throws {
        try bench.open().checkIntegrity()
    }
}
