import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@Suite struct UniqueKeyTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    /// A value that differs from an attribute's default.
    static func other(_ code: AttributeCode) -> AttributeValue {
        switch code.kind {
        case .number: .number(1)
        case .date: .date(moment(3))
        case .string, .textOrData: .text("x")
        case .data, .dataOrText: .data([7])
        }
    }

    @Test(
        "Each variation of a key attribute allows exactly one item", arguments: ItemClass.allCases)
    func variations(itemClass: ItemClass) throws {
        let keychain = try bench.create()
        let drafts =
            [draft(itemClass, [:])]
            + itemClass.uniqueKey.filter { $0 != .sync }.map { draft(itemClass, [$0: Self.other($0)]) }
            + [draft(itemClass, [.sync: .number(1), .pdmn: .text("ck")])]
        for draft in drafts { try keychain.add(draft, secret: nil, now: moment(1)) }
        for draft in drafts {
            #expect(throws: KeychainStoreError.duplicateItem) { try keychain.add(draft, secret: nil, now: moment(2)) }
        }
        #expect(try keychain.items().count == drafts.count)
    }

    @Test("Attributes outside the unique key do not distinguish items")
    func notInKey() throws {
        let keychain = try bench.create()
        try keychain.add(password("ann"), secret: nil, now: moment(1))
        for code in [AttributeCode.labl, .desc, .icmt, .gena, .type, .crtr] {
            #expect(throws: KeychainStoreError.duplicateItem) {
                try keychain.add(password("ann", [code: Self.other(code)]), secret: nil, now: moment(2))
            }
        }
        #expect(throws: KeychainStoreError.duplicateItem) {
            try keychain.add(password("ann", [.pdmn: .text("dku")]), secret: nil, now: moment(2))
        }
    }

    @Test("Absent and default values, and text and bytes, are the same key but are stored as given")
    func defaults() throws {
        let keychain = try bench.create()
        let absent = try keychain.add(draft(.internetPassword, [:]), secret: nil, now: moment(1))
        #expect(absent.attributes[.acct] == nil)
        #expect(try keychain.items() == [absent])
        let empty = draft(.internetPassword, [.acct: .text(""), .port: .number(0), .path: .data([])])
        #expect(throws: KeychainStoreError.duplicateItem) { try keychain.add(empty, secret: nil, now: moment(1)) }
        let text = try keychain.add(draft(.internetPassword, [.acct: .text("ab")]), secret: nil, now: moment(1))
        #expect(throws: KeychainStoreError.duplicateItem) {
            try keychain.add(draft(.internetPassword, [.acct: .data([0x61, 0x62])]), secret: nil, now: moment(1))
        }
        let key = try keychain.add(draft(.key, [.sdat: .date(.reference)]), secret: nil, now: moment(1))
        #expect(throws: KeychainStoreError.duplicateItem) {
            try keychain.add(draft(.key, [:]), secret: nil, now: moment(1))
        }
        #expect(try keychain.items() == [absent, text, key])
    }

    @Test("An update that would cause a duplicate is refused and rolled back completely")
    func clash() throws {
        let keychain = try bench.create()
        try keychain.add(password("a", service: "1"), secret: "x".secret, now: moment(1))
        try keychain.add(password("a", service: "2"), secret: "y".secret, now: moment(1))
        let before = try keychain.items()
        // The first of the two can be updated, but the second then has the same key.
        #expect(throws: KeychainStoreError.duplicateItem) {
            try keychain.update(matching: ItemQuery(), set: [.svce: .text("3")], secret: "z".secret, now: moment(2))
        }
        #expect(try keychain.items() == before)
        #expect(try before.map { try keychain.text(of: $0) } == ["x", "y"])
    }

    @Test("Items are ordered by class and by the bytes of the unique key, in whatever order they were added")
    func order() throws {
        let keychain = try bench.create()
        let accounts = ["b", "", "a\u{0}", "é", "Z", "a", "e\u{301}", "aa"]
        for account in accounts { try keychain.add(password(account), secret: nil, now: moment(1)) }
        try keychain.add(draft(.key, [.kcls: .number(-1)]), secret: nil, now: moment(1))
        try keychain.add(draft(.key, [.kcls: .number(1)]), secret: nil, now: moment(1))
        try keychain.add(draft(.certificate, [:]), secret: nil, now: moment(1))
        let visited = try keychain.visit().items
        #expect(visited.map(\.itemClass) == visited.map(\.itemClass).sorted())
        let found = visited.filter { $0.itemClass == .genericPassword }.map { $0.attributes.text(.acct) ?? "?" }
        #expect(
            found.map { Array($0.utf8) }
                == accounts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        #expect(visited.suffix(2).map { $0.attributes.number(.kcls) } == [-1, 1])
        #expect(try keychain.items() == visited)
    }
}

@Suite struct TombstoneTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private let shared: [AttributeCode: AttributeValue] = [.sync: .number(1), .labl: .text("secret label")]

    @Test("Deleting a synchronizable item leaves only its key and dates, hidden from every read")
    func tombstone() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann", shared), secret: "tulip".secret, now: moment(1))
        try keychain.delete(matching: ItemQuery(item), now: moment(1))
        #expect(try keychain.items() == [])
        #expect(try keychain.visit().items == [])
        #expect(try keychain.information().tombstoneCount == 1)
        #expect(throws: KeychainStoreError.itemNotFound) { try keychain.text(of: item) }
        let expected =
            "616E6E|\(moment(1).microseconds)|\(moment(1).microseconds + 1_000)|NULL|NULL"
        let rows = try bench.alter(
            """
            SELECT hex(acct) || '|' || cdat || '|' || mdat || '|' || quote(labl) || '|'
            || quote(data) FROM genp
            """)
        #expect(rows == [[.text(expected)]])
    }

    @Test("Adding over a tombstone replaces it with a later item")
    func replaced() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann", shared), secret: "1".secret, now: moment(5))
        try keychain.delete(matching: ItemQuery(item), now: moment(5))
        let again = try keychain.add(password("ann", shared), secret: "2".secret, now: moment(5))
        #expect(again.modified == moment(5).advanced(byMicroseconds: 2_000))
        #expect(try keychain.text(of: again) == "2")
        #expect(try keychain.information().tombstoneCount == 0)
    }

    @Test("An update may take the key of a tombstone, and moving a synchronizable item leaves one at its old key")
    func moved() throws {
        let keychain = try bench.create()
        let ann = try keychain.add(password("ann", shared), secret: nil, now: moment(1))
        try keychain.delete(matching: ItemQuery(ann), now: moment(2))
        let bob = try keychain.add(password("bob", shared), secret: "b".secret, now: moment(3))
        try keychain.update(matching: ItemQuery(bob), set: [.acct: .text("ann")], now: moment(4))
        #expect(try keychain.items().map { $0.attributes.text(.acct) } == ["ann"])
        #expect(try keychain.text(of: bob) == "b")
        #expect(try keychain.information().tombstoneCount == 1)
        try keychain.add(password("bob", shared), secret: nil, now: moment(5))
        #expect(try keychain.information().tombstoneCount == 0)
    }
}
