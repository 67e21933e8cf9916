import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("SecItemUpdate")
struct UpdateTests {
    private let program: TestClient

    init() throws {
        program = try TestClient(groups: ["test", "second"])
    }

    @Test("The server of an internet password can be changed once, and the old server no longer matches")
    func server() {
        func item(_ server: String) -> [CFString: Any] { internet([kSecAttrServer: server, kSecAttrAccount: "ann"]) }
        let old = item("old.example.org")
        #expect(program.add(old.merging([kSecValueData: Data("1".utf8)]) { $1 }) == errSecSuccess)
        #expect(program.add(old) == errSecDuplicateItem)
        #expect(program.update(old, [kSecAttrServer: "new.example.org"]) == errSecSuccess)
        #expect(program.update(old, [kSecAttrServer: "new.example.org"]) == errSecItemNotFound)
        #expect(program.delete(old) == errSecItemNotFound)
        #expect(program.text(item("new.example.org")) == "1")
        #expect(program.add(old) == errSecSuccess)
        #expect(program.update(old, [kSecAttrServer: "new.example.org"]) == errSecDuplicateItem)
        #expect(program.text(item("new.example.org")) == "1")
        #expect(program.delete(internet([kSecAttrAccount: "ann"])) == errSecSuccess)
        #expect(program.count(internet()) == 0)
    }

    @Test("Data can be replaced only by data, and anything else leaves the old data")
    func data() {
        #expect(program.add(password("ann", "old")) == errSecSuccess)
        #expect(program.update(query("ann"), [kSecValueData: Data("new".utf8)]) == errSecSuccess)
        for bad in [NSNull(), "text", 7] as [Any] {
            #expect(program.update(query("ann"), [kSecValueData: bad]) == errSecParam)
            #expect(program.text(query("ann")) == "new")
        }
        #expect(program.update(query("ann"), [kSecValueData: Data()]) == errSecSuccess)
        #expect(program.text(query("ann")) == "")
    }

    @Test("Attributes and data that an update does not name are unchanged")
    func untouched() throws {
        #expect(program.add(password("ann", "old", [kSecAttrLabel: "Mail", kSecAttrComment: "note"])) == errSecSuccess)
        #expect(program.update(query("ann"), [kSecAttrLabel: "Post"]) == errSecSuccess)
        let attributes = try #require(program.attributes(query("ann")))
        #expect(attributes[kSecAttrLabel] as? String == "Post")
        #expect(attributes[kSecAttrComment] as? String == "note")
        #expect(program.text(query("ann")) == "old")
    }

    @Test("All matching items are updated, or none if one of them cannot be")
    func allOrNone() {
        for account in ["a", "b", "c"] { #expect(program.add(password(account)) == errSecSuccess) }
        let mail = generic([kSecAttrService: "mail"])
        #expect(program.update(mail, [kSecAttrComment: "all"]) == errSecSuccess)
        #expect(program.count(generic([kSecAttrComment: "all"])) == 3)
        #expect(program.update(mail, [kSecAttrAccount: "same", kSecAttrComment: "no"]) == errSecDuplicateItem)
        #expect(program.count(generic([kSecAttrComment: "all"])) == 3)
        for account in ["a", "b", "c"] { #expect(program.text(query(account)) == "secret") }
    }

    @Test("An update that matches nothing reports it")
    func nothing() {
        #expect(program.update(query("ann"), [kSecAttrLabel: "x"]) == errSecItemNotFound)
    }

    @Test(
        "Return keys and match conditions are refused in the query of an update",
        arguments: [
            [kSecReturnData as String: true], [kSecReturnAttributes as String: true], [kSecReturnRef as String: true],
            [kSecReturnPersistentRef as String: true], [kSecMatchLimit as String: kSecMatchLimitAll as String],
            [kSecMatchLimit as String: kSecMatchLimitOne as String],
            [kSecMatchCaseInsensitive as String: true], [kSecMatchTrustedOnly as String: false],
            [kSecUseTombstones as String: false],
        ] as [[String: any Sendable]])
    func foreignKeys(more: [String: any Sendable]) {
        #expect(program.add(password("ann", "1", [kSecAttrLabel: "old"])) == errSecSuccess)
        #expect(program.update(query("ann", keyed(more)), [kSecAttrLabel: "new"]) == errSecParam)
        #expect(program.attributes(query("ann"))?[kSecAttrLabel] as? String == "old")
    }

    @Test(
        "Only attributes and data can be new values",
        arguments: [
            ([kSecClass as String: kSecClassGenericPassword as String], errSecParam),
            ([kSecReturnData as String: true], errSecParam),
            ([kSecMatchLimit as String: kSecMatchLimitOne as String], errSecParam),
            ([kSecAttrSharingGroup as String: "x"], errSecParam),
            ([kSecAttrMultiUser as String: Data([1])], errSecParam), (["clip": 1], errSecParam),
            ([kSecAttrTombstone as String: true], errSecParam), ([kSecUseTombstones as String: true], errSecParam),
            ([kSecValuePersistentRef as String: Data("genp".utf8) + Data(count: 16)], errSecParam),
            ([kSecAttrSynchronizable as String: kSecAttrSynchronizableAny as String], errSecParam),
            (["abcd": "x"], errSecNoSuchAttr), ([kSecAttrServer as String: "x"], errSecNoSuchAttr),
            ([kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave as String], errSecUnimplemented),
            (
                [kSecAttrAccessible as String: kSecAttrAccessibleAlways as String, kSecAttrLabel as String: 1.5],
                errSecParam
            ),
        ] as [([String: any Sendable], OSStatus)])
    func refusedValues(values: [String: any Sendable], expected: OSStatus) throws {
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        let before = try #require(program.attributes(query("ann")) as NSDictionary?)
        #expect(program.update(query("ann"), keyed(values)) == expected)
        #expect(program.attributes(query("ann")) as NSDictionary? == before)
    }

    @Test("The modification date advances by at least a millisecond, and the creation date is kept")
    func dates() throws {
        #expect(program.add(password("ann")) == errSecSuccess)
        func dates() -> [Date?] {
            let attributes = program.attributes(query("ann"))
            return [kSecAttrCreationDate, kSecAttrModificationDate].map { attributes?[$0] as? Date }
        }
        let start = Date(TestClient.start)
        #expect(program.update(query("ann"), [kSecAttrLabel: "1"]) == errSecSuccess)
        #expect(dates() == [start, Date(TestClient.start.advanced(byMicroseconds: 1_000))])
        program.advance(seconds: 60)
        let old = Date(timeIntervalSince1970: 0)
        #expect(
            program.update(query("ann"), [kSecAttrCreationDate: old, kSecAttrModificationDate: old]) == errSecSuccess)
        #expect(dates() == [start, Date(TestClient.start.advanced(byMicroseconds: 60_000_000))])
        program.advance(seconds: -3_600)
        #expect(program.update(query("ann"), [kSecAttrLabel: "2"]) == errSecSuccess)
        #expect(dates() == [start, Date(TestClient.start.advanced(byMicroseconds: 60_001_000))])
    }

    @Test("A new access group moves the item, unless the group already has an equal one")
    func accessGroup() {
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        #expect(program.update(query("ann"), [kSecAttrAccessGroup: "second"]) == errSecSuccess)
        #expect(program.status(query("ann", [kSecAttrAccessGroup: "test"])) == errSecItemNotFound)
        #expect(program.text(query("ann", [kSecAttrAccessGroup: "second"])) == "1")
        #expect(program.add(password("ann", "2")) == errSecSuccess)
        let mine = query("ann", [kSecAttrAccessGroup: "test"])
        #expect(program.update(mine, [kSecAttrAccessGroup: "second"]) == errSecDuplicateItem)
        #expect(program.text(mine) == "2")
    }

    @Test("The accessibility can be changed by either of its attributes, which must agree")
    func accessibility() throws {
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, [], nil))
        #expect(program.update(query("ann"), [kSecAttrAccessControl: control]) == errSecSuccess)
        #expect(program.attributes(query("ann"))?[kSecAttrAccessible] as? String == "ck")
        let disagreeing: [CFString: Any] = [
            kSecAttrAccessControl: control, kSecAttrAccessible: kSecAttrAccessibleAlways,
        ]
        #expect(program.update(query("ann"), disagreeing) == errSecParam)
        #expect(program.update(query("ann"), [kSecAttrAccessible: kSecAttrAccessibleAlways]) == errSecSuccess)
        #expect(program.text(query("ann", [kSecAttrAccessible: "dk"])) == "1")
        #expect(program.status(query("ann", [kSecAttrAccessible: "ck"])) == errSecItemNotFound)
    }
}
