import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Corrupt items")
struct CorruptionTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
        for (account, secret) in [("ann", "1"), ("bob", "2"), ("eve", "3")] {
            #expect(program.add(password(account, secret, [kSecAttrLabel: "old"])) == errSecSuccess)
        }
    }

    private func texts() -> [String]? {
        let all = generic([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
        return (program.find(all).1 as? [Data])?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A corrupt item is neither found nor updated, and does not affect other items")
    func notThere() throws {
        try program.corrupt(account: "ann")
        for key in [kSecReturnData, kSecReturnAttributes, kSecReturnPersistentRef] {
            #expect(program.find(query("ann", [key: true])).0 == errSecItemNotFound)
        }
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.update(query("ann"), [kSecAttrLabel: "new"]) == errSecItemNotFound)
        #expect(texts() == ["2", "3"])
        #expect(program.text(generic()) == "2")
        #expect((program.find(generic([kSecReturnData: true, kSecMatchLimit: 2])).1 as? [Data])?.count == 2)
        #expect(program.update(generic(), [kSecAttrLabel: "new"]) == errSecSuccess)
        #expect(program.count(generic([kSecAttrLabel: "new"])) == 2)
    }

    @Test("Adding over a corrupt item replaces it with a new item")
    func addOver() throws {
        let reference = try #require(program.reference(query("ann")))
        try program.corrupt(account: "ann")
        #expect(program.add(password("ann", "again")) == errSecSuccess)
        #expect(program.text(query("ann")) == "again")
        #expect(program.reference(query("ann")) != reference)
        #expect(program.add(password("ann", "again")) == errSecDuplicateItem)
    }

    @Test("An item can take the key of another only if that one is corrupt, and keeps its own reference")
    func updateOver() throws {
        let reference = try #require(program.reference(query("bob")))
        #expect(program.update(query("bob"), [kSecAttrAccount: "ann"]) == errSecDuplicateItem)
        try program.corrupt(account: "ann")
        #expect(program.update(query("bob"), [kSecAttrAccount: "ann"]) == errSecSuccess)
        #expect(program.text(query("ann")) == "2")
        #expect(program.reference(query("ann")) == reference)
        #expect(program.add(password("bob")) == errSecSuccess)
    }

    @Test("Secrets swapped between two items do not open")
    func exchanged() throws {
        try program.alter(
            """
            CREATE TEMP TABLE old AS SELECT acct, data FROM genp;
            UPDATE genp SET data = (SELECT data FROM old WHERE old.acct =
                CASE genp.acct WHEN CAST('ann' AS BLOB) THEN CAST('bob' AS BLOB) ELSE CAST('ann' AS BLOB) END)
            WHERE acct IN (CAST('ann' AS BLOB), CAST('bob' AS BLOB))
            """)
        #expect(program.find(query("ann", [kSecReturnData: true])).0 == errSecItemNotFound)
        #expect(program.find(query("bob", [kSecReturnData: true])).0 == errSecItemNotFound)
        #expect(texts() == ["3"])
    }

    @Test(
        "An attribute changed behind the API makes the item corrupt",
        arguments: [
            "labl = CAST('new' AS BLOB)", "svce = CAST('post' AS BLOB)", "pdmn = CAST('dk' AS BLOB)",
            "mdat = mdat + 1", "icmt = CAST('x' AS BLOB)", "sync = 1",
        ])
    func changedBehind(assignment: String) throws {
        try program.alter("UPDATE genp SET \(assignment) WHERE acct = CAST('ann' AS BLOB)")
        let any = generic([
            kSecAttrAccount: "ann", kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnData: true,
        ])
        #expect(program.find(any).0 == errSecItemNotFound)
        #expect(texts() == ["2", "3"])
        #expect(program.add(password("ann", "again")) == errSecSuccess)
        #expect(program.text(query("ann")) == "again")
    }

    @Test("A label changed behind the API makes a key or certificate corrupt")
    func changedKey() throws {
        for (className, table) in [(kSecClassKey, "keys"), (kSecClassCertificate, "cert")] {
            let item: [CFString: Any] = [kSecClass: className, kSecAttrLabel: "old", kSecValueData: Data([1])]
            #expect(program.add(item) == errSecSuccess)
            try program.alter("UPDATE \(table) SET labl = CAST('new' AS BLOB)")
            let query: [CFString: Any] = [kSecClass: className, kSecReturnData: true]
            #expect(program.find(query).0 == errSecItemNotFound)
            #expect(program.add(item) == errSecSuccess)
            #expect(program.find(query).1 as? Data == Data([1]))
        }
    }

    @Test(
        "An invalid row is skipped like a corrupt item",
        arguments: ["mdat = 9223372036854775807", "pdmn = NULL", "labl = x'ff'", "sync = 7", "odd = 'nope'"])
    func invalidRow(assignment: String) throws {
        try program.alter("UPDATE genp SET \(assignment) WHERE acct = CAST('ann' AS BLOB)")
        let any = query("ann", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])
        #expect(program.status(any) == errSecItemNotFound)
        #expect(program.update(any, [kSecAttrLabel: "new"]) == errSecItemNotFound)
        #expect(texts() == ["2", "3"])
    }

    @Test("A deletion also removes corrupt items and invalid rows, but reports invalid rows as not found")
    func delete() throws {
        // The row is still well-formed, and deleting checks no more than that because it requires no key.
        try program.alter("UPDATE genp SET labl = NULL WHERE acct = CAST('ann' AS BLOB)")
        #expect(program.delete(query("ann")) == errSecSuccess)
        try program.corrupt(account: "bob")
        #expect(try program.openStore().find(.init()).damaged == 1)
        #expect(program.delete(query("bob")) == errSecItemNotFound)
        #expect(try program.openStore().find(.init()).damaged == 0)
        #expect(texts() == ["3"])
    }

    @Test("Ten threads can add items while a corrupt one is queried")
    func addsBesideOneCorrupt() throws {
        try program.corrupt(account: "ann")
        let tally = Tally<OSStatus>()
        onThreads(10) { thread in
            for index in 0..<20 {
                tally.count(program.add(password("\(thread)-\(index)")))
                tally.count(program.find(query("ann", [kSecReturnData: true])).0)
            }
        }
        #expect(tally.result == [errSecSuccess: 200, errSecItemNotFound: 200])
        #expect(program.count(generic()) == 202)
    }

    @Test("A hundred corrupt items are not found by any of ten threads and do not prevent additions")
    func addsBesideManyCorrupt() throws {
        for index in 0..<100 { #expect(program.add(password("corrupt\(index)")) == errSecSuccess) }
        try program.alter("UPDATE genp SET data = x'01020304' WHERE CAST(acct AS TEXT) LIKE 'corrupt%'")
        let tally = Tally<OSStatus>()
        onThreads(10) { thread in
            for index in 0..<10 {
                tally.count(program.status(query("corrupt\(thread * 10 + index)")))
                tally.count(program.add(password("\(thread)-\(index)")))
            }
        }
        #expect(tally.result == [errSecSuccess: 100, errSecItemNotFound: 100])
        for index in 0..<100 { #expect(program.add(password("corrupt\(index)")) == errSecSuccess) }
        #expect(program.count(generic()) == 203)
    }
}
