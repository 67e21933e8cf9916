import KCAgeEncryption
import KCBackupArchive
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Restoring items whose names have moved")
struct RenameTests {
    private let machine: Machine
    private let key: NativeIdentity
    private let keychain: Keychain

    init() throws {
        machine = try Machine()
        key = try NativeIdentity.generate(.x25519)
        keychain = try machine.makeKeychain(passcode: nil)
    }

    private func archive(_ name: String = "a", of keychain: Keychain? = nil) throws -> ProvenArchive {
        try machine.backUp(keychain ?? self.keychain, as: name, to: [key.recipient])
        return try machine.open(machine.folder.path(name), with: key)
    }

    private func rename(_ name: String, to other: String) throws {
        try keychain.rename(name, to: other, at: moment(50))
    }

    /// The counts of a restore that overwrites, after which the keychain is as it was, and stays so.
    private func restored(_ archive: ProvenArchive, to before: [Content]) throws -> RestoreCounts {
        let dry = try machine.restore(archive, into: keychain) {
            $0.conflictPolicy = .overwrite
            $0.isDryRun = true
        }
        let counts = try machine.restore(archive, into: keychain) { $0.conflictPolicy = .overwrite }.counts
        #expect(dry.counts == counts)
        #expect(try keychain.all() == before)
        let again = try machine.restore(archive, into: keychain) { $0.conflictPolicy = .overwrite }.counts
        #expect(again.same == before.count && again.create + again.update + again.keep + again.fail == 0)
        return counts
    }

    private func add(_ names: String...) throws {
        for name in names { try keychain.add(name, "secret of \(name)") }
    }

    @Test("Names that were passed on in a chain come back at once")
    func chain() throws {
        try add("one", "two")
        let (made, before) = (try archive(), try keychain.all())
        try rename("two", to: "three")
        try rename("one", to: "two")
        #expect(try restored(made, to: before).update == 2)
    }

    @Test("Names that were passed on in the other direction come back at once")
    func chainBackwards() throws {
        try add("b", "c", "d")
        let (made, before) = (try archive(), try keychain.all())
        for (name, other) in [("b", "a"), ("c", "b"), ("d", "c")] { try rename(name, to: other) }
        #expect(try restored(made, to: before).update == 3)
    }

    @Test("Items that swapped their names, or passed them on in a circle of three, come back", arguments: [2, 3])
    func circle(_ count: Int) throws {
        let names = Array(["a", "b", "c"].prefix(count))
        try add("a", "b", "c")
        let (made, before) = (try archive(), try keychain.all())
        try rename(names[0], to: "for a while")
        for (name, other) in zip(names.dropFirst(), names) { try rename(name, to: other) }
        try rename("for a while", to: names[count - 1])
        #expect(try restored(made, to: before).update == count)
    }

    @Test("An item that was added under the name of a renamed one is written over as any item with this name")
    func addedUnderOldName() throws {
        try add("a")
        let (made, before) = (try archive(), try keychain.all())
        try rename("a", to: "b")
        try keychain.add("a", "of another", at: moment(60))
        for policy in [ConflictPolicy.newer, .keep] {
            let now = try keychain.all()
            let counts = try machine.restore(made, into: keychain) { $0.conflictPolicy = policy }.counts
            #expect(counts.keep == 1 && counts.fail == 0)
            #expect(try keychain.all() == now)
        }
        #expect(try restored(made, to: before).update == 1)
    }

    @Test("A record that is not selected keeps its item, and the name that this has now")
    func notSelected() throws {
        try add("a", "b")
        let made = try archive()
        try rename("b", to: "c")
        try rename("a", to: "b")
        let before = try keychain.all()
        let report = try machine.restore(made, into: keychain) {
            $0.conflictPolicy = .overwrite
            var filter = ItemFilter()
            filter.attributes[.acct] = .text("b")
            $0.filter = filter
        }
        #expect(report.failing.map(\.problem) == [.identityTaken] && report.counts.update == 0)
        #expect(try keychain.all() == before)
    }

    @Test("Where the keychain's own version of one item stays, the record that wants its name stays out")
    func brokenChain() throws {
        try add("a", "b", "c")
        let other = try machine.makeKeychain("other", passcode: nil)
        try machine.restore(archive("before"), into: other)
        try rename("c", to: "d")
        try rename("b", to: "c")
        let made = try archive("after")
        let changed = try #require(try other.all().last)
        try other.change(changed.item, to: "newer than the archive", at: moment(70))
        let before = try other.all()
        for _ in 1...2 {
            let report = try machine.restore(made, into: other)
            #expect(report.counts.same == 1 && report.counts.keep == 1 && report.counts.update == 0)
            #expect(report.failing.map(\.problem) == [.identityTaken])
            #expect(try other.all() == before)
        }
    }
}

/// An item with its secret.
struct Content: Hashable {
    let item: Item
    let secret: [UInt8]?
}

extension Keychain {
    /// All items with their secrets, in archive order.
    func all() throws -> [Content] {
        try find(ItemQuery()).items.sorted { $0.precedes($1) }.map { item in
            switch try secret(of: item) {
            case .some(let secret): Content(item: item, secret: secret.bytesForTest())
            case .none: Content(item: item, secret: nil)
            }
        }
    }

    /// Gives the item with this account another one.
    func rename(_ name: String, to other: String, at time: Timestamp) throws {
        let item = try #require(try find(ItemQuery()).items.first { $0.attributes.text(.acct) == name })
        _ = try update(matching: ItemQuery(item), set: [.acct: .text(other)], secret: nil, now: time)
    }
}
