import KCAgeEncryption
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

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

    @Test("'fail' stops before anything is written, and a dry run fails for the same reason", arguments: [false, true])
    func fail(isDryRun: Bool) throws {
        #expect(throws: RestoreRefusal.conflicts(1)) {
            try restore {
                $0.conflictPolicy = .fail
                $0.isDryRun = isDryRun
            }
        }
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

    @Test("'--replace' removes no item that is in no archive")
    func replaceKeepsUnarchived() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        try keychain.add("archived", "tulip")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        try keychain.add("local", "rose")
        try keychain.add("unarchived", "violet", .whenPasscodeSetThisDeviceOnly)
        let report = try machine.restore(machine.open(machine.folder.path("a.kcb"), with: identity), into: keychain) {
            $0.replacing = .archived
        }
        #expect(report.vanishing.map { $0.attributes.text(.acct) } == ["local"])
        #expect(try keychain.contents() == ["archived": "tulip", "unarchived": "violet"])
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

    @Test(
        "When all items are required and some stay behind, nothing is written, and a dry run fails, too",
        arguments: [false, true])
    func requiresAll(isDryRun: Bool) throws {
        let (old, new) = (try Machine(), try Machine())
        let keychain = try old.makeKeychain()
        try keychain.add("a", "1")
        try keychain.add("b", "2", .whenUnlockedThisDeviceOnly)
        let identity = try NativeIdentity.generate(.x25519)
        try old.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let target = try new.makeKeychain()
        #expect(throws: RestoreRefusal.itemsStayBehind(1)) {
            try new.restore(new.open(old.folder.path("a.kcb"), with: identity), into: target) {
                $0.requiresAll = true
                $0.isDryRun = isDryRun
            }
        }
        #expect(try target.contents().isEmpty)
    }

    @Test("A filter restores the items that match, and ignores all others")
    func filtered() throws {
        let (old, new) = (try Machine(), try Machine())
        let keychain = try old.makeKeychain()
        try keychain.add("ann", "1")
        try keychain.add("bob", "2")
        // The item 'annette' would stay behind, but the filter does not select it.
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
