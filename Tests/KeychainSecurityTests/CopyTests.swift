import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("SecItemCopyMatching")
struct CopyTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    @Test("A query of an empty keychain finds nothing in any class and leaves the result unchanged")
    func nothing() {
        for className in [
            kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey, kSecClassIdentity,
        ] {
            for key in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
                for limit in [kSecMatchLimitOne, kSecMatchLimitAll, 5] as [Any] {
                    let (status, result) = program.find([kSecClass: className, key: true, kSecMatchLimit: limit])
                    #expect(status == errSecItemNotFound && result == nil, "\(className) \(key)")
                }
            }
            #expect(program.status([kSecClass: className]) == errSecItemNotFound)
        }
    }

    @Test("One return key gives a value, several give a dictionary, and a limit other than one gives a list")
    func shapes() throws {
        #expect(program.add(password("a", "1")) == errSecSuccess)
        #expect(program.add(password("b", "2")) == errSecSuccess)
        let mail = generic([kSecAttrService: "mail"])
        let all = mail.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 }
        func find(_ query: [CFString: Any], _ keys: String...) -> AnyObject? {
            program.find(query.merging(keys.map { ($0 as CFString, true) }) { $1 }).1
        }
        #expect(find(mail, kSecReturnData as String) as? Data == Data("1".utf8))
        #expect(find(all, kSecReturnData as String) as? [Data] == [Data("1".utf8), Data("2".utf8)])
        let references = try #require(find(all, kSecReturnPersistentRef as String) as? [Data])
        #expect(references.count == 2 && find(mail, kSecReturnPersistentRef as String) as? Data == references[0])
        let attributes = try #require(find(all, kSecReturnAttributes as String) as? [[CFString: Any]])
        #expect(attributes.map { $0[kSecAttrAccount] as? String } == ["a", "b"])
        let both = try #require(
            find(all, kSecReturnData as String, kSecReturnPersistentRef as String) as? [[CFString: Any]])
        #expect(both.map { $0[kSecValueData] as? Data } == [Data("1".utf8), Data("2".utf8)])
        #expect(both.map { $0[kSecValuePersistentRef] as? Data } == references)
        #expect(both.allSatisfy { $0.count == 2 })
        for limit in [2, 3] {
            let found = find(mail.merging([kSecMatchLimit: limit]) { $1 }, kSecReturnData as String) as? [Data]
            #expect(found?.count == 2)
        }
        #expect(find(mail.merging([kSecMatchLimit: 1]) { $1 }, kSecReturnData as String) as? Data == Data("1".utf8))
    }

    @Test("A limit of 0 finds nothing")
    func limitOfNothing() {
        #expect(program.add(password("ann")) == errSecSuccess)
        let (status, result) = program.find(query("ann", [kSecReturnData: true, kSecMatchLimit: 0]))
        #expect(status == errSecItemNotFound && result == nil)
    }

    @Test("Items are returned in the order they were added, regardless of later changes")
    func order() {
        for account in ["c", "a", "b"] { #expect(program.add(password(account, account)) == errSecSuccess) }
        func accounts() -> [String] {
            let all: [CFString: Any] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]
            let found = program.find(generic(all)).1 as? [[CFString: Any]] ?? []
            return found.compactMap { $0[kSecAttrAccount] as? String }
        }
        #expect(accounts() == ["c", "a", "b"])
        #expect(program.text(generic([kSecAttrService: "mail"])) == "c")
        #expect(program.update(query("c"), [kSecAttrAccount: "z", kSecAttrAccessible: "ck"]) == errSecSuccess)
        #expect(accounts() == ["z", "a", "b"])
        #expect(program.delete(query("a")) == errSecSuccess)
        #expect(program.add(password("a", "a")) == errSecSuccess)
        #expect(accounts() == ["z", "b", "a"])
    }

    @Test("Without a result pointer, the status tells whether an item exists")
    func existence() {
        #expect(program.add(password("ann")) == errSecSuccess)
        let all: [CFString: Any] = [
            kSecReturnAttributes: true, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
        ]
        #expect(program.status(query("ann", all)) == errSecSuccess)
        #expect(program.status(query("bob", all)) == errSecItemNotFound)
    }

    @Test("A return key with the value false returns nothing")
    func falseReturnKeys() {
        #expect(program.add(password("ann")) == errSecSuccess)
        let nothing: [CFString: Any] = [
            kSecReturnData: false, kSecReturnAttributes: 0, kSecMatchLimit: kSecMatchLimitAll,
        ]
        let (status, result) = program.find(query("ann", nothing))
        #expect(status == errSecSuccess && result == nil)
        #expect(program.status(query("ann", nothing)) == errSecSuccess)
    }

    @Test("An item without data yields no data in a dictionary, but empty data on its own")
    func withoutData() throws {
        #expect(program.add(query("none")) == errSecSuccess)
        #expect(program.add(password("empty", "")) == errSecSuccess)
        for account in ["none", "empty"] {
            #expect(program.find(query(account, [kSecReturnData: true])).1 as? Data == Data())
            let both: [CFString: Any] = [kSecReturnData: true, kSecReturnAttributes: true]
            let found = try #require(program.find(query(account, both)).1 as? [CFString: Any])
            #expect(found[kSecValueData] as? Data == (account == "none" ? nil : Data()))
        }
    }

    @Test("Requesting attributes returns neither the secret nor internal attributes")
    func attributesAlone() throws {
        #expect(program.add(password("ann")) == errSecSuccess)
        let attributes = try #require(program.attributes(query("ann")))
        let expected: Set = [
            kSecAttrAccount, kSecAttrService, kSecAttrAccessGroup, kSecAttrAccessible, kSecAttrAccessControl,
            kSecAttrSynchronizable, kSecAttrCreationDate, kSecAttrModificationDate,
        ]
        #expect(Set(attributes.keys) == expected)
    }

    @Test("A result has the class only if an object is requested, and passwords have no object")
    func classAndObject() throws {
        #expect(program.add(password("ann")) == errSecSuccess)
        let (status, object) = program.find(query("ann", [kSecReturnRef: true]))
        #expect(status == errSecSuccess && object == nil)
        let all: [CFString: Any] = [kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll]
        #expect((program.find(query("ann", all)).1 as? [Any])?.isEmpty == true)
        let both: [CFString: Any] = [kSecReturnRef: true, kSecReturnAttributes: true]
        let found = try #require(program.find(query("ann", both)).1 as? [CFString: Any])
        #expect(found[kSecClass] as? CFString == kSecClassGenericPassword)
        #expect(found[kSecValueRef] == nil)
        #expect(program.attributes(query("ann"))?[kSecClass] == nil)
    }

    @Test("The attributes returned by a query match the same item, even after changes")
    func byReturnedAttributes() throws {
        let item = internet([
            kSecAttrServer: "example.org", kSecAttrAccount: "ann", kSecAttrProtocol: kSecAttrProtocolHTTPS,
            kSecAttrPort: 443, kSecAttrPath: "/", kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPBasic,
            kSecAttrLabel: "Example", kSecAttrComment: Data([1, 2]), kSecAttrIsInvisible: true,
            kSecAttrCreator: 0x6162_6364, kSecValueData: Data("1".utf8),
        ])
        #expect(program.add(item) == errSecSuccess)
        for _ in 0..<3 {
            let attributes = try #require(program.attributes(internet()))
            #expect(program.text(internet(attributes)) == "1")
            #expect(program.update(internet(attributes), [kSecAttrComment: "later"]) == errSecSuccess)
            #expect(program.status(internet(attributes)) == errSecItemNotFound)
        }
    }

    @Test("Text is compared case-sensitively unless the query specifies otherwise")
    func caseInsensitive() {
        #expect(program.add(password("Ann", "1", [kSecAttrLabel: "ÉCOLE"])) == errSecSuccess)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.text(query("ann", [kSecMatchCaseInsensitive: true])) == "1")
        #expect(program.text(query("ANN", [kSecMatchCaseInsensitive: true, kSecAttrLabel: "école"])) == "1")
        #expect(program.status(query("bob", [kSecMatchCaseInsensitive: true])) == errSecItemNotFound)
        let otherGroup: [CFString: Any] = [kSecMatchCaseInsensitive: true, kSecAttrAccessGroup: "TEST"]
        #expect(program.status(query("ann", otherGroup)) == errSecMissingEntitlement)
    }

    @Test("A host matches passwords of itself and its subdomains only")
    func hostOrSubdomain() throws {
        for server in ["example.org", "www.Example.org", "badexample.org", "example.org.evil", "org"] {
            #expect(program.add(internet([kSecAttrServer: server])) == errSecSuccess)
        }
        func servers(_ host: String) -> Set<String> {
            let query = internet([
                kSecMatchHostOrSubdomainOfHost: host, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
            ])
            let found = program.find(query).1 as? [[CFString: Any]] ?? []
            return Set(found.compactMap { $0[kSecAttrServer] as? String })
        }
        #expect(servers("EXAMPLE.org") == ["example.org", "www.Example.org"])
        #expect(servers("www.example.org") == ["www.Example.org"])
        #expect(servers("nowhere") == [])
        #expect(program.status(generic([kSecMatchHostOrSubdomainOfHost: "example.org"])) == errSecParam)
    }

    @Test("Certificate conditions apply only to certificates and identities")
    func conditionsOnCertificates() {
        let conditions: [CFString: Any] = [
            kSecMatchSubjectContains: "x", kSecMatchEmailAddressIfPresent: "x", kSecMatchIssuers: [Data()],
            kSecMatchValidOnDate: Date(),
        ]
        for (key, value) in conditions {
            #expect(program.status(generic([key: value])) == errSecParam)
            for className in [kSecClassCertificate, kSecClassIdentity] {
                #expect(program.status([kSecClass: className, key: value]) == errSecItemNotFound)
                #expect(program.status([kSecClass: className, key: 7]) == errSecParam)
            }
        }
        #expect(
            program.status([kSecClass: kSecClassCertificate, kSecMatchValidOnDate: NSNull()]) == errSecItemNotFound)
    }

    @Test("A condition that is not supported is an error")
    func notHere() {
        #expect(program.add(password("ann")) == errSecSuccess)
        let unsupported: [CFString: Any] = [
            kSecMatchPolicy: 1, kSecMatchTrustedOnly: true, kSecMatchSearchList: ["x"], kSecUseSystemKeychain: true,
            kSecUseItemList: ["x"],
        ]
        for (key, value) in unsupported { #expect(program.status(query("ann", [key: value])) == errSecUnimplemented) }
    }

    @Test("Keys that have no effect here are accepted and ignored")
    func ignored() {
        let harmless: [CFString: Any] = [
            kSecUseDataProtectionKeychain: true, kSecUseOperationPrompt: "please", kSecUseNoAuthenticationUI: true,
            kSecUseAuthenticationUI: kSecUseAuthenticationUIFail, kSecUseSystemKeychain: false,
        ]
        #expect(program.add(password("ann", "1", harmless)) == errSecSuccess)
        #expect(program.text(query("ann", harmless.merging([kSecMatchTrustedOnly: false]) { $1 })) == "1")
        #expect(program.text(query("ann", [kSecUseDataProtectionKeychain: false, kSecValueData: Data([9])])) == "1")
        #expect(program.update(query("ann", harmless), [kSecValueData: Data("2".utf8)]) == errSecSuccess)
        #expect(program.text(query("ann")) == "2")
        #expect(program.delete(query("ann", harmless)) == errSecSuccess)
    }
}
