import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Synchronizable items")
struct SynchronizableTests {
    private let program: TestClient
    private let any: [CFString: Any] = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
    private let yes: [CFString: Any] = [kSecAttrSynchronizable: true]

    init() throws {
        program = try TestClient()
    }

    /// The number of tombstones of an account.
    private func tombstones(_ account: String = "ann", synchronizable: Any = kSecAttrSynchronizableAny) -> Int {
        program.count(query(account, [kSecAttrTombstone: true, kSecAttrSynchronizable: synchronizable]))
    }

    @Test("A synchronizable item is found with `true` and `any`, but not by default")
    func find() {
        #expect(program.add(password("ann", "1", yes)) == errSecSuccess)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.status(query("ann", [kSecAttrSynchronizable: false])) == errSecItemNotFound)
        #expect(program.text(query("ann", yes)) == "1" && program.text(query("ann", any)) == "1")
        #expect(program.attributes(query("ann", any))?[kSecAttrSynchronizable] as? Bool == true)
        #expect(program.text(query("ann", [kSecAttrSynchronizable: NSNumber(value: 1)])) == "1")
    }

    @Test("An item and its synchronizable counterpart are updated and deleted separately")
    func twins() {
        #expect(program.add(password("ann", "local")) == errSecSuccess)
        #expect(program.add(password("ann", "shared", yes)) == errSecSuccess)
        #expect(program.count(query("ann", any)) == 2)
        #expect(program.update(query("ann"), [kSecAttrComment: "local"]) == errSecSuccess)
        #expect(program.update(query("ann", yes), [kSecAttrComment: "shared"]) == errSecSuccess)
        #expect(program.attributes(query("ann", yes))?[kSecAttrComment] as? String == "shared")
        #expect(program.attributes(query("ann"))?[kSecAttrComment] as? String == "local")
        #expect(program.delete(query("ann")) == errSecSuccess)
        #expect(program.text(query("ann", yes)) == "shared")
        #expect(program.add(password("ann", "local")) == errSecSuccess)
        #expect(program.delete(query("ann", any)) == errSecSuccess)
        #expect(program.count(query("ann", any)) == 0)
    }

    @Test("An add with `any` creates an item that is not synchronizable")
    func addAny() {
        #expect(program.add(password("ann", "1", any)) == errSecSuccess)
        #expect(program.attributes(query("ann"))?[kSecAttrSynchronizable] as? Bool == false)
    }

    @Test(
        "A ThisDeviceOnly item may be synchronizable, by an add or an update, and is found as such",
        arguments: [
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String,
            kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
            kSecAttrAccessibleAlwaysThisDeviceOnly as String, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String,
        ])
    func thisDeviceOnly(accessibility: String) throws {
        let program = try TestClient(hasPasscode: true)
        let bound: [CFString: Any] = [kSecAttrAccessible: accessibility]
        #expect(program.add(password("ann", "1", bound.merging(yes) { $1 })) == errSecSuccess)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.text(query("ann", yes)) == "1")
        #expect(program.attributes(query("ann", yes))?[kSecAttrAccessible] as? String == accessibility)
        #expect(program.add(password("bob", "2", yes)) == errSecSuccess)
        #expect(program.update(query("bob", yes), bound) == errSecSuccess)
        #expect(program.attributes(query("bob", yes))?[kSecAttrAccessible] as? String == accessibility)
        #expect(program.add(password("eve", "3", bound)) == errSecSuccess)
        #expect(program.update(query("eve"), yes) == errSecSuccess)
        #expect(program.text(query("eve", yes)) == "3")
    }

    @Test("A deleted synchronizable item leaves a tombstone without a secret, found only on request")
    func tombstone() throws {
        #expect(program.add(password("ann", "1", yes.merging([kSecAttrLabel: "Mail"]) { $1 })) == errSecSuccess)
        #expect(program.delete(query("ann", any)) == errSecSuccess)
        #expect(program.status(query("ann", any)) == errSecItemNotFound)
        #expect(program.delete(query("ann", any)) == errSecItemNotFound)
        #expect(program.update(query("ann", any), [kSecAttrLabel: "x"]) == errSecItemNotFound)
        let trace: [CFString: Any] = [kSecAttrTombstone: true, kSecReturnAttributes: true, kSecReturnData: true]
        let found = try #require(program.find(query("ann", any.merging(trace) { $1 })).1 as? [CFString: Any])
        #expect(found[kSecValueData] == nil && found[kSecAttrLabel] == nil)
        #expect(found[kSecAttrAccount] as? String == "ann")
        let later = Date(TestClient.start.advanced(byMicroseconds: 1_000))
        #expect(found[kSecAttrModificationDate] as? Date == later)
        #expect(found[kSecAttrCreationDate] as? Date == Date(TestClient.start))
    }

    @Test("Adding over a tombstone replaces it, with a later modification date")
    func addOverTombstone() throws {
        #expect(program.add(password("ann", "1", yes)) == errSecSuccess)
        #expect(program.delete(query("ann", yes)) == errSecSuccess)
        #expect(program.add(password("ann", "2", yes)) == errSecSuccess)
        #expect(program.text(query("ann", yes)) == "2" && tombstones() == 0)
        let modified = program.attributes(query("ann", yes))?[kSecAttrModificationDate] as? Date
        #expect(modified == Date(TestClient.start.advanced(byMicroseconds: 2_000)))
    }

    @Test("An update may give an item the key of a tombstone, which it replaces")
    func updateOverTombstone() {
        #expect(program.add(password("bob", "1", yes)) == errSecSuccess)
        #expect(program.add(password("ann", "2", yes)) == errSecSuccess)
        #expect(program.delete(query("ann", yes)) == errSecSuccess)
        #expect(program.update(query("bob", yes), [kSecAttrAccount: "ann"]) == errSecSuccess)
        #expect(program.text(query("ann", yes)) == "1")
        #expect(tombstones("ann") == 0 && tombstones("bob") == 1)
    }

    @Test("An update that changes the key leaves a tombstone at the old key, and others leave none")
    func changeOfKey() {
        #expect(program.add(password("ann", "1", yes)) == errSecSuccess)
        #expect(
            program.update(query("ann", yes), [kSecAttrLabel: "x", kSecValueData: Data("2".utf8)]) == errSecSuccess)
        #expect(tombstones() == 0)
        #expect(program.update(query("ann", yes), [kSecAttrAccount: "eve"]) == errSecSuccess)
        #expect(tombstones("ann") == 1 && program.text(query("eve", yes)) == "2")
        #expect(program.update(query("eve", yes), [kSecAttrSynchronizable: false]) == errSecSuccess)
        #expect(tombstones("eve", synchronizable: true) == 1 && program.text(query("eve")) == "2")
    }

    @Test(
        "Whether a deletion leaves a tombstone depends on the item, unless the caller specifies it",
        arguments: [
            (false, nil, 0), (true, nil, 1), (false, true, 1), (true, true, 1), (false, false, 0), (true, false, 0),
        ] as [(Bool, Bool?, Int)])
    func tombstoneMatrix(isSynchronizable: Bool, leavesTombstone: Bool?, expected: Int) {
        let sync: [CFString: Any] = [kSecAttrSynchronizable: isSynchronizable]
        var deletion = query("ann", sync)
        deletion[kSecUseTombstones] = leavesTombstone
        #expect(program.add(password("ann", "1", sync)) == errSecSuccess)
        #expect(program.delete(deletion) == errSecSuccess)
        #expect(program.count(query("ann")) == 0)
        #expect(tombstones("ann", synchronizable: isSynchronizable) == expected)
        #expect(program.add(password("ann", "2", sync)) == errSecSuccess)
        #expect(tombstones("ann", synchronizable: isSynchronizable) == 0)
    }

    @Test("A tombstone can be deleted by requesting it and leaving no tombstone")
    func removeTombstone() {
        #expect(program.add(password("ann", "1", yes)) == errSecSuccess)
        #expect(program.delete(query("ann", yes)) == errSecSuccess)
        let trace = query("ann", yes.merging([kSecAttrTombstone: true, kSecUseTombstones: false]) { $1 })
        #expect(program.delete(trace) == errSecSuccess)
        #expect(tombstones() == 0 && program.delete(trace) == errSecItemNotFound)
    }
}
