import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Persistent references")
struct PersistentReferenceTests {
    private let program: TestClient
    private let ann: Data
    private let bob: Data

    init() throws {
        program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        #expect(program.add(password("bob", "2")) == errSecSuccess)
        ann = try #require(program.reference(query("ann")))
        bob = try #require(program.reference(query("bob")))
    }

    private func by(_ reference: Data, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
        [kSecValuePersistentRef: reference].merging(more) { $1 }
    }

    @Test(
        "A reference consists of the class and 16 bytes",
        arguments: [
            kSecClassGenericPassword as String, kSecClassInternetPassword as String, kSecClassCertificate as String,
            kSecClassKey as String,
        ])
    func shape(className: String) throws {
        let item: [CFString: Any] = [kSecClass: className, kSecAttrLabel: "it"]
        let added = program.adding(item.merging([kSecReturnPersistentRef: true]) { $1 }).1
        let reference = try #require(added as? Data)
        #expect(reference.count == 20)
        #expect(String(decoding: reference.prefix(4), as: UTF8.self) == className)
        #expect(program.reference(item) == reference)
        #expect(program.attributes(by(reference))?[kSecAttrLabel] as? String == "it")
    }

    @Test("A reference finds its item with or without the class")
    func find() {
        #expect(program.text(by(ann)) == "1" && program.text(by(bob)) == "2")
        #expect(program.text(generic(by(ann))) == "1")
        let list = program.find(by(ann, [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])).1
        #expect(list as? [Data] == [Data("1".utf8)])
        #expect(program.reference(by(ann)) == ann)
    }

    @Test("A reference updates and deletes only its own item")
    func change() {
        #expect(program.update(by(ann), [kSecValueData: Data("3".utf8)]) == errSecSuccess)
        #expect(program.text(by(ann)) == "3" && program.text(by(bob)) == "2")
        #expect(program.delete(by(ann)) == errSecSuccess)
        #expect(program.status(by(ann)) == errSecItemNotFound)
        #expect(program.update(by(ann), [kSecAttrLabel: "x"]) == errSecItemNotFound)
        #expect(program.delete(by(ann)) == errSecItemNotFound)
        #expect(program.text(by(bob)) == "2")
    }

    @Test("A reference survives any update, and an item that is added again has a new one")
    func survival() {
        let changes: [CFString: Any] = [
            kSecAttrAccount: "eve", kSecAttrService: "news", kSecAttrLabel: "x", kSecAttrSynchronizable: true,
            kSecAttrAccessible: kSecAttrAccessibleAlways, kSecValueData: Data("4".utf8),
        ]
        #expect(program.update(by(ann), changes) == errSecSuccess)
        #expect(program.text(by(ann)) == "4")
        #expect(program.delete(by(bob)) == errSecSuccess)
        #expect(program.add(password("bob")) == errSecSuccess)
        #expect(program.status(by(bob)) == errSecItemNotFound)
        #expect(program.reference(query("bob")) != bob)
    }

    @Test("Another program with the same keychain finds an item by the same reference")
    func otherProcess() throws {
        let other = try TestClient(sharing: program)
        #expect(other.text(by(ann)) == "1")
        #expect(other.reference(query("ann")) == ann)
    }

    @Test("A reference to an item in another program's group finds nothing")
    func foreignGroup() throws {
        let stranger = try TestClient(groups: ["stranger"], sharing: program)
        #expect(stranger.status(by(ann)) == errSecItemNotFound)
        #expect(stranger.update(by(ann), [kSecAttrLabel: "x"]) == errSecItemNotFound)
        #expect(stranger.delete(by(ann)) == errSecItemNotFound)
        #expect(program.text(by(ann)) == "1")
    }

    @Test(
        "Other conditions are refused along with a reference",
        arguments: [
            [kSecAttrAccount as String: "ann"], [kSecAttrAccessGroup as String: "test"], [kSecAttrLabel as String: "x"],
            [kSecAttrSynchronizable as String: false], [kSecAttrSynchronizable as String: true],
            [kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlocked as String],
            [kSecClass as String: kSecClassInternetPassword as String],
        ] as [[String: any Sendable]])
    func otherConditions(more: [String: any Sendable]) {
        #expect(program.status(generic(by(ann, keyed(more)))) == errSecParam)
        #expect(program.update(generic(by(ann, keyed(more))), [kSecAttrLabel: "y"]) == errSecParam)
        #expect(program.delete(generic(by(ann, keyed(more)))) == errSecParam)
        #expect(program.text(by(ann)) == "1")
    }

    @Test("A reference can be combined with any synchronizability")
    func anySynchronizability() {
        let any: [CFString: Any] = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
        #expect(program.text(by(ann, any)) == "1")
        #expect(program.update(by(ann, any), [kSecAttrLabel: "y"]) == errSecSuccess)
        #expect(program.delete(by(ann, any)) == errSecSuccess)
        #expect(program.status(by(ann)) == errSecItemNotFound)
    }

    @Test("Malformed references are refused")
    func malformed() {
        let uuid = Data(count: 16)
        for bytes in [
            Data(), ann.dropLast(), ann + Data([0]), Data("abcd".utf8) + uuid, Data("tkpr".utf8) + uuid,
            Data([0xff, 0xff, 0xff, 0xff]) + uuid, Data("genp".utf8) + Data(count: 8),
        ] {
            #expect(program.status(by(Data(bytes))) == errSecParam)
            #expect(program.delete(by(Data(bytes))) == errSecParam)
        }
        #expect(program.status([kSecValuePersistentRef: "genp"]) == errSecParam)
        #expect(program.status(by(Data("genp".utf8) + uuid)) == errSecItemNotFound)
        #expect(program.status(by(Data("keys".utf8) + ann.dropFirst(4))) == errSecItemNotFound)
    }

    @Test("A list of all items, synchronizable or not, has attributes and references")
    func listWithReferences() throws {
        let item = generic([kSecAttrService: "one", kSecAttrAccessible: kSecAttrAccessibleAlways])
        #expect(program.add(item) == errSecSuccess)
        let query = generic([
            kSecAttrService: "one", kSecAttrSynchronizable: kSecAttrSynchronizableAny,
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
        ])
        let found = try #require(program.find(query).1 as? [[CFString: Any]])
        #expect(found.count == 1)
        #expect(found.first?[kSecValuePersistentRef] as? Data == program.reference(item))
        #expect(found.first?[kSecAttrService] as? String == "one")
    }
}
