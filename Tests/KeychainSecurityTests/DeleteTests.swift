import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("SecItemDelete")
struct DeleteTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    @Test("All matching items are deleted, and no others")
    func all() {
        for account in ["a", "b"] { #expect(program.add(password(account)) == errSecSuccess) }
        #expect(program.add(password("a", "1", [kSecAttrService: "news"])) == errSecSuccess)
        #expect(program.add(internet([kSecAttrAccount: "a"])) == errSecSuccess)
        #expect(program.delete(generic([kSecAttrService: "mail"])) == errSecSuccess)
        #expect(program.delete(generic([kSecAttrService: "mail"])) == errSecItemNotFound)
        #expect(program.count(generic()) == 1 && program.count(internet()) == 1)
    }

    @Test("The dictionary used to add an item also deletes it, ignoring secret and return keys")
    func withTheDictionaryOfAnAdd() {
        let item = password("ann", "1", [kSecReturnData: true, kSecReturnAttributes: true])
        #expect(program.adding(item).0 == errSecSuccess)
        #expect(program.delete(item.merging([kSecValueData: Data("other".utf8)]) { $1 }) == errSecSuccess)
        #expect(program.adding(item).0 == errSecSuccess)
    }

    @Test(
        "A deletion affects all matching items, so a smaller limit or a match condition is refused",
        arguments: [
            [kSecMatchLimit as String: kSecMatchLimitOne as String], [kSecMatchLimit as String: 1],
            [kSecMatchLimit as String: 10],
            [kSecMatchCaseInsensitive as String: true], [kSecMatchTrustedOnly as String: false],
            [kSecMatchPolicy as String: 1],
            [kSecMatchItemList as String: ["x"]],
        ] as [[String: any Sendable]])
    func conditions(more: [String: any Sendable]) {
        #expect(program.add(password("ann")) == errSecSuccess)
        #expect(program.delete(query("ann", keyed(more))) == errSecParam)
        #expect(program.count(generic()) == 1)
        #expect(program.delete(query("ann", [kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
    }

    @Test("A refused deletion deletes nothing", arguments: ["abcd", kSecAttrServer as String])
    func unknownAttribute(name: String) {
        #expect(program.add(password("ann")) == errSecSuccess)
        #expect(program.delete(query("ann", [name as CFString: "x"])) == errSecNoSuchAttr)
        #expect(program.delete(query("ann", [kSecAttrLabel: [1]])) == errSecParam)
        #expect(program.count(generic()) == 1)
    }

    @Test("The app clip attribute is refused by all four calls")
    func appClips() {
        #expect(program.add(password("ann")) == errSecSuccess)
        #expect(program.statusesOfAllCalls(query("ann", ["clip": 1])).allSatisfy { $0 == errSecParam })
        #expect(program.count(generic()) == 1)
    }
}
