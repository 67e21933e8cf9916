import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("SecItemAdd")
struct AddTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    @Test("Without return keys the result is unchanged, and with them it has the shape of a query's result")
    func resultShapes() throws {
        #expect(program.adding(password("none")).1 == nil)
        #expect(program.adding(password("ref", "1", [kSecReturnPersistentRef: true])).1 as? Data == reference("ref"))
        #expect(program.adding(password("data", "1", [kSecReturnData: true])).1 as? Data == Data("1".utf8))
        let attributes = try #require(
            program.adding(password("attributes", "1", [kSecReturnAttributes: true])).1 as? [CFString: Any])
        #expect(attributes[kSecAttrAccount] as? String == "attributes")
        #expect(attributes[kSecAttrAccessGroup] as? String == "test")
        #expect(attributes[kSecValueData] == nil && attributes[kSecClass] == nil)
        let several = try #require(
            program.adding(
                password(
                    "several", "1",
                    [kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true])
            ).1 as? [CFString: Any])
        #expect(several[kSecAttrAccount] as? String == "several")
        #expect(several[kSecValueData] as? Data == Data("1".utf8))
        #expect(several[kSecValuePersistentRef] as? Data == reference("several"))
        let (status, object) = program.adding(password("object", "1", [kSecReturnRef: true]))
        #expect(status == errSecSuccess && object == nil)
    }

    @Test("A return key without a result pointer is not an error, and the item is added")
    func noPlaceForResult() {
        let item = password("nowhere", "1", [kSecReturnData: true, kSecReturnAttributes: true])
        #expect(program.add(item) == errSecSuccess)
        #expect(program.text(query("nowhere")) == "1")
        #expect(program.add(item) == errSecDuplicateItem)
    }

    private func reference(_ account: String) -> Data? { program.reference(query(account)) }

    @Test("A second add is a duplicate and changes neither the result nor the item")
    func duplicate() {
        #expect(program.add(password("ann", "first")) == errSecSuccess)
        let (status, result) = program.adding(password("ann", "second", [kSecReturnData: true]))
        #expect(status == errSecDuplicateItem && result == nil)
        #expect(program.text(query("ann")) == "first")
    }

    @Test(
        "A different value of any unique key attribute makes another item, and the same values a duplicate",
        arguments: [
            (kSecClassGenericPassword as String, [kSecAttrAccount as String, kSecAttrService as String]),
            (
                kSecClassInternetPassword as String,
                [
                    kSecAttrAccount as String, kSecAttrSecurityDomain as String, kSecAttrServer as String,
                    kSecAttrAuthenticationType as String, kSecAttrPath as String,
                    kSecAttrProtocol as String, kSecAttrPort as String,
                ]
            ),
            (
                kSecClassCertificate as String,
                [kSecAttrCertificateType as String, kSecAttrIssuer as String, kSecAttrSerialNumber as String]
            ),
            (
                kSecClassKey as String,
                [
                    kSecAttrKeyClass as String, kSecAttrApplicationLabel as String, kSecAttrApplicationTag as String,
                    kSecAttrCreator as String,
                    kSecAttrKeyType as String, kSecAttrKeySizeInBits as String, kSecAttrEffectiveKeySize as String,
                    "sdat", "edat",
                ]
            ),
        ])
    func uniqueKey(className: String, attributes: [String]) {
        let plain: [CFString: Any] = [kSecClass: className]
        var variations = [plain]
        for name in attributes + [kSecAttrSyncViewHint as String] {
            variations.append(plain.merging([name as CFString: Self.value(of: name)]) { $1 })
        }
        variations.append(plain.merging([kSecAttrSynchronizable: true]) { $1 })
        for variation in variations { #expect(program.add(variation) == errSecSuccess, "\(variation.keys.sorted())") }
        for variation in variations {
            #expect(program.add(variation) == errSecDuplicateItem, "\(variation.keys.sorted())")
        }
        #expect(program.count(plain) == variations.count)
    }

    private static func value(of name: String) -> Any {
        switch name {
        case kSecAttrIssuer, kSecAttrSerialNumber, kSecAttrApplicationLabel: Data([1, 2])
        case kSecAttrProtocol: kSecAttrProtocolHTTPS
        case kSecAttrKeyClass: kSecAttrKeyClassPrivate
        case kSecAttrKeyType: kSecAttrKeyTypeRSA
        case kSecAttrPort, kSecAttrCertificateType, kSecAttrCreator, kSecAttrKeySizeInBits, kSecAttrEffectiveKeySize: 7
        case "sdat", "edat": Date(timeIntervalSinceReferenceDate: 1)
        default: "x"
        }
    }

    @Test(
        "A different value of any other attribute makes a duplicate",
        arguments: [
            [kSecAttrLabel as String: "x"], [kSecAttrComment as String: "x"], [kSecAttrDescription as String: "x"],
            [kSecAttrGeneric as String: "x"],
            [kSecAttrType as String: 7], [kSecAttrCreator as String: 7],
            [kSecAttrAccessible as String: kSecAttrAccessibleAlways as String],
            [kSecValueData as String: Data("other".utf8)],
        ] as [[String: any Sendable]])
    func outsideUniqueKey(more: [String: any Sendable]) {
        #expect(program.add(query("ann")) == errSecSuccess)
        #expect(program.add(query("ann", keyed(more))) == errSecDuplicateItem)
    }

    @Test("An absent unique key attribute equals the empty text or the number 0")
    func absentEqualsEmpty() {
        #expect(program.add(generic([kSecAttrService: "mail"])) == errSecSuccess)
        for empty in ["", Data()] as [Any] {
            let spelled = generic([kSecAttrService: "mail", kSecAttrAccount: empty])
            #expect(program.add(spelled) == errSecDuplicateItem)
            #expect(program.status(spelled) == errSecSuccess)
        }
        #expect(program.add(internet()) == errSecSuccess)
        #expect(program.add(internet([kSecAttrPort: 0, kSecAttrProtocol: 0, kSecAttrPath: ""])) == errSecDuplicateItem)
        #expect(program.status(internet([kSecAttrPort: 0])) == errSecSuccess)
        let key: [CFString: Any] = [kSecClass: kSecClassKey]
        #expect(program.add(key) == errSecSuccess)
        let epoch = Date(timeIntervalSinceReferenceDate: 0)
        #expect(program.add(key.merging(["sdat": epoch, kSecAttrKeyClass: "0"]) { $1 }) == errSecDuplicateItem)
    }

    @Test("An attribute that is unknown or not in the class is refused by all four calls")
    func unknownAttribute() {
        for name in ["abcd", "UUID", "sha1", kSecAttrServer, kSecAttrIssuer] {
            let statuses = program.statusesOfAllCalls(password("ann", "1", [name: "x"]))
            #expect(statuses.allSatisfy { $0 == errSecNoSuchAttr }, "\(name): \(statuses)")
        }
        #expect(program.count(generic()) == 0)
    }

    @Test("An unknown key that is not four characters long is a parameter error")
    func unknownKey() {
        for name in ["", "persistref", "abc", "m_Odd", "r_Odd", "u_Odd", "v_Odd", "ä\u{1F511}"] {
            let statuses = program.statusesOfAllCalls(password("ann", "1", [name as CFString: true]))
            #expect(statuses.allSatisfy { $0 == errSecParam }, "\(name): \(statuses)")
        }
        #expect(program.count(generic()) == 0)
    }

    @Test(
        "A dictionary without a class, or with an unknown one, is refused",
        arguments: [
            ([:], errSecParam), ([kSecAttrAccount as String: "ann"], errSecParam),
            ([kSecClass as String: 1], errSecParam),
            ([kSecClass as String: "none"], errSecNoSuchClass), ([kSecClass as String: ""], errSecNoSuchClass),
        ] as [([String: any Sendable], OSStatus)])
    func noClass(dictionary: [String: any Sendable], expected: OSStatus) {
        let statuses = program.statusesOfAllCalls(keyed(dictionary))
        #expect(statuses.allSatisfy { $0 == expected }, "\(dictionary): \(statuses)")
    }

    @Test("A secret must be data", arguments: ["secret", 7, NSNull(), ["a"]] as [any Sendable])
    func secretOfAnotherType(value: any Sendable) {
        #expect(program.add(password("ann", "", [kSecValueData: value])) == errSecParam)
        #expect(program.count(generic()) == 0)
    }

    @Test(
        "Match conditions, item lists and persistent references are refused in an add",
        arguments: [
            [kSecMatchLimit as String: kSecMatchLimitOne as String],
            [kSecMatchLimit as String: kSecMatchLimitAll as String], [kSecMatchCaseInsensitive as String: true],
            [kSecMatchPolicy as String: 1], [kSecUseItemList as String: ["x"]], [kSecAttrTombstone as String: true],
            [kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip as String],
            [kSecUseTombstones as String: true],
            [kSecValuePersistentRef as String: Data("genp".utf8) + Data(count: 16)],
        ] as [[String: any Sendable]])
    func foreignKeys(more: [String: any Sendable]) {
        #expect(program.add(password("ann", "1", keyed(more))) == errSecParam)
        #expect(program.count(generic()) == 0)
    }

    @Test("Creation and modification dates are set by the keychain, even if the caller gives others")
    func dates() throws {
        let old = Date(timeIntervalSince1970: 0)
        #expect(
            program.add(password("ann", "1", [kSecAttrCreationDate: old, kSecAttrModificationDate: old]))
                == errSecSuccess)
        let attributes = try #require(program.attributes(query("ann")))
        #expect(attributes[kSecAttrCreationDate] as? Date == Date(TestClient.start))
        #expect(attributes[kSecAttrModificationDate] as? Date == Date(TestClient.start))
    }

    @Test("By default an item is readable when unlocked, and a certificate always")
    func defaultAccessibility() throws {
        for (className, expected) in [
            (kSecClassGenericPassword, "ak"), (kSecClassInternetPassword, "ak"), (kSecClassKey, "ak"),
            (kSecClassCertificate, "dk"),
        ] {
            #expect(program.add([kSecClass: className]) == errSecSuccess)
            let attributes = try #require(program.attributes([kSecClass: className]))
            #expect(attributes[kSecAttrAccessible] as? String == expected)
            #expect((attributes[kSecAttrAccessControl] as? SecAccessControl)?.protection == expected)
        }
    }
}
