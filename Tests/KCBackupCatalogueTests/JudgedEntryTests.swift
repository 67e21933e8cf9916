import KCByteStreams
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("Readers of a folder that another run changes meanwhile")
struct JudgedEntryTests {
    private let home: BackupHome
    private let entry: CatalogueEntry

    init() throws {
        home = try BackupHome()
        entry = try home.backUp()
        try home.backUp()
    }

    private func state(of entry: CatalogueEntry) throws -> CatalogueEntry.FileState? {
        try entry.judged(rereading: { try home.catalogueFile.load() }, isAlarm: { $0 != .recorded }) {
            try $0.fileState(at: home.folder.path("backups/" + $0.name))
        }
    }

    private func rows(reading first: Catalogue?) throws -> [ListedArchive.State] {
        var first = [first].makeIterator()
        return try ListedArchive.all(in: home.folder.path("backups")) {
            if let early = first.next() { return early }
            return try home.catalogueFile.load()
        }.map(\.state)
    }

    @Test("An archive that got new keys, or went to the trash, after the catalogue was read gives no alarm")
    func changed() throws {
        let early = try home.catalogueFile.load()
        try home.rekey(entry.name)
        #expect(try state(of: entry) == .recorded)
        #expect(try rows(reading: early) == [.ok, .ok])
        let rekeyed = try home.catalogueFile.load()
        #expect(try home.prune(last: 1).removed == [entry.name])
        #expect(try state(of: entry) == nil)
        #expect(try rows(reading: rekeyed).filter { $0 != .trashed } == [.ok])
    }

    @Test("An archive that was lost, damaged or replaced gives one")
    func alarms() throws {
        let bytes = try home.read(entry.name)
        try home.rekey(entry.name)
        try home.write(entry.name, bytes)
        let current = try home.catalogueFile.load()
        let entry = try #require(current?.complete.first)
        #expect(try state(of: entry) == .replaced(.keys))
        #expect(try rows(reading: current) == [.replaced, .ok])
        try home.write(entry.name, Array("x".utf8))
        #expect(try state(of: entry) == .damaged)
        try Path.remove(home.folder.path("backups/" + entry.name))
        #expect(try state(of: entry) == .missing)
        #expect(try rows(reading: current) == [.missing, .ok])
    }
}
