import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("The calls of the keychain API")
struct SecItemTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    @Test("A query of an empty keychain finds nothing and leaves the result unchanged")
    func findNothing() {
        let (status, result) = program.find(generic([kSecReturnData: true]))
        #expect(status == errSecItemNotFound)
        #expect(result == nil)
    }

    @Test("A password can be added once, found, updated and deleted")
    func story() throws {
        let query = generic([kSecAttrService: "mail", kSecAttrAccount: "ada"])
        let item = query.merging([kSecValueData: Data("one".utf8)]) { $1 }
        #expect(program.add(item) == errSecSuccess)
        #expect(program.add(item) == errSecDuplicateItem)
        var (status, result) = program.find(query.merging([kSecReturnData: true]) { $1 })
        #expect(status == errSecSuccess)
        #expect(result as? Data == Data("one".utf8))
        #expect(program.update(query, [kSecValueData: Data("two".utf8)]) == errSecSuccess)
        (status, result) = program.find(query.merging([kSecReturnData: true]) { $1 })
        #expect(result as? Data == Data("two".utf8))
        #expect(program.delete(query) == errSecSuccess)
        #expect(program.delete(query) == errSecItemNotFound)
    }

    @Test("The form of a result depends on the return keys and the limit")
    func shapes() throws {
        for account in ["a", "b"] {
            #expect(
                program.add(
                    generic([kSecAttrService: "s", kSecAttrAccount: account, kSecValueData: Data(account.utf8)]))
                    == errSecSuccess)
        }
        func find(_ more: [CFString: Any]) throws -> AnyObject {
            let (status, result) = program.find(generic(more))
            try #require(status == errSecSuccess)
            return try #require(result)
        }
        #expect(try find([kSecReturnData: true]) as? Data == Data("a".utf8))
        #expect(try (find([kSecReturnPersistentRef: true]) as? Data)?.count == 20)
        let one = try #require(try find([kSecReturnAttributes: true]) as? [CFString: Any])
        #expect(one[kSecAttrAccount] as? String == "a")
        #expect(one[kSecValueData] == nil)
        #expect(one[kSecAttrSynchronizable] as? Bool == false)
        #expect(one[kSecAttrCreationDate] as? Date != nil)
        let all = try #require(
            try find([kSecReturnAttributes: true, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
                as? [[CFString: Any]])
        #expect(all.map { $0[kSecValueData] as? Data } == [Data("a".utf8), Data("b".utf8)])
        #expect(try find([kSecReturnData: true, kSecMatchLimit: 1]) as? Data == Data("a".utf8))
        #expect(program.status(generic()) == errSecSuccess)
        #expect(program.status(generic([kSecReturnData: true])) == errSecSuccess)
    }
}
