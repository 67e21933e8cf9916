import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("Archives that are in the trash and elsewhere")
struct TrashTests {
    private let home: BackupHome

    init() throws { home = try BackupHome() }

    private func trash(_ entry: CatalogueEntry) -> String { "backups/.trash/" + entry.name }

    /// Copies an archive from the trash back into the folder.
    private func copyBack(_ entry: CatalogueEntry) throws {
        try home.write(entry.name, home.folder.read(trash(entry)))
    }

    private func isInTrash(_ entry: CatalogueEntry) throws -> Bool { try Path.exists(home.folder.path(trash(entry))) }

    @Test("A mount point with other files forgets nothing whose time in the trash is over")
    func mountPointAfterALongTime() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        #expect(try home.runDaily(days: 31) == 0)
        home.pass(days: 1)
        let before = try #require(try home.catalogueFile.load())
        try home.unmounted {
            try home.write("x.kcb", [1])
            #expect(try home.open().emptyTrash(now: home.now) == 0)
            #expect(throws: CatalogueFailure.folderGone(folder: "backups", archives: 1)) {
                try home.open().bringBack()
            }
        }
        #expect(try home.catalogueFile.load() == before)
        #expect(try home.open().emptyTrash(now: home.now) == 1)
        #expect(try !isInTrash(entries[0]))
    }

    @Test(
        "One run with a wrong clock, at the removal or later, deletes nothing before its 30 days and puts nothing off",
        arguments: [-40, 40, 4_000] as [Int64], [0, 1, 10, 31])
    func wrongClock(error: Int64, day: Int) throws {
        _ = try (0..<2).map { _ in try home.backUp() }
        // An archive from after the removal would not be removed.
        home.pass(days: 50)
        if day == 0 { home.pass(days: error) }
        _ = try home.prune(last: 1)
        if day == 0 { home.pass(days: -error) }
        for today in 1...30 {
            home.pass(days: 1)
            if today == day { home.pass(days: error) }
            // Two parts of one run, and another soon after it.
            for _ in 0..<3 { #expect(try home.open().emptyTrash(now: home.now) == 0) }
            if today == day { home.pass(days: -error) }
        }
        if day == 31 {
            home.pass(days: error)
            #expect(try home.open().emptyTrash(now: home.now) == 0)
            home.pass(days: -error)
        }
        #expect(try home.runDaily(days: 3) == 1)
    }

    @Test("Runs that are rare empty the trash too")
    func rareRuns() throws {
        _ = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        var deleted: [Int] = []
        for _ in 0..<3 {
            home.pass(days: 30)
            deleted.append(try home.open().emptyTrash(now: home.now))
        }
        #expect(deleted == [0, 0, 1])
    }

    @Test("Undo brings back what was removed last, even if the clock was set back since the removal before")
    func undoAfterClock() throws {
        let entries = try (0..<4).map { _ in try home.backUp() }
        home.pass(days: 2)
        _ = try home.prune(last: 3)
        home.pass(days: -2)
        _ = try home.prune(last: 1)
        #expect(try home.open().bringBack().entries.map(\.name) == entries[1...2].map(\.name))
        #expect(try home.open().bringBack().entries.map(\.name) == [entries[0].name])
    }

    @Test("An archive that was copied back from the trash and entered again is pruned again")
    func prunedAgain() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try copyBack(entries[0])
        #expect(try home.rebuild().ignored.isEmpty)
        #expect(try home.prune(last: 1).removed == [entries[0].name])
        #expect(try home.names() == [entries[1].name])
        #expect(try home.open().bringBack().entries.map(\.name) == [entries[0].name])
        #expect(try home.names() == entries.map(\.name))
        #expect(try !isInTrash(entries[0]))
    }

    @Test("Neither of two files of one name is removed unless both are the archive, whole", arguments: [true, false])
    func notTheSame(isLink: Bool) throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try copyBack(entries[0])
        try home.rebuild()
        let inTrash = home.folder.path(trash(entries[0]))
        if isLink {
            try Path.remove(inTrash)
            try FileManager.default.createSymbolicLink(atPath: inTrash, withDestinationPath: "../" + entries[0].name)
        } else {
            var bytes = try home.folder.read(trash(entries[0]))
            bytes[bytes.count / 2] ^= 1
            try home.folder.write(trash(entries[0]), bytes)
        }
        #expect(throws: FileFailure(inTrash, .exists)) { try home.prune(last: 1) }
        #expect(try home.names() == entries.map(\.name) && isInTrash(entries[0]))
        #expect(try home.open().catalogue.complete.map(\.name) == entries.map(\.name))
    }

    @Test("Undo takes a copy that is in place already for the archive, and leaves none in the trash")
    func copyInPlace() throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try copyBack(entries[0])
        #expect(try home.open().bringBack().entries.map(\.name) == entries.prefix(2).map(\.name))
        #expect(try home.names() == entries.map(\.name))
        #expect(try !isInTrash(entries[0]))
        #expect(try home.open().catalogue.complete.count == 3)
    }

    @Test("Undo brings back what is whole, and names what is damaged or has lost its name to another file")
    func undoOfTheOthers() throws {
        let entries = try (0..<4).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        try home.folder.write(trash(entries[0]), [1])
        try home.write(entries[2].name, [2])
        let report = try home.open().bringBack()
        #expect(report.entries.map(\.name) == [entries[1].name])
        let taken = FileFailure(home.folder.path("backups/" + entries[2].name), .exists)
        #expect(report.stays.map(\.entry.name) == [entries[0].name, entries[2].name])
        #expect(report.stays.map(\.reason) == [.notWhole(name: entries[0].name), .file(taken)])
        #expect(try home.open().catalogue.complete.map(\.name) == [entries[1].name, entries[3].name])
        #expect(try isInTrash(entries[0]) && isInTrash(entries[2]))
        #expect(throws: CatalogueFailure.notWhole(name: entries[0].name)) { try home.open().bringBack() }
    }

    @Test(
        "A rebuild of a moved folder, through the link in its old place, takes over what was known and forgets that place"
    )
    func movedAndLinked() throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        try home.open().note([CheckedArchive(entries[0].id, isDrilled: true)], now: home.now)
        let (backups, disk) = (home.folder.path("backups"), home.folder.path("disk"))
        let known = try #require(try home.catalogueFile.load())
        func folders() throws -> [String] {
            try CatalogueFile.all(in: home.folder.path("catalogues"), device: home.device).found.map(\.folder)
        }
        // A link to a folder with none of the archives is another folder.
        try FileManager.default.moveItem(atPath: backups, toPath: disk)
        try Path.makeFolder(home.folder.path("other"))
        try FileManager.default.createSymbolicLink(atPath: backups, withDestinationPath: "other")
        try home.rebuild()
        #expect(try folders().contains(backups))
        try Path.remove(backups)
        try FileManager.default.createSymbolicLink(atPath: backups, withDestinationPath: "disk")
        try home.rebuild()
        let moved = try #require(try home.catalogueFile.load())
        #expect(moved.folder == disk && moved.entries.map(\.content) == known.entries.map(\.content))
        #expect(moved.pin == known.pin && moved.begun == known.begun && moved.drilled == known.drilled)
        #expect(try !folders().contains(backups))
    }
}
