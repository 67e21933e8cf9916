import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

/// With one wrong bit in the file, every read returns what was written or reports damage.
@Suite struct BitRotTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let items: [Item]
    private let whole: [UInt8]

    init() throws {
        bench = try Bench()
        let keychain = try bench.create()
        var items: [Item] = []
        for account in ["ann", "bob", "eve"] {
            let sync = AttributeValue.number(account == "eve" ? 1 : 0)
            items.append(try keychain.add(password(account, [.sync: sync]), secret: account.secret, now: moment(1)))
        }
        let deleted = try keychain.add(password("old", [.sync: .number(1)]), secret: "x".secret, now: moment(1))
        try keychain.delete(matching: ItemQuery(deleted), now: moment(2))
        self.items = items
        whole = try bench.folder.read("login.keychain")
    }

    /// The results of all ways of reading the file, or nil if any of them reports damage.
    private func reading() throws -> Reading? {
        do {
            let keychain = try bench.open()
            let visit = try keychain.visit()
            let listed = try keychain.find(ItemQuery())
            var walked: [Item] = []
            let unreadable = try keychain.walk(ItemQuery()) { walked.append($0) }
            guard visit.damaged.isEmpty, listed.damaged == 0, unreadable == 0 else { return nil }
            var found: [Item] = []
            var secrets: [String?] = []
            for item in items {
                let byUUID = try keychain.find(ItemQuery(item))
                let byKey = try keychain.find(
                    ItemQuery(itemClass: .genericPassword, attributes: [.acct: item.attributes[.acct] ?? .text("")]))
                guard byUUID.damaged == 0, byKey.damaged == 0 else { return nil }
                found += byUUID.items + byKey.items
                secrets.append(try keychain.text(of: item))
            }
            return Reading(
                visited: visit.items, listed: listed.items, walked: walked, found: found, secrets: secrets,
                tombstones: try keychain.information().tombstoneCount)
        } catch is KeychainStoreError {
            return nil
        }
    }

    private struct Reading: Hashable {
        let visited: [Item]
        let listed: [Item]
        let walked: [Item]
        let found: [Item]
        let secrets: [String?]
        let tombstones: Int
    }

    @Test("Flipping a bit in a page of items or of an index never hides an item")
    func everyByte() throws {
        let expected = try #require(try reading())
        #expect(expected.listed == items && expected.tombstones == 1)
        let roots = try bench.alter("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'genp'")
        var noticed = 0
        for page in roots.compactMap(\.first?.integer) {
            let step = Environment.has("FLIPS", "all") ? 1 : 3
            for offset in stride(from: (page - 1) * 4096, to: page * 4096, by: step) {
                // Skips most of the unused bytes, which are many and all alike.
                if whole[offset] == 0, offset % 4096 > 64, offset % 64 != 0 { continue }
                var bytes = whole
                bytes[offset] ^= 1 << UInt8(offset * 5 % 8)
                try bench.folder.write("login.keychain", bytes)
                let found = try reading()
                if found == nil { noticed += 1 }
                #expect(found == nil || found == expected, "page \(page), byte \(offset % 4096)")
            }
        }
        #expect(noticed > 100)
    }

    @Test(
        "A tombstone with a secret and a row with an invalid tombstone flag are damage",
        arguments: ["tomb = 1", "tomb = 2", "tomb = -1"])
    func hiddenItem(assignment: String) throws {
        try bench.alter("UPDATE genp SET \(assignment) WHERE acct = CAST('ann' AS BLOB)")
        let keychain = try bench.open()
        #expect(try keychain.visit().damaged.count == 1)
        #expect(try keychain.find(ItemQuery()) == ItemMatches(items: Array(items.dropFirst()), damaged: 1))
        #expect(try keychain.find(ItemQuery(items[0])).damaged == 1)
        #expect(throws: KeychainStoreError.itemDamaged(items[0].uuid)) { try keychain.text(of: items[0]) }
        #expect(try keychain.information().itemCounts[.genericPassword] == 3)
    }

    /// Flips a bit in one of the two places where the UUID is stored.
    private func flip(_ uuid: ItemUUID, occurrence: Int) throws {
        let wanted = uuid.bytes
        var places: [Int] = []
        for start in whole.indices.dropLast(16) where whole[start..<start + 16].elementsEqual(wanted) {
            places.append(start)
        }
        #expect(places.count == 2, "one in the table, one in the index")
        var bytes = whole
        bytes[places[occurrence]] ^= 4
        try bench.folder.write("login.keychain", bytes)
    }

    @Test("A wrong UUID in the table or its index is damage and never a missing item", arguments: 0..<2)
    func changedUUID(occurrence: Int) throws {
        try flip(items[0].uuid, occurrence: occurrence)
        let keychain = try bench.open()
        // A lookup takes the UUID from the index, where it may be the correct one.
        do {
            #expect(try keychain.text(of: items[0]) == "ann")
        } catch let error as KeychainStoreError {
            #expect(error != .itemNotFound)
        }
        do throws(KeychainStoreError) {
            let matches = try keychain.find(ItemQuery(items[0]))
            #expect(matches.damaged == 1 || matches.items == [items[0]])
        } catch {
            #expect(error == .indexMismatch)
        }
        // A list uses both.
        do {
            var walked: [Item] = []
            let unreadable = try keychain.walk(ItemQuery()) { walked.append($0) }
            #expect(unreadable == 1 || walked == items)
        } catch let error as KeychainStoreError {
            #expect(error == .indexMismatch)
        }
        // A backup uses the unique key, and therefore the UUID in the table.
        do {
            let visit = try keychain.visit()
            #expect(visit.damaged.map(\.?.attributes[.acct]) == [.text("ann")] || visit.items == items)
        } catch let error as KeychainStoreError {
            #expect(error == .indexMismatch)
        }
        for item in try keychain.find(ItemQuery()).items where item.attributes[.acct] == .text("ann") {
            do throws(KeychainStoreError) {
                _ = try keychain.secret(of: item)
                Issue.record("the seal is broken or the index is")
            } catch {
                #expect(error != .itemNotFound)
            }
        }
    }

    @Test("A condition applies to both passes of a walk and to a search")
    func condition() throws {
        let keychain = try bench.open()
        var measured: [Item] = []
        var shown: [Item] = []
        let wanted = items[1]
        try keychain.walk(
            ItemQuery(), where: { $0 == wanted }, first: { item, _ in measured.append(item) }, { shown.append($0) })
        #expect(measured == [wanted] && shown == [wanted])
        #expect(try keychain.find(ItemQuery(), where: { $0 == wanted }).items == [wanted])
    }

    @Test("A walk reads every item before it shows the first one")
    func walk() throws {
        let keychain = try bench.open()
        var measured: [Item] = []
        var shown: [Item] = []
        let damaged = try keychain.walk(ItemQuery(), first: { item, _ in measured.append(item) }) { item in
            #expect(measured == items)
            shown.append(item)
        }
        #expect(damaged == 0 && shown == items)
        #expect(try keychain.storedSecret(of: items[0]).count == SealedFrame.overhead + 3)
    }

    @Test("A walk shows items that were replaced between its passes, and leaves out those that were deleted")
    func replacedMeanwhile() throws {
        let keychain = try bench.open()
        var shown: [Item] = []
        try keychain.walk(
            ItemQuery(),
            unless: {
                #expect(throws: Never.self) {
                    try keychain.writeItems { writer in
                        // As a restore does it: another row takes its place.
                        var line = SecretBytes(capacity: 1_024)
                        ItemLine.encode(items[0], into: &line)
                        try line.withBytes { line in
                            try writer.put(
                                items[0], line: line, secret: SecretBytes(copying: "ann".utf8), in: .plain,
                                replacing: items[0])
                        }
                    }
                    _ = try bench.open().delete(matching: ItemQuery(items[1]), now: moment(9))
                }
                return false
            }, { shown.append($0) })
        #expect(shown == items.filter { $0 != items[1] })
        var measured: [Item] = []
        try keychain.walk(ItemQuery(), first: { item, _ in measured.append(item) }, unless: { true }) { _ in
            Issue.record("the second pass was not needed")
        }
        #expect(measured == shown)
    }
}
