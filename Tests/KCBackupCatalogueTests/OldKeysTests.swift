import KCAgeEncryption
import KCBackupArchive
import KCBackupEngine
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("A copy of an archive from before a rekey, in its place")
struct OldKeysTests {
    private let home: BackupHome

    init() throws {
        home = try BackupHome()
    }

    /// Makes an archive, rekeys it, and puts the copy from before into its place.
    private func putBack() throws -> CatalogueEntry {
        let entry = try home.backUp()
        let old = try home.read(entry.name)
        try home.rekey(entry.name)
        try home.write(entry.name, old)
        return try #require(try home.open().catalogue.newest(of: "login"))
    }

    private func state(_ entry: CatalogueEntry) throws -> CatalogueEntry.FileState {
        try entry.fileState(at: home.folder.path("backups/" + entry.name))
    }

    @Test("It is not the recorded file, whatever its size, and the rekeyed one is")
    func recognized() throws {
        let entry = try home.backUp()
        let old = try home.read(entry.name)
        try home.rekey(entry.name)
        let rekeyed = try #require(try home.open().catalogue.newest(of: "login"))
        #expect(try state(rekeyed) == .recorded)
        #expect(rekeyed.file.keys == [home.newIdentity.recipient.description])
        try home.write(entry.name, old)
        #expect(rekeyed.file.size == UInt64(old.count))
        #expect(try state(rekeyed) == .replaced(.keys))
        // Opening the folder, as each run does, accepts nothing.
        #expect(try home.open().catalogue.newest(of: "login") == rekeyed)
    }

    @Test("It satisfies no rule of prune, and stays")
    func prune() throws {
        let first = try home.backUp()
        let entry = try putBack()
        let plan = try home.prune(last: 1)
        #expect(plan.removed == [] && plan.notCounted == [entry.name: .otherKeys])
        #expect(try home.names() == [first.name, entry.name].sorted())
    }

    @Test("A backup without changes is made all the same")
    func unchanged() throws {
        let rules = SeriesDestination.Rules(skipsUnchanged: true)
        let first = try home.backUp(rules: rules)
        #expect(throws: CatalogueFailure.noArchives(folder: "backups")) { try home.backUp(rules: rules) }
        let old = try home.read(first.name)
        let file = try home.rekeyed(first.name)
        try home.replace(first, by: file, keys: [], in: home.open())
        #expect(throws: CatalogueFailure.noArchives(folder: "backups")) { try home.backUp(rules: rules) }
        try home.write(first.name, old)
        let second = try home.backUp(rules: rules)
        #expect(try home.names() == [first.name, second.name].sorted())
    }

    @Test("It is not verified in the name of the recorded file")
    func verify() throws {
        let entry = try putBack()
        let path = home.folder.path("backups/" + entry.name)
        #expect(throws: CatalogueFailure.replaced(name: path, .keys)) {
            try home.open().verifyOutside(entry, now: home.now)
        }
    }

    @Test("Another archive under the name is neither verified nor replaced in the name of the recorded one")
    func otherArchive() throws {
        let (first, last) = (try home.backUp(), try home.backUp())
        try home.write(last.name, home.read(first.name))
        let failure = CatalogueFailure.replaced(name: home.folder.path("backups/" + last.name), .archive)
        #expect(throws: failure) { try home.open().verifyOutside(last, now: home.now) }
        #expect(throws: failure) { try home.rekey(last.name) }
        #expect(try home.read(last.name) == home.read(first.name))
    }

    @Test("Rebuilding enters it, and it does not count until a key opens it")
    func rebuild() throws {
        let first = try home.backUp()
        let entry = try putBack()
        let rebuilt = try home.rebuild()
        #expect(rebuilt.added.map(\.name) == [entry.name] && rebuilt.ignored.isEmpty)
        let found = try #require(try home.open().catalogue.newest(of: "login"))
        #expect(try state(found) == .recorded)
        #expect(found.file.keys == [] && found.content == nil)
        #expect(try home.prune(last: 1).notCounted == [entry.name: .unread])
        #expect(try home.names() == [first.name, entry.name].sorted())
    }

    @Test("Of two copies with other keys, rebuilding enters the recorded one, whatever their names")
    func rebuildCopies() throws {
        let entry = try home.backUp()
        let old = try home.read(entry.name)
        try home.rekey(entry.name)
        let copy = ArchiveName(series: "login", device: home.device.id, time: entry.created, number: 2).fileName
        try home.rename(entry.name, to: copy)
        try home.write(entry.name, old)
        #expect(try home.rebuild().ignored.map(\.name) == [entry.name])
        #expect(try home.open().catalogue.newest(of: "login")?.name == copy)
    }

    @Test("After a rekey that was killed, the next run knows which of the files is there", arguments: [true, false])
    func killed(isReplaced: Bool) throws {
        let entry = try home.backUp()
        let archive = try home.rekeyed(entry.name)
        let next = CatalogueEntry.File(archive, keys: ["age1new"])
        try home.open().change(entry) { $0.nextFile = next }
        if isReplaced { try archive.replace(entry.name, ifStill: home.status(entry.name)) }
        // A look at the folder, which settles nothing, finds it in order too.
        let unsettled = try #require(try home.catalogueFile.load()?.newest(of: "login"))
        #expect(try unsettled.nextFile == next && state(unsettled) == .recorded)
        #expect(
            try unsettled.settled(at: home.folder.path("backups/" + entry.name)).file
                == (isReplaced ? next : entry.file))
        let found = try #require(try home.open().catalogue.newest(of: "login"))
        #expect(found.file == (isReplaced ? next : entry.file) && found.nextFile == nil)
        #expect(try state(found) == .recorded)
    }

    @Test("After a rekey that was killed, a file that is neither of the two decides nothing")
    func killedAndDamaged() throws {
        let entry = try home.backUp()
        let archive = try home.rekeyed(entry.name)
        let next = CatalogueEntry.File(archive, keys: ["age1new"])
        try home.open().change(entry) { $0.nextFile = next }
        let whole = try home.read(entry.name)
        try home.write(entry.name, Array(whole.dropLast(512)))
        #expect(try home.open().catalogue.newest(of: "login")?.nextFile == next)
        try home.write(entry.name, whole)
        #expect(try home.open().catalogue.newest(of: "login") == entry)
    }

    @Test("Telling it apart reads a few kilobytes, however large the archive is")
    func reads() throws {
        let entry = try home.backUp(items: 5_000)
        let path = home.folder.path("backups/" + entry.name)
        let file = try OpenFile.reading(path)
        let outline = try ArchiveOutline(ArchiveFile(file))
        #expect(entry.state(of: outline) == .recorded)
        #expect(file.bytesRead < 16_384 && entry.file.size > 8 * file.bytesRead)
    }

    @Test("A mount point forgets no archive in the trash, whatever is in it", arguments: ["x.kcb", ".trash/x.kcb"])
    func strayFile(_ stray: String) throws {
        let entries = try (0..<2).map { _ in try home.backUp() }
        _ = try home.prune(last: 1)
        let before = try #require(try home.catalogueFile.load())
        try home.unmounted {
            try Path.makeFolder(home.folder.path("backups/.trash"))
            try home.write(stray, [1])
            #expect(try home.open().catalogue == before)
        }
        #expect(try home.catalogueFile.load() == before)
        #expect(try home.open().bringBack().entries.map(\.name) == [entries[0].name])
    }

    @Test("An empty mount point forgets neither an archive in the trash nor one that was being made")
    func emptyMountPoint() throws {
        let entries = try (0..<3).map { _ in try home.backUp() }
        _ = try home.prune(last: 2)
        try home.open().change(entries[2]) { $0.state = .writing }
        let before = try #require(try home.catalogueFile.load())
        try home.unmounted {
            let failure = CatalogueFailure.folderGone(folder: "backups", archives: 1)
            #expect(throws: failure) { try home.open() }
            #expect(throws: failure) { try home.open(isRebuilt: true).rebuild(now: home.now) }
        }
        #expect(try home.catalogueFile.load() == before)
        #expect(try home.open().bringBack().entries.map(\.name) == [entries[0].name])
        #expect(try home.open().catalogue.complete.count == 3)
    }
}
