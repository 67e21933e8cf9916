import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// With one wrong bit in an index, each way to read gives exactly what was written or reports damage.
@Suite struct IndexRotTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let items: [Item]
    private let whole: [UInt8]

    /// Six items and two tombstones, of which the first has a row ID that takes no byte.
    init() throws {
        bench = try Bench(inMemory: true)
        let keychain = try bench.create()
        var items: [Item] = []
        try keychain.write { writer in
            for account in ["one", "ann", "bob", "cid", "dot", "eve"] {
                let draft = password(account, [.sync: .number(account == "eve" ? 1 : 0)])
                items.append(try writer.add(draft, secret: account.secret, now: moment(1)))
            }
            for account in ["abe", "old"] {
                let deleted = try writer.add(
                    password(account, [.sync: .number(1)]), secret: "x".secret, now: moment(1))
                try writer.delete(matching: ItemQuery(deleted), now: moment(2))
            }
        }
        self.items = items.sorted { $0.precedes($1) }
        whole = try bench.folder.read("login.keychain")
    }

    /// The bits to flip in the leaf of an index: all of the row IDs, and one of every third other byte.
    private func places(inIndex name: String) throws -> [(offset: Int, mask: UInt8)] {
        let roots = try bench.alter("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        let start = (try #require(roots.first?.first?.integer) - 1) * 4096
        #expect(whole[start] == 10, "a leaf of an index (sqlite.org/fileformat.html, 1.6)")
        let count = Int(whole[start + 4])
        #expect(count == items.count + 2)
        var places: [(offset: Int, mask: UInt8)] = []
        for cell in 0..<count {
            let pointer = start + 8 + 2 * cell
            let payload = start + Int(whole[pointer]) << 8 + Int(whole[pointer + 1])
            let end = payload + 1 + Int(whole[payload])
            for offset in stride(from: payload + cell % 3, to: end - 1, by: 3) {
                places.append((offset, 1 << UInt8(offset * 5 % 8)))
            }
            for bit in 0..<8 { places.append((end - 1, 1 << UInt8(bit))) }
        }
        return places
    }

    /// Nil if damage is reported; seals are left out, so that none of them tells what an index leads to.
    private func answer<Answer>(_ read: () throws -> Answer?) throws -> Answer? {
        do {
            return try read()
        } catch is KeychainStoreError {
            return nil
        }
    }

    private func find(_ query: ItemQuery, in keychain: Keychain) throws -> [Item]? {
        try answer {
            let found = try keychain.find(query)
            return found.damaged == 0 ? found.items : nil
        }
    }

    private func byKey(_ item: Item) -> ItemQuery {
        var query = ItemQuery(itemClass: .genericPassword)
        for code in item.itemClass.uniqueKey { query.attributes[code] = item.attributes[code] ?? Item.keyDefault(code) }
        return query
    }

    /// Checks one way of reading; true if it reports damage.
    private func check(_ found: [Item]?, _ expected: [Item], _ what: String, _ place: Int) -> Bool {
        #expect(found == nil || found == expected, "\(what), byte \(place % 4096) of page \(place / 4096 + 1)")
        return found == nil
    }

    @Test(
        "With a wrong bit in an index, no walk and no lookup gives other items", arguments: ["genp_key", "genp_uuid"])
    func everyWalk(index: String) throws {
        var noticed = 0
        let copy = bench.folder.path("copy.keychain")
        try bench.folder.write("copy.keychain", whole)
        for (offset, mask) in try places(inIndex: index) {
            var bytes = whole
            bytes[offset] ^= mask
            try bench.folder.write("login.keychain", bytes)
            let keychain = try bench.open()
            func check(_ what: String, _ expected: [Item], _ found: [Item]?) {
                if self.check(found, expected, what, offset) { noticed += 1 }
            }
            check("find", items, try find(ItemQuery(), in: keychain))
            check(
                "walk", items,
                try answer {
                    var walked: [Item] = []
                    return try keychain.walk(ItemQuery()) { walked.append($0) } == 0 ? walked : nil
                })
            for form in [SecretForm.plain, .stored] {
                check(
                    "visit", items,
                    try answer {
                        let visit = try keychain.visit(form)
                        return visit.damaged.isEmpty ? visit.items : nil
                    })
            }
            check(
                "difference", [],
                try answer {
                    var found: [Item] = []
                    try keychain.comparing(with: bench.open(at: copy)) { rows, now, _ in
                        try now.visit(rows.now) { item, _ in found.append(item) }
                    }
                    return found
                })
            var service = ItemQuery(itemClass: .genericPassword)
            service.require(.svce, "mail")
            check("service", items, try find(service, in: keychain))
            for item in items {
                check("key", [item], try find(byKey(item), in: keychain))
                check("UUID", [item], try find(ItemQuery(item), in: keychain))
            }
            let isSound = try answer {
                try keychain.readItems { existing in
                    try existing.requireSound()
                    for item in items {
                        #expect(try existing.item(withKeyOf: item) == item)
                        #expect(try existing.item(withUUID: item.uuid) == item)
                    }
                    return true
                }
            }
            #expect(isSound == nil, "byte \(offset % 4096)")
        }
        #expect(noticed > 100)
    }

    @Test("With a wrong row ID in an index, a change hits its own item or none", arguments: ["genp_key", "genp_uuid"])
    func everyChange(index: String) throws {
        let rows = "SELECT acct, tomb FROM genp NOT INDEXED ORDER BY CAST(acct AS TEXT)"
        let before = try bench.alter(rows)
        for (offset, mask) in try places(inIndex: index) where mask < 8 {
            var bytes = whole
            bytes[offset] ^= mask
            for item in items {
                try bench.folder.write("login.keychain", bytes)
                let keychain = try bench.open()
                let isDeleted = try answer {
                    try keychain.delete(matching: ItemQuery(item), now: moment(3)).damaged == 0
                }
                let account = SQLiteFile.Value.blob(item.attributes[.acct]?.keyBytes ?? [])
                let after = try bench.alter(rows)
                if isDeleted != true {
                    #expect(after == before, "byte \(offset % 4096)")
                } else if item.isSynchronizable {
                    #expect(after == before.map { $0[0] == account ? [account, .integer(1)] : $0 })
                } else {
                    #expect(after == before.filter { $0[0] != account }, "byte \(offset % 4096)")
                }
            }
        }
    }

    @Test("An item that an index hides or confuses is not added a second time where this can be seen")
    func addition() throws {
        for (offset, mask) in try places(inIndex: "genp_key") {
            var bytes = whole
            bytes[offset] ^= mask
            try bench.folder.write("login.keychain", bytes)
            let keychain = try bench.open()
            do {
                try keychain.add(password("ann"), secret: "2".secret, now: moment(3))
                #expect(try find(ItemQuery(), in: keychain) == nil, "two items with one key are damage")
            } catch let error as KeychainStoreError {
                #expect(error == .duplicateItem || error == .indexMismatch || "\(error)".contains("malformed"))
            }
        }
    }
}
