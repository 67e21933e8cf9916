import Foundation
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Attribute values and limits")
struct ValueTests {
    private let program: TestClient

    init() throws {
        program = try TestClient()
    }

    @Test("A number for a text or bytes attribute is stored as four little-endian bytes")
    func numbersAsBytes() throws {
        let number = 0x0102_0304
        #expect(program.add(generic([kSecAttrAccount: number, kSecAttrGeneric: -1])) == errSecSuccess)
        let bytes = Data([4, 3, 2, 1])
        for account in [number, bytes, NSNumber(value: number)] as [Any] {
            let attributes = try #require(program.attributes(generic([kSecAttrAccount: account])))
            #expect(attributes[kSecAttrAccount] as? Data == bytes)
            #expect(attributes[kSecAttrGeneric] as? Data == Data([0xff, 0xff, 0xff, 0xff]))
        }
        #expect(program.add(generic([kSecAttrAccount: bytes])) == errSecDuplicateItem)
        #expect(program.add(generic([kSecAttrAccount: Int64(1) << 32])) == errSecParam)
        #expect(program.add(generic([kSecAttrAccount: 1.5])) == errSecParam)
    }

    @Test("Equal text and bytes are the same unique key, and are returned as given")
    func textAndBytes() throws {
        #expect(program.add(generic([kSecAttrAccount: "é", kSecAttrGeneric: Data([0, 255])])) == errSecSuccess)
        #expect(program.add(generic([kSecAttrAccount: Data("é".utf8)])) == errSecDuplicateItem)
        #expect(program.add(generic([kSecAttrAccount: "e\u{301}"])) == errSecSuccess)
        let attributes = try #require(program.attributes(generic([kSecAttrAccount: "é"])))
        #expect(Array((attributes[kSecAttrAccount] as? String ?? "").utf8) == Array("é".utf8))
        #expect(attributes[kSecAttrGeneric] as? Data == Data([0, 255]))
    }

    @Test("A protocol is shown as four characters, or as a number if not printable")
    func protocols() throws {
        #expect(program.add(internet([kSecAttrProtocol: kSecAttrProtocolFTP, kSecAttrPort: 21])) == errSecSuccess)
        let attributes = try #require(program.attributes(internet([kSecAttrProtocol: "ftp "])))
        #expect(attributes[kSecAttrProtocol] as? String == "ftp ")
        #expect(attributes[kSecAttrPort] as? Int == 21)
        #expect(program.status(internet([kSecAttrProtocol: 0x6674_7020])) == errSecSuccess)
        #expect(program.add(internet([kSecAttrProtocol: 6])) == errSecSuccess)
        #expect(program.attributes(internet([kSecAttrProtocol: 6]))?[kSecAttrProtocol] as? Int == 6)
        for bad in ["ftp", "https", "", "ft\u{1}p"] {
            #expect(program.add(internet([kSecAttrProtocol: bad])) == errSecParam, "\(bad)")
        }
    }

    @Test("Key class and key type are strings of digits, and numbers are also accepted")
    func keyNumbers() throws {
        let key: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrKeyType: kSecAttrKeyTypeEC,
            kSecAttrKeySizeInBits: 256, kSecAttrCanSign: true, kSecAttrIsPermanent: false,
            kSecAttrApplicationTag: "org.example", kSecAttrApplicationLabel: Data([1]),
        ]
        #expect(program.add(key) == errSecSuccess)
        let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrKeyType: 73, kSecAttrKeyClass: 1]
        let attributes = try #require(program.attributes(query))
        #expect(attributes[kSecAttrKeyType] as? String == "73")
        #expect(attributes[kSecAttrKeyClass] as? String == "1")
        #expect(attributes[kSecAttrKeySizeInBits] as? Int == 256)
        #expect(attributes[kSecAttrCanSign] as? Bool == true && attributes[kSecAttrIsPermanent] as? Bool == false)
        #expect(attributes[kSecAttrApplicationTag] as? String == "org.example")
        #expect(program.add([kSecClass: kSecClassKey, kSecAttrKeyType: "RSA"]) == errSecParam)
    }

    @Test("Dates are stored with microsecond precision and can be searched for")
    func dates() throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000.123456)
        #expect(program.add([kSecClass: kSecClassKey, "sdat": date, "edat": date]) == errSecSuccess)
        let attributes = try #require(program.attributes([kSecClass: kSecClassKey, "sdat": date]))
        let found = try #require(attributes["sdat"] as? Date)
        #expect(abs(found.timeIntervalSince(date)) < 1e-6)
        let far: [CFString: Any] = [kSecClass: kSecClassKey, "sdat": Date.distantFuture]
        #expect(program.add(far) == errSecSuccess)
        #expect(program.attributes(far)?["sdat"] as? Date == .distantFuture)
        // Two days before year 1, and infinity.
        for outside in [Date.distantPast, Date(timeIntervalSince1970: .infinity)] {
            #expect(program.add([kSecClass: kSecClassKey, "sdat": outside]) == errSecParam)
        }
    }

    @Test("A canonical decimal string is accepted as a number, and any other string is refused")
    func spelledNumbers() throws {
        #expect(program.add(internet([kSecAttrPort: "443", kSecAttrSynchronizable: "1"])) == errSecSuccess)
        #expect(program.add(internet([kSecAttrPort: 443, kSecAttrSynchronizable: true])) == errSecDuplicateItem)
        let attributes = try #require(program.attributes(internet([kSecAttrPort: 443, kSecAttrSynchronizable: 1])))
        #expect(attributes[kSecAttrPort] as? Int == 443)
        #expect(program.add(internet([kSecAttrPort: "443", kSecAttrSynchronizable: "0"])) == errSecSuccess)
        for bad in ["0443", "+443", " 443", "443 ", "https", "", "99999999999999999999"] {
            #expect(program.add(internet([kSecAttrPort: bad])) == errSecParam, "\(bad)")
        }
        #expect(program.add(internet([kSecAttrSynchronizable: "yes"])) == errSecParam)
    }

    @Test("The type and creator of a password may be given as four characters")
    func characters() throws {
        #expect(program.add(generic([kSecAttrType: "note", kSecAttrCreator: "kcbk"])) == errSecSuccess)
        let attributes = try #require(program.attributes(generic([kSecAttrType: 0x6e6f_7465])))
        #expect(attributes[kSecAttrType] as? Int == 0x6e6f_7465)
        #expect(program.status(generic([kSecAttrType: "note", kSecAttrCreator: "kcbk"])) == errSecSuccess)
        #expect(program.status(generic([kSecAttrType: "not "])) == errSecItemNotFound)
        #expect(program.add(generic([kSecAttrType: "notes"])) == errSecParam)
        #expect(program.add([kSecClass: kSecClassKey, kSecAttrCreator: "kcbk"]) == errSecParam)
    }

    @Test("Text may be given as bytes, and bytes as text")
    func textsAsBytes() throws {
        let group: [CFString: Any] = [kSecAttrAccessGroup: Data("test".utf8), kSecAttrAccessible: Data("ck".utf8)]
        #expect(program.add(password("ann", "1", group)) == errSecSuccess)
        #expect(program.attributes(query("ann"))?[kSecAttrAccessGroup] as? String == "test")
        #expect(program.attributes(query("ann", group))?[kSecAttrAccessible] as? String == "ck")
        #expect(program.add(password("bob", "1", [kSecAttrAccessGroup: Data([0xff])])) == errSecParam)
        #expect(
            program.add(password("bob", "1", [kSecAttrAccessGroup: Data("other".utf8)])) == errSecMissingEntitlement)
        let key: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: "mail"]
        #expect(program.add(key) == errSecSuccess)
        let found = program.attributes([kSecClass: kSecClassKey, kSecAttrApplicationLabel: Data("mail".utf8)])
        #expect(found?[kSecAttrApplicationLabel] as? Data == Data("mail".utf8))
    }

    @Test("A value of the wrong type is refused by all four calls, and nothing changes")
    func wrongTypes() throws {
        #expect(program.add(password("ann")) == errSecSuccess)
        for (name, value) in [
            (kSecAttrAccount as String, [1]), (kSecAttrLabel as String, Date()), (kSecAttrType as String, "texts"),
            (kSecAttrIsInvisible as String, Data()),
            (kSecAttrAccessGroup as String, 7), (kSecAttrAccessible as String, 7), (kSecAttrAccessible as String, "xx"),
            (kSecAttrCreationDate as String, "now"),
            (kSecAttrSynchronizable as String, "yes"), (kSecReturnData as String, "yes"),
            (kSecReturnAttributes as String, NSNull()),
            (kSecAttrAccessControl as String, "ak"), (kSecAttrSyncViewHint as String, Data([0xff])),
            (kSecAttrTombstone as String, "no"),
            (kSecUseDataProtectionKeychain as String, "no"), (kSecUseOperationPrompt as String, 1),
            (kSecUseAuthenticationUI as String, "u_Odd"),
        ] as [(String, Any)] {
            let statuses = program.statusesOfAllCalls(query("ann", [name as CFString: value]))
            #expect(statuses.allSatisfy { $0 == errSecParam }, "\(name): \(statuses)")
        }
        for value in [-1, 1.5, "all", "1", NSNull()] as [Any] {
            #expect(program.status(query("ann", [kSecMatchLimit: value])) == errSecParam)
        }
        #expect(program.text(query("ann")) == "secret")
        #expect(program.attributes(query("ann"))?[kSecAttrLabel] == nil)
    }

    @Test("Foundation objects are accepted like Swift values")
    func foundationObjects() throws {
        let item: [CFString: Any] = [
            kSecClass: NSString(string: kSecClassGenericPassword as String), kSecAttrAccount: NSString(string: "ann"),
            kSecAttrGeneric: NSData(data: Data([1])), kSecValueData: NSData(data: Data("x".utf8)),
            kSecAttrSynchronizable: NSNumber(value: false), kSecAttrAccessible: NSString(string: "ck"),
            kSecAttrType: NSNumber(value: 7),
        ]
        #expect(program.add(item) == errSecSuccess)
        let found: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ann", kSecReturnData: kCFBooleanTrue as Any,
            kSecMatchLimit: kSecMatchLimitOne,
        ]
        #expect(program.find(found).1 as? Data == Data("x".utf8))
        let key: [CFString: Any] = [kSecClass: kSecClassKey, "sdat": NSDate(timeIntervalSince1970: 5)]
        #expect(program.add(key) == errSecSuccess)
    }

    @Test("A dictionary has at most 128 keys")
    func keyLimit() {
        func dictionary(keys: Int) -> [CFString: Any] {
            var dictionary = generic()
            while dictionary.count < keys { dictionary["x\(100 + dictionary.count)" as CFString] = "" }
            return dictionary
        }
        #expect(program.statusesOfAllCalls(dictionary(keys: 128)).allSatisfy { $0 == errSecNoSuchAttr })
        #expect(program.statusesOfAllCalls(dictionary(keys: 129)).allSatisfy { $0 == errSecParam })
    }

    @Test("Secrets of up to 16 MiB are returned unchanged", arguments: [0, 1, 1 << 20, 16 << 20])
    func secretSizes(size: Int) {
        let secret = Data((0..<min(size, 251)).map { UInt8($0) } + [UInt8](repeating: 7, count: max(0, size - 251)))
        #expect(program.add(query("ann", [kSecValueData: secret])) == errSecSuccess)
        #expect(program.find(query("ann", [kSecReturnData: true])).1 as? Data == secret)
    }

    @Test("A secret or attribute over its limit is refused, and nothing changes")
    func beyondLimits() {
        let secret = Data(count: ItemLimits.secretSize + 1)
        #expect(program.add(query("ann", [kSecValueData: secret])) == errSecDataTooLarge)
        let text = String(repeating: "x", count: ItemLimits.attributeSize)
        #expect(program.add(query("ann", [kSecAttrLabel: text + "x"])) == errSecDataTooLarge)
        #expect(program.count(generic()) == 0)
        #expect(program.add(query("ann", [kSecAttrLabel: text])) == errSecSuccess)
        #expect(program.update(query("ann"), [kSecAttrLabel: text + "x"]) == errSecDataTooLarge)
        #expect(program.update(query("ann"), [kSecValueData: secret]) == errSecDataTooLarge)
        #expect(program.attributes(query("ann"))?[kSecAttrLabel] as? String == text)
        #expect(program.text(query("ann")) == "")
    }

    @Test("A thousand items are found individually and all at once")
    func manyItems() throws {
        for index in 0..<1_000 {
            try #require(program.add(password("user\(index)", "\(index)")) == errSecSuccess)
        }
        let everything: [CFString: Any] = [
            kSecReturnData: true, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
        ]
        let all = try #require(program.find(generic(everything)).1 as? [[CFString: Any]])
        #expect(all.count == 1_000)
        for item in all {
            let secret = String(decoding: item[kSecValueData] as? Data ?? Data(), as: UTF8.self)
            #expect(item[kSecAttrAccount] as? String == "user\(secret)")
        }
        #expect(program.text(query("user777")) == "777")
        #expect((program.find(generic([kSecReturnData: true, kSecMatchLimit: 10])).1 as? [Any])?.count == 10)
        #expect(program.delete(generic()) == errSecSuccess)
        #expect(program.count(generic()) == 0)
    }

    @Test("NaN is refused as a truth value")
    func notANumber() throws {
        let program = try TestClient()
        #expect(program.add(generic([kSecAttrSynchronizable: Double.nan])) == errSecParam)
    }
}
