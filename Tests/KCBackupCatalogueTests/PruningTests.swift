import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("What prune counts and removes")
struct PruningTests {
    private let home: BackupHome

    init() throws {
        home = try BackupHome()
    }

    /// A name that the archive of an entry could have had.
    private func name(_ series: String, like entry: CatalogueEntry, daysLater: Int64 = 0, number: Int = 1) -> String {
        ArchiveName(
            series: series, device: home.device.id,
            time: entry.created.advanced(byMicroseconds: daysLater * 86_400_000_000), number: number
        ).fileName
    }

    @Test(
        "A copy of an archive under another valid name takes the place of no archive", arguments: ArchiveMode.allCases)
    func copies(mode: ArchiveMode) throws {
        let (first, last) = (try home.backUp("login", mode), try home.backUp("login", mode))
        let (copy, later) = (name("login", like: last, number: 2), name("login", like: last, daysLater: 1))
        for name in [copy, later] { try home.write(name, home.read(last.name)) }
        let rebuilt = try home.rebuild()
        #expect(rebuilt.added.isEmpty)
        #expect(rebuilt.ignored.map(\.name).sorted() == [copy, later].sorted())
        #expect(rebuilt.ignored.contains { $0.reason == .copy(of: last.name) })
        #expect(rebuilt.ignored.contains { $0.reason == .renamed })
        #expect(try home.prune(last: 1).removed == [first.name])
        #expect(try home.prune(last: 1).removed == [])
        #expect(try home.names().contains(last.name))
    }

    @Test("Copies and renamed archives in a catalogue are named, do not count, and stay")
    func recordedCopies() throws {
        let (first, last) = (try home.backUp(), try home.backUp())
        let (copy, later) = (name("login", like: last, number: 2), name("login", like: last, daysLater: 1))
        for name in [copy, later] { try home.write(name, home.read(last.name)) }
        try home.open().change { catalogue in
            for name in [copy, later] { catalogue.entries.append(last.named(name)) }
        }
        let plan = try home.prune(last: 2)
        #expect(plan.notCounted == [copy: .copy(of: last.name), later: .renamed])
        #expect(plan.removed == [])
        #expect(try home.prune(last: 1).removed == [first.name])
        #expect(try home.names() == [last.name, copy, later].sorted())
    }

    @Test("If the original is damaged, its copy counts")
    func damagedOriginal() throws {
        let (first, last) = (try home.backUp(), try home.backUp())
        let copy = name("login", like: last, number: 2)
        try home.write(copy, home.read(last.name))
        try home.rot(last.name)
        try home.open().change { $0.entries.append(last.named(copy)) }
        let plan = try home.prune(last: 1)
        #expect(plan.removed == [first.name] && plan.notCounted == [last.name: .damaged])
    }

    @Test(
        "An archive under the name of another keychain's does not remove that keychain's newest",
        arguments: [true, false])
    func otherKeychain(isCatalogueLost: Bool) throws {
        let login = try home.backUp("login", .unencrypted)
        let work = try home.backUp("work", .unencrypted)
        let renamed = name("login", like: work)
        try home.rename(work.name, to: renamed)
        let rebuilt = try isCatalogueLost ? home.loseCatalogue() : home.rebuild()
        #expect(rebuilt.ignored.map(\.reason) == [.otherKeychain])
        #expect(try home.prune(last: 1).removed == [])
        #expect(try home.names() == [login.name, renamed].sorted())
    }

    @Test("Encrypted archives do not count after the catalogue was lost, until they are read with a key")
    func unread() throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        try home.loseCatalogue()
        let plan = try home.prune(last: 1)
        #expect(plan.removed == [] && Set(plan.notCounted.values) == [.unread] && plan.notCounted.count == 3)
        try home.open().note(
            entries.map { CheckedArchive($0.id, isDrilled: false, content: $0.content) }, now: home.now)
        #expect(try home.prune(last: 1).removed == entries.prefix(2).map(\.name))
    }

    @Test("A damaged archive and another one under its name do not count, and stay")
    func damaged() throws {
        let entries = try (0..<4).map { _ in try home.backUp() }
        try home.rot(entries[3].name)
        try home.write(entries[2].name, home.read(entries[0].name))
        let plan = try home.prune(last: 1)
        #expect(plan.removed == [entries[0].name])
        #expect(plan.notCounted == [entries[2].name: .otherArchive, entries[3].name: .damaged])
        #expect(try home.names().count == 3)
    }

    @Test("Incomplete archives are pruned among themselves, and never in place of a complete one")
    func incomplete() throws {
        let complete = [try home.backUp(items: 3), try home.backUp(items: 3)]
        let incomplete = try (0..<3).map { _ in try home.backUp(items: 2, damaged: 1) }
        let plan = try home.prune(last: 1)
        #expect(plan.removed == [complete[0].name, incomplete[0].name, incomplete[1].name].sorted())
        #expect(try home.names() == [complete[1].name, incomplete[2].name].sorted())
    }

    @Test("A backup is compared with the last complete one: an incomplete one in between hides no loss")
    func shrinkBase() throws {
        let rules = SeriesDestination.Rules(acceptsMissing: true)
        try home.backUp(items: 10, rules: rules)
        try home.backUp(items: 5, damaged: 5, rules: rules)
        #expect {
            try home.backUp(items: 5, rules: rules)
        } throws: { error in
            guard case CatalogueFailure.shrunk(let loss) = error else { return false }
            return loss.before == 10 && loss.now == 5
        }
        try home.backUp(items: 10, rules: rules)
    }

    @Test("The archive that was made last stays, though the clock was set back before it was made")
    func clockSetBack() throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        home.pass(days: -10)
        let last = try home.backUp()
        home.pass(days: 20)
        #expect(Set(try home.prune(last: 1).removed) == Set(entries.prefix(2).map(\.name)))
        #expect(try home.names() == [entries[2].name, last.name].sorted())
    }

    @Test("A file in the trash that is not the expired archive stays", arguments: [true, false])
    func trashedFileReplaced(isArchive: Bool) throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        #expect(try home.prune(last: 1).removed.count == 2)
        let trash = "backups/.trash/"
        var other = try home.folder.read(trash + entries[1].name)
        if !isArchive { other[600] ^= 1 }
        try home.folder.write(trash + entries[0].name, other)
        #expect(try home.runDaily(days: 32) == 1)
        #expect(try home.folder.read(trash + entries[0].name) == other)
        #expect(try !Path.exists(home.folder.path(trash + entries[1].name)))
        #expect(try home.open().catalogue.entries.contains { $0.id == entries[0].id })
    }

    @Test("What was removed stays in the trash for thirty days")
    func timeInTrash() throws {
        _ = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        // The first day and the last do not count.
        #expect(try home.runDaily(days: 31) == 0)
        #expect(try home.runDaily(days: 1) == 1)
    }

    @Test("A run that was killed before it moved an archive does not move another file of that name")
    func killedBeforeMove() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        try home.open().change { catalogue in
            catalogue.entries[0].state = .trashed
            catalogue.entries[0].trashed = CatalogueEntry.Removal(date: home.now, now: home.now)
        }
        let other = try home.read(entries[1].name)
        try home.write(entries[0].name, other)
        _ = try home.open()
        #expect(try home.read(entries[0].name) == other)
        #expect(try !Path.exists(home.folder.path("backups/.trash/" + entries[0].name)))
    }

    @Test("An archive that a user moved back from the trash stays, is counted, and outlives the trash")
    func rescuedByHand() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try home.write(entries[0].name, home.folder.read("backups/.trash/" + entries[0].name))
        try Path.remove(home.folder.path("backups/.trash/" + entries[0].name))
        try Path.remove(home.folder.path("backups/" + entries[1].name))
        let known = try home.open().catalogue.entries
        #expect(try home.names() == [entries[0].name])
        #expect(known.first { $0.id == entries[0].id }?.state == .complete)
        #expect(try home.prune(last: 5).removed == [])
        #expect(try home.runDaily(days: 32) == 0)
        #expect(try home.names() == [entries[0].name])
    }

    @Test("Undo that was broken off before it recorded what it moved is finished by the next one, and goes no further")
    func undoBrokenOff() throws {
        let entries = try (0..<4).map { _ in try home.backUp() }
        _ = try home.prune(last: 3)
        home.pass(days: 1)
        _ = try home.prune(last: 1)
        for (moved, back) in [(entries[1], entries[1...2]), (entries[0], entries[0...0])] {
            try home.write(moved.name, home.folder.read("backups/.trash/" + moved.name))
            try Path.remove(home.folder.path("backups/.trash/" + moved.name))
            #expect(try home.open().bringBack().entries.map(\.name) == back.map(\.name))
        }
        #expect(throws: CatalogueFailure.self) { try home.open().bringBack() }
        #expect(try home.names() == entries.map(\.name))
    }

    @Test("Undo brings back no other file than the archive that was removed")
    func undoReplaced() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try home.folder.write("backups/.trash/" + entries[0].name, home.read(entries[1].name))
        #expect(throws: CatalogueFailure.notWhole(name: entries[0].name)) { try home.open().bringBack() }
        #expect(try home.names() == [entries[1].name])
    }
}

extension CatalogueEntry {
    /// The entry of the same archive under another name.
    fileprivate func named(_ name: String) -> CatalogueEntry {
        CatalogueEntry(
            name: name, archiveID: archiveID, created: created, series: series, mode: mode, file: file,
            content: content, state: state, verified: verified)
    }
}
