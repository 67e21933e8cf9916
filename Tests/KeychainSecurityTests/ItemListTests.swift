import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Items in a list")
struct ItemListTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    private func found(_ query: [CFString: Any]) -> Set<String> {
        let all: [CFString: Any] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]
        let items = program.find(query.merging(all) { $1 }).1 as? [[CFString: Any]] ?? []
        return Set(items.compactMap { $0[kSecAttrLabel] as? String ?? $0[kSecAttrAccount] as? String })
    }

    @Test("A list of persistent references selects their items, and other conditions narrow it")
    func references() throws {
        for account in ["ann", "bob", "cleo"] { #expect(program.add(password(account)) == errSecSuccess) }
        let list = [try #require(program.reference(query("ann"))), try #require(program.reference(query("cleo")))]
        #expect(found(generic([kSecMatchItemList: list])) == ["ann", "cleo"])
        #expect(found(generic([kSecMatchItemList: list as CFArray, kSecAttrAccount: "cleo"])) == ["cleo"])
        #expect(program.status(generic([kSecMatchItemList: list, kSecAttrAccount: "bob"])) == errSecItemNotFound)
        #expect(program.status(generic([kSecMatchItemList: [] as [Any]])) == errSecItemNotFound)
        #expect(program.delete(query("ann")) == errSecSuccess)
        #expect(found(generic([kSecMatchItemList: list])) == ["cleo"])
    }

    @Test("A list of certificates, keys or identities selects their items")
    func objects() throws {
        let mail = try SampleCertificates.object("mail")
        for name in ["mail", "web"] {
            let object = try SampleCertificates.object(name)
            #expect(program.add([kSecValueRef: object]) == errSecSuccess)
        }
        #expect(found([kSecClass: kSecClassCertificate, kSecMatchItemList: [mail]]) == ["mail.example.org"])
        var keys: [SecKey] = []
        for label in ["one", "two"] {
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            keys.append(key)
            #expect(program.add([kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrLabel: label]) == errSecSuccess)
        }
        #expect(found([kSecClass: kSecClassKey, kSecMatchItemList: [keys[1]]]) == ["two"])
        #expect(found([kSecClass: kSecClassKey, kSecMatchItemList: keys]) == ["one", "two"])
    }

    @Test("An element of another class, or one that is no item, is an error")
    func mixed() throws {
        #expect(program.add(password("ann")) == errSecSuccess)
        let ann = try #require(program.reference(query("ann")))
        let mail = try SampleCertificates.object("mail")
        for list in [[ann, mail], [mail], ["ann"], [1], [Data([1])]] as [[Any]] {
            #expect(program.status(generic([kSecMatchItemList: list])) == errSecParam)
        }
        #expect(program.status(generic([kSecMatchItemList: ann])) == errSecParam)
        #expect(program.delete(generic([kSecMatchItemList: [ann]])) == errSecParam)
        #expect(program.text(query("ann")) != nil)
    }
}
