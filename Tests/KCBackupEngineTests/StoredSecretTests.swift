import Foundation
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCGzipStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Stored secrets")
struct StoredSecretTests {
    private let machine: Machine

    init() throws {
        machine = try Machine()
    }

    private func open(_ passcode: String? = nil) throws -> ProvenArchive {
        let archive = try machine.open(machine.folder.path("u.kcb"))
        switch passcode.secret {
        case .some(let passcode): try archive.stored?.unlock(passcode: passcode, minimumCost: Machine.cheap)
        case .none: break
        }
        return archive
    }

    private func filled(_ name: String = "login", passcode: String? = "1234") throws -> Keychain {
        let keychain = try machine.makeKeychain(name, passcode: passcode)
        for accessibility in Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            try keychain.add(accessibility.rawValue, "secret of \(accessibility.rawValue)", accessibility)
        }
        return keychain
    }

    /// Changes a byte of the stored secret of an item, as bit rot would.
    private func rot(_ name: String, _ keychain: Keychain, _ account: String) throws {
        let item = try #require(try keychain.find(ItemQuery(attributes: [.acct: .text(account)])).items.first)
        let secret = try #require(try stored(item, keychain))
        var bytes = try machine.folder.read(name + ".keychain")
        let start = try #require(bytes.firstRange(of: secret)?.lowerBound)
        bytes[start + secret.count - 1] ^= 1
        try machine.folder.overwrite(name + ".keychain", bytes)
    }

    private func stored(_ item: Item, _ keychain: Keychain) throws -> [UInt8]? {
        struct Finder: ItemVisitor {
            let uuid: ItemUUID
            var found: [UInt8]?
            func wants(_ item: Item) -> Bool { item.uuid == uuid }
            mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
                found = secret.bytesForTest()
            }
            func skip(damaged item: Item?) {}
        }
        return try keychain.visitStoredItems { _ in Finder(uuid: item.uuid) }.found
    }

    @Test("An archive made before a passcode change restores into its keychain with the current passcode")
    func retired() throws {
        let keychain = try filled()
        try machine.backUpUnencrypted(keychain, as: "u.kcb")
        try keychain.setPasscode(
            current: Optional("1234").secret, new: Optional("new").secret, cost: Machine.cheap, now: moment(2))
        _ = try keychain.delete(matching: ItemQuery(), now: moment(200))
        #expect(try machine.restore(open(), into: keychain).counts.create == 6)
        #expect(try keychain.contents()["ck"] == "secret of ck")
        #expect(try machine.restore(open(), into: keychain).counts.same == 6)
        keychain.lock(untilFirstUnlock: true)
        #expect(throws: ArchiveFailure.passcodeNeeded) { try machine.restore(open(), into: keychain) }
    }

    @Test("An archive restores into another keychain of the device only with the passcode it was made under")
    func otherKeychain() throws {
        try machine.backUpUnencrypted(filled(), as: "u.kcb")
        let other = try machine.makeKeychain("other", passcode: "5678")
        let before = try machine.folder.read("other.keychain")
        #expect(throws: ArchiveFailure.passcodeNeeded) { try machine.restore(open(), into: other) }
        #expect(throws: ArchiveFailure.wrongPasscode) { try open("5678") }
        #expect(try machine.folder.read("other.keychain") == before)
        #expect(try machine.restore(open("1234"), into: other).counts.create == 6)
        #expect(try other.contents()["cku"] == "secret of cku")
        #expect(try machine.restore(open("1234"), into: other).counts.same == 6)
    }

    @Test("An archive of a keychain without a passcode needs none to restore into another keychain")
    func withoutPasscode() throws {
        try machine.backUpUnencrypted(filled(passcode: nil), as: "u.kcb")
        let other = try machine.makeKeychain("other", passcode: "5678")
        #expect(try machine.restore(open(), into: other).counts.create == 6)
        #expect(try other.contents()["ak"] == "secret of ak")
    }

    @Test("An archive made while the passcode is changed has the keybag that its items are sealed under")
    func consistentKeybag() throws {
        let stale = try filled(passcode: nil)
        let other = try Keychain.open(
            at: machine.folder.path("login.keychain"), deviceKey: machine.device, minimumCost: Machine.cheap)
        try other.setPasscode(current: nil, new: Optional("new").secret, cost: Machine.cheap, now: moment(2))
        try machine.backUpUnencrypted(stale, as: "u.kcb")
        let report = try open("new").verify()
        #expect(report.opened == 6 && report.broken.isEmpty)
    }

    @Test("Create leaves out and counts an item with a broken seal if it has the key")
    func rotAtCreate() throws {
        try rot("login", filled(), "ck")
        let keychain = try reopened()
        try keychain.unlock(passcode: Optional("1234").secret, now: moment(2))
        let report = try machine.backUpUnencrypted(keychain, as: "u.kcb")
        #expect(report.damaged.map { $0?.accessibility } == [.afterFirstUnlock])
        #expect(report.contents.damaged == 1 && !report.contents.isComplete && report.notOpened == 0)
    }

    @Test("Create reports how many items it had no key for")
    func notOpenedAtCreate() throws {
        let keychain = try filled()
        keychain.lock(untilFirstUnlock: true)
        #expect(try machine.backUpUnencrypted(keychain, as: "u.kcb").notOpened == 4)
    }

    /// Makes an archive with a broken item from a locked keychain, and repairs the keychain.
    private func rotten() throws -> Keychain {
        let keychain = try filled()
        let good = try machine.folder.read("login.keychain")
        try rot("login", keychain, "ck")
        #expect(try machine.backUpUnencrypted(reopened(), as: "u.kcb").damaged.isEmpty)
        try machine.folder.overwrite("login.keychain", good)
        return try reopened()
    }

    /// The keychain as another process sees it; an open connection may have outdated pages in its cache.
    private func reopened() throws -> Keychain {
        try Keychain.open(
            at: machine.folder.path("login.keychain"), deviceKey: machine.device, minimumCost: Machine.cheap)
    }

    @Test("Verify names an item with a broken seal if it has the key, and counts the items that it could not open")
    func rotAtVerify() throws {
        _ = try rotten()
        let without = try open().verify()
        #expect(without.opened == 2 && without.notOpened == 4 && without.broken.isEmpty)
        let with = try open("1234").verify()
        #expect(with.opened == 5 && with.notOpened == 0)
        #expect(with.broken.map(\.accessibility) == [.afterFirstUnlock])
    }

    @Test("Restore leaves out an item with a broken seal, keeps an intact one in its place, and restores the rest")
    func rotAtRestore() throws {
        let keychain = try rotten()
        try keychain.unlock(passcode: Optional("1234").secret, now: moment(3))
        let report = try machine.restore(open(), into: keychain) { $0.conflictPolicy = .overwrite }
        #expect(report.failing.map(\.problem) == [.broken])
        #expect(try keychain.contents()["ck"] == "secret of ck")
        let other = try machine.makeKeychain("other", passcode: nil)
        #expect(try machine.restore(open("1234"), into: other).counts.create == 5)
    }

    @Test("A stored secret that cannot be opened does not replace the one of an otherwise equal item")
    func unopenedDoesNotReplace() throws {
        let keychain = try rotten()
        let report = try machine.restore(open(), into: keychain)
        #expect(report.counts.keep == 1 && report.counts.same == 5 && report.notOpened == 4)
        try keychain.unlock(passcode: Optional("1234").secret, now: moment(3))
        #expect(try keychain.contents()["ck"] == "secret of ck")
    }

    @Test("A replacing restore removes nothing if the archive lacks items that were damaged")
    func replaceByIncompleteArchive() throws {
        let keychain = try filled()
        let good = try machine.folder.read("login.keychain")
        try rot("login", keychain, "ck")
        let rotten = try reopened()
        try rotten.unlock(passcode: Optional("1234").secret, now: moment(2))
        #expect(try machine.backUpUnencrypted(rotten, as: "u.kcb").contents.damaged == 1)
        try machine.folder.overwrite("login.keychain", good)
        let whole = try reopened()
        try whole.unlock(passcode: Optional("1234").secret, now: moment(3))
        #expect(throws: RestoreRefusal.wouldRemoveUnread(1)) {
            try machine.restore(open("1234"), into: whole) { $0.replacing = .archived }
        }
        #expect(try whole.contents()["ck"] == "secret of ck")
    }

    @Test("A replacing restore removes nothing if archived items are broken or cannot be opened")
    func rotAtReplace() throws {
        let keychain = try rotten()
        let before = try keychain.find(ItemQuery()).items
        #expect(throws: RestoreRefusal.wouldRemoveUnopened(4)) {
            try machine.restore(open(), into: keychain) { $0.replacing = .archived }
        }
        try keychain.unlock(passcode: Optional("1234").secret, now: moment(3))
        #expect(throws: RestoreRefusal.wouldRemoveForBroken(1)) {
            try machine.restore(open(), into: keychain) { $0.replacing = .archived }
        }
        #expect(try keychain.find(ItemQuery()).items == before)
    }
}

private func changesKeybag(
    _ name: String, _ refusal: HostileCase.Refusal, _ change: @escaping @Sendable (String) -> String
) -> HostileCase {
    HostileCase(name, .unencrypted, refusal) { forgery in
        let start = try #require(forgery.header.firstRange(of: "\"keybag\":\"")).upperBound
        let end = try #require(forgery.header.firstRange(of: "\",\"counts\"")).lowerBound
        let old = String(forgery.header[start..<end])
        let new = change(old)
        #expect(new != old)
        forgery.header.replaceSubrange(start..<end, with: new)
    }
}

private func changesSecret(_ name: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) -> HostileCase {
    HostileCase(name, .unencrypted, .damaged("does not fit its item")) { forgery in
        let line = try #require(forgery.secrets.firstIndex { $0.contains("\"stored\"") })
        let start = try #require(forgery.secrets[line].firstRange(of: "\"stored\":\"")).upperBound
        let old = String(forgery.secrets[line][start...].dropLast(2))
        let new = Base64.encode(change(try #require(Base64.decode(old))))
        forgery.secrets[line].replaceSubrange(start..., with: new + "\"}")
    }
}

private let storedCases = [
    changesKeybag("a keybag that is none", .damaged("canonical")) { _ in "hello" },
    changesKeybag("a keybag of a newer version", .limit("version of the keybag")) {
        $0.replacing("version\\\":1", with: "version\\\":7")
    },
    changesKeybag("a keybag that another device wrote", .damaged("another device")) { keybag in
        let other = "KC-ABCD-EFGH-IJKL-MNOP-QRST"
        guard let start = keybag.firstRange(of: "KC-")?.lowerBound else { return keybag }
        return keybag.replacing(keybag[start...].prefix(other.count), with: other)
    },
    changesKeybag("a keybag with a wrong code", .damaged("as this device wrote it")) {
        $0.replacing("generation\\\":1", with: "generation\\\":2")
    },
    changesSecret("a stored secret that is empty") { _ in [] },
    changesSecret("a stored secret that is too long") { $0 + [0] },
    changesSecret("a stored secret that is too short") { $0.dropLast() },
    changesSecret("a stored secret of an unknown format") { [9] + $0.dropFirst() },
]

@Suite("Hostile stored secrets")
struct HostileStoredSecretTests {
    @Test("Verify and restore refuse a keybag or stored secret that no keychain would write", arguments: storedCases)
    func stored(_ hostile: HostileCase) throws { try hostile.check() }
}
