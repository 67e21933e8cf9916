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
        let report = try RestoreBackup(encrypted, options: options) { _, _, _ in .restores }.run(into: target)
        #expect(report.failing.map { $0.item.accessibility.rawValue } == ["aku", "cku", "dku"])
        #expect(report.failing.allSatisfy { $0.problem == .noKey })
        #expect(try Set(target.contents().keys) == ["ak", "ck", "dk"])

        let second = try new.makeKeychain("second")
        let unencrypted = try new.open(old.folder.path("u.kcb"))
        _ = try? RestoreBackup(unencrypted, options: options) { _, _, _ in .restores }.write(into: second)
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

@Suite("Conflicts")
struct ConflictTests {
    /// The secret and the counts after restoring an archive in which `a` is "old" into a keychain where it is "new"
    /// since.
    private func restore(_ change: (inout RestoreOptions) -> Void) throws -> (String??, RestoreCounts) {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        let item = try keychain.add("a", "old")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        try keychain.change(item, to: "new", at: moment(50))
        let report = try machine.restore(
            machine.open(machine.folder.path("a.kcb"), with: identity), into: keychain, change)
        return (try keychain.contents()["a"], report.counts)
    }

    @Test("By default the later modification date wins")
    func newer() throws {
        let (secret, counts) = try restore { _ in }
        #expect(secret == "new")
        #expect(counts.keep == 1)
    }

    @Test("'overwrite' brings back the archive's version")
    func overwrite() throws {
        let (secret, counts) = try restore { $0.conflictPolicy = .overwrite }
        #expect(secret == "old")
        #expect(counts.update == 1)
    }

    @Test("'fail' stops before anything is written")
    func fail() throws {
        #expect(throws: RestoreRefusal.conflicts(1)) { try restore { $0.conflictPolicy = .fail } }
    }

    @Test("'--replace' removes local items, keeps a newer synchronizable item, and restores the rest")
    func replace() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        try keychain.add("local", "old")
        let shared = try keychain.add("shared", "old", synchronizable: true)
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        try keychain.add("added since", "x")
        try keychain.change(shared, to: "new", at: moment(50))
        let report = try machine.restore(machine.open(machine.folder.path("a.kcb"), with: identity), into: keychain) {
            $0.replacing = .archived
        }
        #expect(report.counts.remove == 1 && report.counts.same == 1 && report.counts.create == 0)
        #expect(try keychain.contents() == ["local": "old", "shared": "new"])
    }

    @Test("'--replace' does not name an item as removed if the archive has another one under its unique key")
    func replaceUnderOtherUUID() throws {
        let machine = try Machine()
        let (old, keychain) = (try machine.makeKeychain("old"), try machine.makeKeychain())
        try old.add("name", "tulip")
        try keychain.add("name", "rose")
        try keychain.add("other", "violet")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(old, as: "a.kcb", to: [identity.recipient])
        let report = try machine.restore(machine.open(machine.folder.path("a.kcb"), with: identity), into: keychain) {
            $0.replacing = .archived
        }
        #expect(report.vanishing.map { $0.attributes.text(.acct) } == ["other"])
        #expect(try keychain.contents() == ["name": "tulip"])
    }

    @Test("'--replace' restores an item that has become local since, and keeps one that has become synchronizable")
    func replaceAcrossSynchronizable() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        let shared = try keychain.add("shared", "old", synchronizable: true)
        let local = try keychain.add("local", "old")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        for (item, synchronizable) in [(shared, Int64(0)), (local, 1)] {
            _ = try keychain.update(
                matching: ItemQuery(item), set: [.sync: .number(synchronizable)], secret: Optional("new").secret,
                now: moment(50))
        }
        let report = try machine.restore(machine.open(machine.folder.path("a.kcb"), with: identity), into: keychain) {
            $0.replacing = .archived
        }
        // The local item was removed, so the archived one was created; the synchronizable item is newer and stays.
        #expect(try keychain.contents() == ["shared": "old", "local": "new"])
        #expect(report.counts.create == 1)
        #expect(report.counts.keep == 1)
    }

    @Test("A dry run reports what would happen and changes no byte")
    func dryRun() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        try keychain.add("a", "1")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let target = try machine.makeKeychain("target")
        let before = try machine.folder.read("target.keychain")
        let report = try machine.restore(machine.open(machine.folder.path("a.kcb"), with: identity), into: target) {
            $0.isDryRun = true
        }
        #expect(report.counts.create == 1 && report.isDryRun)
        #expect(try machine.folder.read("target.keychain") == before)
    }

    @Test("When all items are required and some stay behind, nothing is written")
    func requiresAll() throws {
        let (old, new) = (try Machine(), try Machine())
        let keychain = try old.makeKeychain()
        try keychain.add("a", "1")
        try keychain.add("b", "2", .whenUnlockedThisDeviceOnly)
        let identity = try NativeIdentity.generate(.x25519)
        try old.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let target = try new.makeKeychain()
        #expect(throws: RestoreRefusal.itemsStayBehind(1)) {
            try new.restore(new.open(old.folder.path("a.kcb"), with: identity), into: target) { $0.requiresAll = true }
        }
        #expect(try target.contents().isEmpty)
    }

    @Test("A filter restores the items that match, and ignores all others")
    func filtered() throws {
        let (old, new) = (try Machine(), try Machine())
        let keychain = try old.makeKeychain()
        try keychain.add("ann", "1")
        try keychain.add("bob", "2")
        // It would stay behind, but the filter does not select it.
        try keychain.add("annette", "3", .whenUnlockedThisDeviceOnly)
        let identity = try NativeIdentity.generate(.x25519)
        try old.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let target = try new.makeKeychain()
        try target.add("bob", "mine", at: moment(2))
        let archive = try new.open(old.folder.path("a.kcb"), with: identity)
        var wanted = ItemFilter()
        wanted.attributes[.acct] = .text("ann")
        let report = try new.restore(archive, into: target) {
            $0.filter = wanted
            $0.requiresAll = true
            $0.conflictPolicy = .fail
        }
        #expect(report.counts.create == 1 && report.counts.notSelected == 2)
        #expect(report.stayingBehind.isEmpty)
        #expect(try target.contents() == ["ann": "1", "bob": "mine"])

        wanted.attributes[.acct] = .text("carl")
        let before = try new.folder.read("login.keychain")
        #expect(throws: RestoreRefusal.nothingMatches) { try new.restore(archive, into: target) { $0.filter = wanted } }
        #expect(try new.folder.read("login.keychain") == before)
    }

    @Test("A filter selects from an archive what a query with the same conditions selects from a keychain")
    func filterEqualsQuery() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        var items = RandomItems(seed: 41)
        try keychain.write { writer in
            for _ in 0..<120 {
                do throws(KeychainStoreError) {
                    try writer.add(items.draft(), secret: nil, now: moment(1))
                } catch .duplicateItem {
                    continue
                }
            }
        }
        let all = try keychain.find(ItemQuery()).items
        var selected = 0
        for item in all {
            for entry in item.attributes.entries {
                for itemClass in [nil, item.itemClass] {
                    var filter = ItemFilter()
                    filter.itemClass = itemClass
                    filter.attributes = [entry.code: entry.value]
                    let query = ItemQuery(itemClass: itemClass, attributes: filter.attributes)
                    let found = try keychain.find(query).items
                    #expect(found == all.filter(filter.matches), "\(entry)")
                    selected += found.count
                }
            }
        }
        for code in AttributeCode.allCases {
            let filter = {
                var filter = ItemFilter(); filter.attributes = [code: Item.keyDefault(code)]; return filter
            }()
            #expect(try keychain.find(ItemQuery(attributes: filter.attributes)).items == all.filter(filter.matches))
        }
        #expect(selected > all.count)
    }
}
