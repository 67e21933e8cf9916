import KCBackupArchive
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("Changes of many archives of a folder")
struct ReplacementTests {
    private let home: BackupHome

    init() throws { home = try BackupHome() }

    @Test("Archives that get new keys together are replaced each, but for one that has changed meanwhile")
    func together() throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        let backups = try home.open()
        let replacements = try entries.map { entry in
            BackupFolder.Replacement(
                of: entry, ifStill: try home.status(entry.name), by: try home.rekeyed(entry.name), keys: ["new"])
        }
        try home.write(entries[1].name, home.read(entries[1].name))
        let failures = try backups.replace(replacements, now: home.now)
        #expect(failures.map { $0 == nil } == [true, false, true])
        #expect(backups.saves == 3, "before and after, and for the one that stays")
        #expect((failures[1] as? FileFailure)?.problem == .changed)
        let settled = try #require(try home.catalogueFile.load()).complete
        #expect(settled.map(\.file.keys) == [["new"], entries[1].file.keys, ["new"]])
        #expect(settled.allSatisfy { $0.nextFile == nil })
        for entry in settled {
            #expect(try entry.fileState(at: home.folder.path("backups/" + entry.name)) == .recorded)
        }
    }

    @Test("All archives of the last prune come back by one change of the catalogue")
    func undo() throws {
        for _ in 0..<4 { try home.backUp() }
        #expect(try home.prune(last: 1).removed.count == 3)
        let backups = try home.open()
        let report = try backups.bringBack()
        #expect(report.entries.count == 3 && report.stays.isEmpty)
        #expect(try #require(try home.catalogueFile.load()).complete.count == 4)
        #expect(backups.saves == 1)
    }
}
