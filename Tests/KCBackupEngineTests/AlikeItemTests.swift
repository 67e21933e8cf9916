import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCItemSources
import KCKeychainKeys
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// A keyring whose items all have the same attributes, so that only label and secret tell them apart.
private struct Keyring: ItemSource {
    struct Entry: Hashable {
        var label: String
        var secret: String
        let created: Int64
        var modified: Int64

        var content: String { "\(label): \(secret)" }
    }

    var entries: [Entry] = []

    private func identity(_ entry: Entry, ordinal: Int) -> KeyringIdentity {
        KeyringIdentity(
            keyring: "Login", attributes: [(name: "d", value: "1")], type: nil, label: .text(entry.label),
            ordinal: ordinal)
    }

    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        var collection = ItemCollection(date: .reference)
        let ordered = entries.sorted { $0.created < $1.created }
        let numbers = KeyringIdentity.ordinals(of: ordered.map { (identity($0, ordinal: 0).key, Array($0.label.utf8)) })
        for (entry, number) in zip(ordered, numbers) {
            let identity = identity(entry, ordinal: number)
            var draft = ItemDraft(itemClass: .genericPassword, uuid: identity.uuid)
            draft.attributes[.musr] = .data(identity.key)
            draft.attributes[.labl] = .text(entry.label)
            draft.attributes[.svce] = .text(entry.label)
            draft.attributes[.cdat] = .date(moment(entry.created))
            draft.attributes[.mdat] = .date(moment(entry.modified))
            draft.extra = [ExtraAttribute(name: "kcbackup:collection", value: "Login")]
            try collection.add(draft, secret: SecretBytes(copying: entry.secret.utf8))
        }
        try collection.finish().visitItems(&visitor)
    }
}

extension Keychain {
    /// Label and secret of each item, by UUID.
    fileprivate func entries() throws -> [ItemUUID: String] {
        var entries: [ItemUUID: String] = [:]
        for item in try find(ItemQuery()).items {
            guard case .some(let secret) = try secret(of: item) else { continue }
            entries[item.uuid] =
                "\(item.attributes.text(.labl) ?? "?"): \(String(decoding: secret.bytesForTest(), as: UTF8.self))"
        }
        return entries
    }
}

@Suite("Items that only label and secret tell apart")
struct AlikeItemTests {
    private let machine: Machine
    private let key: NativeIdentity

    init() throws {
        machine = try Machine()
        key = try NativeIdentity.generate(.x25519)
    }

    private func archive(_ source: some ItemSource, _ name: String) throws -> ProvenArchive {
        _ = try machine.creating(name).encrypted(source, with: ArchiveKeys(recipients: [key.recipient]))
        return try machine.open(machine.folder.path(name), with: key)
    }

    @Test("A keyring loses nothing by way of a keychain, however its items are added, deleted and changed")
    func nothingIsLost() throws {
        var random = SeededRandom(seed: 23)
        for round in 0..<(ModelRun.isWhole ? 100 : 10) {
            let keychain = try machine.makeKeychain("k\(round)", passcode: nil)
            var keyring = Keyring()
            var number = 0
            func add(_ time: Int64) {
                number += 1
                keyring.entries.append(
                    Keyring.Entry(
                        label: ["A", "B", "C", "D"].randomElement(using: &random) ?? "A", secret: "s\(number)",
                        created: time, modified: time))
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) { add(1) }
            var last: ProvenArchive?
            for step in 1..<8 {
                let (name, time) = ("\(round)-\(step)", Int64(step) * 10)
                let before = keyring.entries
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    guard let index = keyring.entries.indices.randomElement(using: &random) else { continue }
                    number += 1
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: add(time)
                    case 1 where keyring.entries.count > 1: keyring.entries.remove(at: index)
                    case 2:
                        keyring.entries[index].secret = "s\(number)"
                        keyring.entries[index].modified = time
                    default:
                        keyring.entries[index].label = "E\(number)"
                        keyring.entries[index].modified = time
                    }
                }
                let made = try archive(keyring, name)
                let old = try keychain.entries()
                let compared = try CompareBackups(made, comparesSecrets: true).run(with: .keychain(keychain))
                let report = try machine.restore(made, into: keychain)
                expect(compared, does: report.counts, "\(name)")
                let new = try keychain.entries()
                #expect(report.failing.isEmpty)
                // Everything that the keyring has is there, and what did not change stays where it was.
                #expect(Set(keyring.entries.map(\.content)).isSubset(of: new.values), "\(name)")
                let unchanged = Set(before.map(\.content)).intersection(keyring.entries.map(\.content))
                for (uuid, content) in old where unchanged.contains(content) {
                    #expect(new[uuid] == content, "\(name)")
                }
                let again = try machine.restore(made, into: keychain)
                #expect(again.counts.same == keyring.entries.count && again.counts.create == 0, "\(name)")
                // The way back.
                let back = try machine.makeKeychain("b\(name)", passcode: nil)
                try machine.restore(archive(keychain, "m\(name)"), into: back)
                #expect(try back.entries() == new)
                if let last {
                    let report = try CompareBackups(last, comparesSecrets: true).run(with: .archive(made))
                    let changes = (report.added.count, report.removed.count, report.changed.count, report.same)
                    #expect(changes.0 + changes.2 + changes.3 == keyring.entries.count)
                    #expect(changes.1 + changes.2 + changes.3 == before.count)
                    #expect(changes.3 == unchanged.count, "\(name)")
                }
                last = made
            }
        }
    }

    @Test("Items of the keychain that a keyring's archive lacks are left, whichever of them are alike")
    func createdTwice() throws {
        let keychain = try machine.makeKeychain(passcode: nil)
        var keyring = Keyring(
            entries: [1, 2].map { Keyring.Entry(label: "B", secret: "s", created: $0, modified: $0) })
        let both = try archive(keyring, "both")
        try machine.restore(both, into: keychain)
        keyring.entries.removeFirst()
        try machine.restore(archive(keyring, "second"), into: keychain) { $0.replacing = .archived }
        let compared = try CompareBackups(both, comparesSecrets: true).run(with: .keychain(keychain))
        let report = try machine.restore(both, into: keychain)
        #expect(report.counts.same == 1 && report.counts.create == 1 && compared.same == 1)
    }

    @Test("After a deletion and a change, diff names these two and no other item")
    func compared() throws {
        var keyring = Keyring(
            entries: ["A", "B", "C"].enumerated().map {
                Keyring.Entry(label: $1, secret: "secret \($1)", created: Int64($0), modified: Int64($0))
            })
        let first = try archive(keyring, "first")
        keyring.entries.removeFirst()
        keyring.entries[1].secret = "new"
        for other in [CompareBackups.Other.archive(try archive(keyring, "second")), .keychain(keyring)] {
            let report = try CompareBackups(first, comparesSecrets: true).run(with: other)
            #expect(report.added.isEmpty && report.same == 1)
            #expect(report.removed.map { $0.attributes.text(.labl) } == ["A"])
            #expect(report.changed.map { $0.before.attributes.text(.labl) } == ["C"])
            #expect(report.changed.allSatisfy { $0.secret == .changed && $0.attributes.isEmpty && !$0.hasNewUUID })
        }
    }

    @Test("A deleted item whose label another one has now does not stand in its way")
    func deleted() throws {
        let keychain = try machine.makeKeychain(passcode: nil)
        var keyring = Keyring(entries: [Keyring.Entry(label: "B", secret: "s", created: 1, modified: 1)])
        try machine.restore(archive(keyring, "first"), into: keychain)
        _ = try keychain.delete(matching: ItemQuery(), now: moment(5))
        keyring.entries[0].label = "X"
        keyring.entries[0].modified = 10
        try machine.restore(archive(keyring, "second"), into: keychain)
        #expect(try keychain.entries().values.sorted() == ["X: s"])
    }

    @Test("What is in no archive goes from a kept state to no keychain, and is not exported")
    func keptApart() throws {
        let kept = try collected(isForState: true)
        let state = SealedSource(kept, deviceKey: machine.device)
        let source = try ArchiveSource(kind: ArchiveSource.desktopKeyring, name: "")
        for (name, target, omitted) in [("backup", Passage.Target.archive, 1), ("state", .keptState, 0)] {
            let made = try CreateBackup(
                of: source, device: machine.device, tool: "test",
                to: FolderDestination(folder: machine.folder.path, name: name), now: moment(100), as: target
            ).unencrypted(state)
            #expect(made.omitted.count == omitted && made.contents.counts.total == 1 - omitted)
        }
        let archive = try machine.open(machine.folder.path("state"))
        let keychain = try machine.makeKeychain()
        let report = try machine.restore(archive, into: keychain)
        #expect(report.stayingBehind.map(\.reason) == [.inNoArchive])
        let item = try #require(report.stayingBehind.first?.item)
        #expect(item.isKeptApart && item.accessibility == .whenPasscodeSetThisDeviceOnly)
        #expect(Departure.decide(item) == .stays(.passcodeBound))
        #expect(try keychain.entries().isEmpty)
    }

    private func collected(isForState: Bool) throws -> CollectedItems {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.pdmn] = .text(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)
        var collection = ItemCollection(date: .reference)
        try collection.add(draft, secret: SecretBytes(copying: "x".utf8), isForState: isForState)
        return try collection.finish()
    }

    @Test("What a kept state has apart is in no other archive, by whatever way its mark came into a source")
    func markedElsewhere() throws {
        let keychain = try machine.makeKeychain("marked", passcode: nil)
        try keychain.add(ItemDraft(itemClass: .genericPassword), secret: SecretBytes(copying: "y".utf8), now: moment(1))
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.acct] = .text("marked")
        draft.extra = [ExtraAttribute(name: "kcbackup:attribute:kcbackup:accessible", value: "akpu")]
        try keychain.add(draft, secret: SecretBytes(copying: "x".utf8), now: moment(1))
        let keys = try ArchiveKeys(recipients: [key.recipient])
        for report in [
            try machine.creating("one").encrypted(keychain, with: keys),
            try machine.creating("two").unencrypted(keychain),
            try machine.creating("three").encrypted(collected(isForState: true), with: keys),
        ] {
            #expect(report.omitted.map(\.accessibility) == [.whenPasscodeSetThisDeviceOnly])
        }
    }

    @Test("A replacing restore of an incomplete archive is refused as incomplete, and diff says that it is")
    func incomplete() throws {
        struct Unread: ItemSource {
            let items: Keyring

            func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
                try visitor.skip(damaged: nil)
                try items.visitItems(&visitor)
            }
        }
        let keyring = Keyring(entries: [Keyring.Entry(label: "B", secret: "s", created: 1, modified: 1)])
        let made = try archive(Unread(items: keyring), "incomplete")
        let keychain = try machine.makeKeychain(passcode: nil)
        try keychain.add("ada", "one")
        #expect(throws: RestoreRefusal.wouldRemoveUnread(1)) {
            try machine.restore(made, into: keychain) { $0.replacing = .archived }
        }
        let report = try CompareBackups(made, comparesSecrets: true).run(with: .archive(made))
        #expect(report.missing == (1, 1))
    }
}
