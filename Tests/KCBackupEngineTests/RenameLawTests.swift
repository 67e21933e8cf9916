import KCAgeEncryption
import KCBackupArchive
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// A keychain at two times, with an archive of each, and what was changed in between at random.
private struct History {
    private static let names = ["a", "b", "c", "d", "e", "f"]

    let keychain: Keychain
    let first: ProvenArchive
    let second: ProvenArchive

    init(_ round: Int, _ machine: Machine, _ key: NativeIdentity) throws {
        var random = SeededRandom(seed: UInt64(7_000 + round))
        let keychain = try machine.makeKeychain("k\(round)", passcode: nil)
        self.keychain = keychain
        for name in Self.names.shuffled(using: &random).prefix(Int.random(in: 2...5, using: &random)) {
            try keychain.add(name, "first \(name)")
        }
        func archive(_ name: String) throws -> ProvenArchive {
            try machine.backUp(keychain, as: name, to: [key.recipient])
            return try machine.open(machine.folder.path(name), with: key)
        }
        first = try archive("first\(round)")
        for step in 0..<Int.random(in: 1...6, using: &random) {
            try Self.change(keychain, at: moment(Int64(10 + 10 * step)), &random)
        }
        second = try archive("second\(round)")
    }

    /// Passes names on among one, two or three items, or changes, adds or deletes one.
    private static func change(_ keychain: Keychain, at time: Timestamp, _ random: inout SeededRandom) throws {
        let items = try keychain.find(ItemQuery()).items.shuffled(using: &random)
        let taken = items.compactMap { $0.attributes.text(.acct) }
        let free = names.filter { !taken.contains($0) }.randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: if let free { try keychain.add(free, "added \(time)", at: time) }
        case 1: if let item = items.first { _ = try keychain.delete(matching: ItemQuery(item), now: time) }
        case 2: if let item = items.first { try keychain.change(item, to: "changed \(time)", at: time) }
        case let kind:
            // A chain ends with a free name, a circle with the first one.
            let moving = Array(taken.prefix(kind < 5 ? 1 : kind < 7 ? 2 : 3))
            guard let start = moving.first, let end = free else { return }
            let isCircle = moving.count > 1 && Bool.random(using: &random)
            let last = isCircle ? "for a while" : end
            try keychain.rename(start, to: last, at: time)
            for (name, other) in zip(moving.dropFirst(), moving) { try keychain.rename(name, to: other, at: time) }
            if isCircle, let other = moving.last { try keychain.rename(last, to: other, at: time) }
        }
    }
}

@Suite("Laws of restoring")
struct RenameLawTests {
    private static let rounds = 0..<(ModelRun.isWhole ? 500 : 10)
    private let machine: Machine
    private let key: NativeIdentity

    init() throws {
        machine = try Machine()
        key = try NativeIdentity.generate(.x25519)
    }

    /// Restores into a keychain twice and requires what holds for every policy.
    ///
    /// - Returns: the keychain before and after the first time, and its report.
    private func restoreTwice(
        _ archive: ProvenArchive, _ policy: ConflictPolicy, into keychain: Keychain, _ comment: Comment
    ) throws -> (before: [Content], after: [Content], report: RestoreReport) {
        let before = try keychain.all()
        let compared = try CompareBackups(archive, comparesSecrets: true).run(with: .keychain(keychain))
        let report = try machine.restore(archive, into: keychain) { $0.conflictPolicy = policy }
        expect(compared, does: report.counts, comment)
        let after = try keychain.all()
        let again = try machine.restore(archive, into: keychain) { $0.conflictPolicy = policy }
        #expect(again.counts.create + again.counts.update == 0, comment)
        #expect(again.counts.fail == report.counts.fail, comment)
        #expect(try keychain.all() == after, comment)
        return (before, after, report)
    }

    /// The records of an archive, with their secrets.
    private func records(of archive: ProvenArchive, _ name: String) throws -> Set<Content> {
        let keychain = try machine.makeKeychain(name, passcode: nil)
        try machine.restore(archive, into: keychain)
        return Set(try keychain.all())
    }

    @Test(
        "After 'overwrite' every record is there and diff finds none changed, whatever was renamed",
        .proofRow("histories with renames, restored by 'overwrite'", trials: 1), arguments: rounds)
    func overwrite(round: Int) throws {
        let history = try History(round, machine, key)
        let older = try machine.makeKeychain("o\(round)", passcode: nil)
        try machine.restore(history.first, into: older)
        for (archive, keychain) in [(history.first, history.keychain), (history.second, older)] {
            let (before, after, report) = try restoreTwice(archive, .overwrite, into: keychain, "round \(round)")
            #expect(report.counts.fail + report.counts.keep == 0)
            let diff = try CompareBackups(archive, comparesSecrets: true).run(with: .keychain(keychain))
            #expect(diff.changed.isEmpty && diff.removed.isEmpty, "round \(round)")
            let records = try records(of: archive, "r\(round)-\(archive.header.archiveID.prefix(4))")
            #expect(records.isSubset(of: after), "round \(round)")
            // An item that is no record, and in no record's way, is still there.
            for content in before where !records.contains(where: { $0.item.isNamed(as: content.item) }) {
                #expect(after.contains(content), "round \(round)")
            }
        }
    }

    @Test(
        "'keep' changes and loses nothing that is there, whatever was renamed",
        .proofRow("histories with renames, restored by 'keep'", trials: 1), arguments: rounds)
    func keep(round: Int) throws {
        let history = try History(round, machine, key)
        let (before, after, report) = try restoreTwice(history.first, .keep, into: history.keychain, "round \(round)")
        #expect(Set(before).isSubset(of: after) && report.counts.update == 0, "round \(round)")
    }

    @Test(
        "'newer' loses no item except to a newer record with its UUID or name",
        .proofRow("histories with renames, restored by 'newer'", trials: 1), arguments: rounds)
    func newer(round: Int) throws {
        let history = try History(round, machine, key)
        let older = try machine.makeKeychain("o\(round)", passcode: nil)
        try machine.restore(history.first, into: older)
        for (archive, keychain) in [(history.first, history.keychain), (history.second, older)] {
            let (before, after, _) = try restoreTwice(archive, .newer, into: keychain, "round \(round)")
            for lost in Set(before).subtracting(after) {
                let heirs = after.filter { $0.item.isNamed(as: lost.item) }
                #expect(heirs.contains { $0.item.modified > lost.item.modified }, "round \(round)")
            }
        }
    }

    @Test(
        "'fail' writes over nothing, and adds nothing where it would have to",
        .proofRow("histories with renames, restored by 'fail'", trials: 1), arguments: rounds)
    func fail(round: Int) throws {
        let history = try History(round, machine, key)
        let before = try history.keychain.all()
        do {
            let (_, after, report) = try restoreTwice(history.first, .fail, into: history.keychain, "round \(round)")
            #expect(Set(before).isSubset(of: after) && report.counts.update == 0, "round \(round)")
        } catch let refusal as RestoreRefusal {
            guard case .conflicts = refusal else { throw refusal }
            #expect(try history.keychain.all() == before, "round \(round)")
        }
    }
}

extension Item {
    /// True if it has the UUID or the unique key of another item.
    fileprivate func isNamed(as other: Item) -> Bool { uuid == other.uuid || hasKey(of: other) }
}
