import KCAgeEncryption
import KCBackupArchive
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// A keychain with one item of each accessibility, named after it.
private func everyAccessibility(on machine: Machine) throws -> Keychain {
    let keychain = try machine.makeKeychain()
    for accessibility in Accessibility.allCases {
        try keychain.add(accessibility.rawValue, "secret of \(accessibility.rawValue)", accessibility)
    }
    return keychain
}

@Suite("The rules of restore")
struct RuleTests {
    @Test("An encrypted archive restores every item on the device that made it, except those that no archive contains")
    func encryptedSameDevice() throws {
        let machine = try Machine()
        let report = try machine.backUp(everyAccessibility(on: machine), as: "a.kcb", passphrase: "horse")
        #expect(report.omitted.map { $0.accessibility } == [.whenPasscodeSetThisDeviceOnly])
        #expect(report.boundToThisDevice == 3)
        #expect(report.contents.counts.total == 6)

        let target = try machine.makeKeychain("restored")
        let restored = try machine.restore(
            machine.open(machine.folder.path("a.kcb"), passphrase: "horse"), into: target)
        #expect(restored.counts.create == 6)
        #expect(try Set(target.contents().keys) == ["ak", "ck", "dk", "aku", "cku", "dku"])
        #expect(try target.contents()["aku"] == "secret of aku")
    }

    @Test("On another device, an encrypted archive leaves the ThisDeviceOnly items behind, each with its reason")
    func encryptedElsewhere() throws {
        let (old, new) = (try Machine(), try Machine())
        try old.backUp(everyAccessibility(on: old), as: "a.kcb", passphrase: "horse")
        let target = try new.makeKeychain()
        let report = try new.restore(new.open(old.folder.path("a.kcb"), passphrase: "horse"), into: target)
        #expect(report.counts.create == 3)
        #expect(report.stayingBehind.map { $0.item.accessibility.rawValue } == ["aku", "cku", "dku"])
        #expect(report.stayingBehind.allSatisfy { $0.reason == .thisDeviceOnly })
        #expect(try Set(target.contents().keys) == ["ak", "ck", "dk"])
    }

    @Test(
        "A synchronizable item that is ThisDeviceOnly restores only on its device, and keeps both properties")
    func synchronizableInNameOnly() throws {
        let (old, new) = (try Machine(), try Machine())
        let keychain = try old.makeKeychain()
        let item = try keychain.add("bound", "tulip", .whenUnlockedThisDeviceOnly, synchronizable: true)
        let report = try old.backUp(keychain, as: "a.kcb", passphrase: "horse")
        #expect(report.boundToThisDevice == 1)
        let foreign = try new.restore(
            new.open(old.folder.path("a.kcb"), passphrase: "horse"), into: new.makeKeychain())
        #expect(foreign.stayingBehind.map(\.reason) == [.thisDeviceOnly] && foreign.counts.create == 0)
        // Such items are local: a replacing restore removes those that the archive does not have.
        try keychain.add("later", "violet", .alwaysThisDeviceOnly, synchronizable: true)
        let own = try old.restore(old.open(old.folder.path("a.kcb"), passphrase: "horse"), into: keychain) {
            $0.replacing = .archived
        }
        #expect(own.counts.same == 1 && own.counts.remove == 1)
        #expect(try keychain.contents() == ["bound": "tulip"])
        #expect(try keychain.find(ItemQuery(synchronizable: .yes)).items.map(\.uuid) == [item.uuid])
    }

    @Test("An unencrypted archive restores every item on its device without a passcode")
    func unencryptedSameDevice() throws {
        let machine = try Machine()
        let keychain = try everyAccessibility(on: machine)
        keychain.lock()
        let report = try machine.backUpUnencrypted(keychain, as: "u.kcb")
        #expect(report.boundToThisDevice == 6)
        _ = try keychain.delete(matching: ItemQuery(), now: moment(200))
        let restored = try machine.restore(machine.open(machine.folder.path("u.kcb")), into: keychain)
        #expect(restored.counts.create == 6)
        try keychain.unlock(passcode: Optional("1234").secret, now: moment(300))
        #expect(try keychain.contents()["ck"] == "secret of ck")
    }

    @Test("On another device, an unencrypted archive is refused entirely")
    func unencryptedElsewhere() throws {
        let (old, new) = (try Machine(), try Machine())
        try old.backUpUnencrypted(everyAccessibility(on: old), as: "u.kcb")
        let target = try new.makeKeychain()
        #expect(throws: RestoreRefusal.unencryptedElsewhere(device: old.device.id)) {
            try new.restore(new.open(old.folder.path("u.kcb")), into: target)
        }
        #expect(try target.contents().isEmpty)
    }

    @Test("Even if the verdict function always says 'restore', secrets that must not travel cannot be opened")
    func keysProtect() throws {
        let (old, new) = (try Machine(), try Machine())
        let source = try everyAccessibility(on: old)
        try old.backUp(source, as: "a.kcb", passphrase: "horse")
        try old.backUpUnencrypted(source, as: "u.kcb")
        var options = RestoreOptions()
        options.acceptedOrigin = old.device.id

        let target = try new.makeKeychain()
        let encrypted = try new.open(old.folder.path("a.kcb"), passphrase: "horse")
        let report = try Bring(.archive(encrypted), options: options) { _, _, _ in .restores }.run(into: target)
        #expect(report.failing.map { $0.item.accessibility.rawValue } == ["aku", "cku", "dku"])
        #expect(report.failing.allSatisfy { $0.problem == .noKey })
        #expect(try Set(target.contents().keys) == ["ak", "ck", "dk"])

        let second = try new.makeKeychain("second")
        let unencrypted = try new.open(old.folder.path("u.kcb"))
        _ = try? Bring(.archive(unencrypted), options: options) { _, _, _ in .restores }.write(into: second)
        for item in try second.find(ItemQuery()).items {
            #expect(throws: KeychainStoreError.self) { _ = try second.secret(of: item) }
        }
    }

    @Test("An unencrypted archive restores into a new keychain that adopts its class keys")
    func adoptedKeys() throws {
        let machine = try Machine()
        let keychain = try everyAccessibility(on: machine)
        try machine.backUpUnencrypted(keychain, as: "u.kcb")
        let archive = try machine.open(machine.folder.path("u.kcb"))
        let keybag = try Keybag(text: Array(try #require(archive.header.store).keychain.keybag.utf8).span)
        let adopting = try Keychain.create(
            at: machine.folder.path("new.keychain"), adopting: keybag, deviceKey: machine.device, now: moment(300),
            lockWait: .seconds(60), minimumCost: Machine.cheap)
        #expect(try machine.restore(archive, into: adopting).counts.create == 6)
        try adopting.unlock(passcode: Optional("1234").secret, now: moment(301))
        #expect(try adopting.contents()["cku"] == "secret of cku")
    }

    @Test("Restoring twice changes nothing the second time")
    func idempotent() throws {
        let machine = try Machine()
        let keychain = try everyAccessibility(on: machine)
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let archive = try machine.open(machine.folder.path("a.kcb"), with: identity)
        let target = try machine.makeKeychain("target")
        try machine.restore(archive, into: target)
        let before = try machine.folder.read("target.keychain")
        let second = try machine.restore(archive, into: target)
        #expect(second.counts.same == 6)
        #expect(second.counts.create + second.counts.update == 0)
        #expect(try machine.folder.read("target.keychain") == before)
    }
}
