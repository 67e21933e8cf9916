import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite struct QueryTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let keychain: Keychain

    init() throws {
        bench = try Bench()
        keychain = try bench.create()
        for account in ["ann", "bob"] {
            for (service, sync) in [("mail", 0), ("news", 1)] as [(String, Int64)] {
                try keychain.add(
                    password(account, service: service, [.sync: .number(sync), .labl: .text("L" + account)]),
                    secret: nil, now: moment(1))
            }
        }
        try keychain.add(
            draft(.internetPassword, [.acct: .text("ann"), .agrp: .text("web")]), secret: nil, now: moment(1))
    }

    private func count(_ query: ItemQuery) throws -> Int { try keychain.items(query).count }

    @Test("All conditions must match, in one class or in all")
    func conditions() throws {
        #expect(try count(ItemQuery()) == 5)
        #expect(try count(ItemQuery(itemClass: .genericPassword)) == 4)
        #expect(try count(ItemQuery(attributes: [.acct: .text("ann")])) == 3)
        #expect(try count(ItemQuery(attributes: [.acct: .data(Array("ann".utf8))])) == 3)
        #expect(try count(ItemQuery(attributes: [.acct: .text("ann"), .labl: .text("Lann")])) == 2)
        #expect(try count(ItemQuery(attributes: [.acct: .text("ann"), .labl: .text("Lbob")])) == 0)
        #expect(try count(ItemQuery(attributes: [.acct: .text("an")])) == 0)
        #expect(try count(ItemQuery(attributes: [.svce: .text("mail")])) == 2)
        #expect(try count(ItemQuery(itemClass: .key, attributes: [.svce: .text("mail")])) == 0)
        #expect(try count(ItemQuery(attributes: [.cdat: .date(moment(1))])) == 5)
        #expect(try count(ItemQuery(attributes: [.tkid: .text("")])) == 5)
        #expect(try count(ItemQuery(attributes: [.icmt: .text("")])) == 0)
        #expect(try count(ItemQuery(uuid: ItemUUID())) == 0)
    }

    @Test("Synchronizable items are matched as the query specifies")
    func synchronizable() throws {
        #expect(try count(ItemQuery(synchronizable: .no)) == 3)
        #expect(try count(ItemQuery(synchronizable: .yes)) == 2)
        #expect(try count(ItemQuery(synchronizable: .any)) == 5)
        #expect(try count(ItemQuery(attributes: [.sync: .number(1)], synchronizable: .no)) == 0)
    }

    @Test("Only the listed access groups are searched, and an empty list matches nothing")
    func accessGroups() throws {
        #expect(try count(ItemQuery(accessGroups: ["web"])) == 1)
        #expect(try count(ItemQuery(accessGroups: ["web", "kcbackup", "x' OR 1=1 --"])) == 5)
        #expect(try count(ItemQuery(accessGroups: [])) == 0)
        #expect(throws: KeychainStoreError.self) {
            try count(ItemQuery(accessGroups: (0...ItemQuery.accessGroupLimit).map(String.init)))
        }
    }

    @Test("A limit truncates the results in archive order")
    func limit() throws {
        #expect(try keychain.items(ItemQuery(limit: 2)) == Array(keychain.items().prefix(2)))
        #expect(try keychain.items(ItemQuery(limit: 0)) == [])
    }

    @Test(
        "A value of the wrong kind is refused",
        arguments: [(AttributeCode.acct, AttributeValue.number(1)), (.port, .text("1")), (.cdat, .number(1))])
    func wrongKind(code: AttributeCode, value: AttributeValue) throws {
        #expect(throws: KeychainStoreError.item(.wrongKind(code))) { try count(ItemQuery(attributes: [code: value])) }
    }

    @Test(
        "Lookups by key and UUID and the archive order all use an index",
        arguments: ItemClass.allCases)
    func plans(itemClass: ItemClass) throws {
        let row = ItemRow.of(itemClass)
        let table = itemClass.rawValue
        let first = " WHERE " + Schema.keyTerm(itemClass.uniqueKey[0]) + "=?"
        let plans = try [
            row.hasKey, row.clause(for: .archive), " WHERE uuid=?", first + row.clause(for: .insertion),
        ].map { clause in
            try bench.alter("EXPLAIN QUERY PLAN " + (row.selection + clause).replacing("?", with: "1")).map(
                \.last?.text)
        }
        let terms = itemClass.uniqueKey.map { _ in "<expr>=?" }.joined(separator: " AND ")
        #expect(plans[0] == ["SEARCH \(table) USING INDEX \(table)_key (\(terms))"])
        #expect(plans[1] == ["SCAN \(table) USING INDEX \(table)_key"])
        #expect(plans[2] == ["SEARCH \(table) USING INDEX \(table)_uuid (uuid=?)"])
        #expect(plans[3].first == "SEARCH \(table) USING INDEX \(table)_key (<expr>=?)")
    }
}
