import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("What changed between two backups")
struct CompareTests {
    private let machine: Machine
    private let keychain: Keychain
    private let restores: NativeIdentity
    private let inspects: NativeIdentity

    init() throws {
        restores = try NativeIdentity.generate(.x25519)
        inspects = try NativeIdentity.generate(.x25519)
        machine = try Machine()
        keychain = try machine.makeKeychain()
        try keychain.add("ada", "one")
        try keychain.add("bob", "two", .whenUnlockedThisDeviceOnly)
        try keychain.add("eve", nil)
    }

    private func archive(_ name: String, inspecting: Bool = false) throws -> ProvenArchive {
        try machine.backUp(keychain, as: name, to: [restores.recipient], inspectors: [inspects.recipient])
        return try open(name, inspecting: inspecting)
    }

    private func open(_ name: String, inspecting: Bool = false) throws -> ProvenArchive {
        try machine.open(machine.folder.path(name), with: inspecting ? inspects : restores)
    }

    private func find(_ account: String) throws -> Item {
        try #require(try keychain.find(ItemQuery()).items.first { $0.attributes.text(.acct) == account })
    }

    private func names(_ items: [Item]) -> [String] { items.compactMap { $0.attributes.text(.acct) } }

    private func set(_ account: String, _ changes: [AttributeCode: AttributeValue?]) throws {
        _ = try keychain.update(matching: ItemQuery(find(account)), set: changes, secret: nil, now: moment(50))
    }

    @Test("Backups of the same items are the same, under different keys and compared with the keychain")
    func same() throws {
        let first = try archive("a")
        let second = try archive("b")
        for other in [CompareBackups.Other.archive(second), .keychain(keychain)] {
            let report = try CompareBackups(first, comparesSecrets: true).run(with: other)
            #expect(report.same == 3 && report.notCompared == 0)
            #expect(report.added.isEmpty && report.removed.isEmpty && report.changed.isEmpty)
        }
    }

    @Test("A changed secret of the same size is found, also in a ThisDeviceOnly item, and so is a newly set one")
    func rotated() throws {
        let first = try archive("a")
        try keychain.change(find("ada"), to: "eno", at: moment(50))
        try keychain.change(find("bob"), to: "owt", at: moment(50))
        try keychain.change(find("eve"), to: "", at: moment(50))
        let second = try archive("b")
        for other in [CompareBackups.Other.archive(second), .keychain(keychain)] {
            let report = try CompareBackups(first, comparesSecrets: true).run(with: other)
            #expect(report.changed.map(\.secret) == [.changed, .changed, .changed])
            #expect(report.changed.allSatisfy { $0.attributes == [.mdat] })
        }
    }

    @Test("A renamed item is a change, and an item that took its old name is new")
    func renamed() throws {
        let first = try archive("a")
        try set("ada", [.acct: .text("lovelace")])
        try keychain.add("ada", "one")
        let report = try CompareBackups(first, comparesSecrets: true).run(with: .archive(archive("b")))
        #expect(names(report.added) == ["ada"] && report.removed.isEmpty)
        #expect(report.changed.map { [$0.before, $0.after] }.map(names) == [["ada", "lovelace"]])
        #expect(report.changed.map(\.attributes) == [[.acct, .mdat].sorted()])
        #expect(report.changed.map(\.secret) == [.same])
    }

    @Test("An item that was deleted and added again is a change, with another UUID")
    func addedAgain() throws {
        let first = try archive("a")
        _ = try keychain.delete(matching: ItemQuery(find("ada")), now: moment(40))
        try keychain.add("ada", "one", at: moment(1))
        let report = try CompareBackups(first, comparesSecrets: true).run(with: .keychain(keychain))
        #expect(report.changed.map(\.hasNewUUID) == [true] && report.changed.map(\.secret) == [.same])
        #expect(report.changed.map(\.attributes) == [[]])
        #expect(report.added.isEmpty && report.removed.isEmpty && report.same == 2)
    }

    @Test("Two items that swapped their names are two changes")
    func swapped() throws {
        let first = try archive("a")
        try set("ada", [.acct: .text("x")])
        try set("eve", [.acct: .text("ada")])
        try set("x", [.acct: .text("eve")])
        let report = try CompareBackups(first, comparesSecrets: true).run(with: .keychain(keychain))
        let pairs = report.changed.map { names([$0.before, $0.after]).joined(separator: " ") }
        #expect(Set(pairs) == ["ada eve", "eve ada"])
        #expect(report.added.isEmpty && report.removed.isEmpty && report.same == 1)
    }

    @Test("If one archive is opened with an inspect key, only sizes of secrets are compared", arguments: [true, false])
    func inspectKey(ofFirst: Bool) throws {
        _ = try archive("a")
        try keychain.change(find("ada"), to: "longer", at: moment(50))
        try keychain.change(find("bob"), to: "owt", at: moment(50))
        _ = try archive("b")
        let first = try open("a", inspecting: ofFirst)
        let second = try open("b", inspecting: !ofFirst)
        #expect(try first.opensAllSecrets != second.opensAllSecrets)
        let report = try CompareBackups(first, comparesSecrets: false).run(with: .archive(second))
        #expect(report.changed.map(\.secret) == [.changed, .notCompared])
        #expect(report.notCompared == 1 && report.same == 1)
    }

    @Test("Without secrets to compare, a locked keychain is enough; items that no archive contains are left out")
    func lockedKeychain() throws {
        try keychain.add("vault", "x", .whenPasscodeSetThisDeviceOnly)
        let first = try archive("a", inspecting: true)
        keychain.lock(untilFirstUnlock: true)
        let report = try CompareBackups(first, comparesSecrets: true).run(with: .keychain(keychain))
        #expect(report.added.isEmpty && report.omitted == 1 && report.same == 3 && report.notCompared == 2)
    }

    @Test("On another device, secrets of ThisDeviceOnly items are not compared, but the others are")
    func elsewhere() throws {
        _ = try archive("a")
        try keychain.change(find("ada"), to: "eno", at: moment(50))
        _ = try archive("b")
        let other = try Machine()
        let archives = try ["a", "b"].map { try other.open(machine.folder.path($0), with: restores) }
        let report = try CompareBackups(archives[0], comparesSecrets: true).run(with: .archive(archives[1]))
        #expect(report.changed.map(\.secret) == [.changed] && report.notCompared == 1 && report.same == 2)
    }

    @Test("An unencrypted archive and an encrypted one of the same items are the same")
    func modes() throws {
        let first = try archive("a")
        try machine.backUpUnencrypted(keychain, as: "u")
        let second = try machine.open(machine.folder.path("u"))
        #expect(try !second.opensAllSecrets)
        try second.stored?.unlock(passcode: SecretBytes(copying: "1234".utf8), minimumCost: Machine.cheap)
        let report = try CompareBackups(first, comparesSecrets: true).run(with: .archive(second))
        #expect(report.same == 3 && report.notCompared == 0 && report.changed.isEmpty)
    }
    @Test("What diff calls the same, changed and removed, a restore leaves, changes and creates")
    func asRestored() throws {
        var random = SeededRandom(seed: 23)
        let names = ["a", "b", "c", "d"]
        for round in 0..<60 {
            let keychain = try machine.makeKeychain("k\(round)", passcode: nil)
            for name in names.shuffled(using: &random).prefix(3) { try keychain.add(name, "1") }
            try machine.backUp(keychain, as: "r\(round)", to: [restores.recipient])
            let made = try open("r\(round)")
            for step in 0..<Int64.random(in: 1...5, using: &random) {
                let items = try keychain.find(ItemQuery()).items
                let free = names.filter { name in !items.contains { $0.attributes.text(.acct) == name } }
                let name = free.randomElement(using: &random)
                guard let item = items.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: _ = try keychain.delete(matching: ItemQuery(item), now: moment(step + 10))
                case 1: try keychain.change(item, to: "\(step)", at: moment(step + 10))
                case 2 where name != nil: try keychain.add(name ?? "", "1", at: moment(step))
                default:
                    guard let name else { continue }
                    _ = try keychain.update(
                        matching: ItemQuery(item), set: [.acct: .text(name)], secret: nil, now: moment(step + 10))
                }
            }
            let count = try keychain.find(ItemQuery()).items.count
            let compared = try CompareBackups(made, comparesSecrets: true).run(with: .keychain(keychain))
            for policy in [ConflictPolicy.newer, .overwrite] {
                let counts = try machine.restore(made, into: keychain) {
                    $0.isDryRun = true
                    $0.conflictPolicy = policy
                }.counts
                expect(compared, does: counts, "round \(round), \(policy)")
                #expect(counts.same + counts.update + counts.keep <= count, "round \(round), \(policy)")
            }
            // No item of the archive is missing after one that overwrites all that it can.
            let report = try machine.restore(made, into: keychain) { $0.conflictPolicy = .overwrite }
            let after = try CompareBackups(made, comparesSecrets: true).run(with: .keychain(keychain))
            let all = compared.same + compared.changed.count + compared.removed.count
            #expect(after.same == all - report.counts.fail, "round \(round)")
        }
    }

    @Test("An item that has the UUID of one archived item and the name of another one is not both")
    func onlyOne() throws {
        let first = try archive("a")
        _ = try keychain.delete(matching: ItemQuery(find("ada")), now: moment(40))
        try set("eve", [.acct: .text("ada")])
        let kept = try machine.restore(first, into: keychain) { $0.isDryRun = true }.counts
        #expect(kept.same == 1 && kept.keep == 1 && kept.fail == 1)
        let counts = try machine.restore(first, into: keychain) { $0.conflictPolicy = .overwrite }.counts
        #expect(counts.update == 1 && counts.create == 1)
        #expect(try keychain.contents() == ["ada": "one", "bob": "two", "eve": nil])
    }
}

/// Requires that a restore does to a keychain what a comparison with it says.
///
/// An item that matches two, one by its UUID and another by its unique key, is a change for diff, and refused by a
/// restore.
func expect(
    _ compared: CompareReport, does counts: RestoreCounts, _ comment: Comment? = nil,
    location: SourceLocation = #_sourceLocation
) {
    #expect(compared.same == counts.same, comment, sourceLocation: location)
    if counts.fail == 0 {
        #expect(compared.changed.count == counts.update + counts.keep, comment, sourceLocation: location)
        #expect(compared.removed.count == counts.create, comment, sourceLocation: location)
    } else {
        #expect(
            compared.changed.count + compared.removed.count
                == counts.update + counts.keep + counts.create + counts.fail, comment, sourceLocation: location)
    }
}
