import KCBackupArchive
import KCBackupEngine
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("The catalogue of a backup folder")
struct CatalogueTests {
    private let folder: TemporaryFolder
    private let device: DeviceKey

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
        try Path.makeFolder(folder.path("catalogues"))
        try Path.makeFolder(folder.path("backups"))
    }

    @Test("An archive that a run is saving is listed once its file is there, and is not missing before")
    func savingIsNotMissing() throws {
        let home = try BackupHome()
        let saved = try home.backUp()
        try home.open().change(saved) { $0.state = .writing }
        let loaded = try home.catalogueFile.load()
        #expect(try ListedArchive.all(in: home.folder.path("backups"), loaded).map(\.state) == [.ok])
        try home.remove(saved.name)
        #expect(try ListedArchive.all(in: home.folder.path("backups"), loaded).isEmpty)
        let missing = try loaded.map { catalogue in
            var catalogue = catalogue
            catalogue.entries[0].state = .complete
            return try ListedArchive.all(in: home.folder.path("backups"), catalogue).map(\.state)
        }
        #expect(missing == [.missing])
    }

    @Test("A name is given once in a day, to whatever folder, and one of a time to come is not the newest")
    func givenNames() throws {
        let now = try #require(Timestamp("2026-11-22T03:00:00.000000Z"))
        func name(_ hours: Int64, number: Int = 1) -> ArchiveName {
            ArchiveName(
                series: "login", device: device.id, time: now.advanced(byMicroseconds: hours * 3_600_000_000),
                number: number)
        }
        let given = GivenNames(in: folder.path("names"))
        #expect(try given.take(name(0)) && !given.take(name(0)) && given.take(name(0, number: 2)))
        #expect(try given.take(name(30)))
        #expect(try Path.names(in: folder.path("names")) == [name(30).fileName])
        #expect(name(0).precedes(name(1), now: now) && !name(1).precedes(name(0), now: now))
        #expect(name(25).precedes(name(0), now: now) && name(25).precedes(name(26), now: now))
        #expect(!name(23).precedes(name(0), now: now) && !name(0).precedes(name(0), now: now))
    }

    private var file: CatalogueFile {
        CatalogueFile(of: folder.path("backups"), in: folder.path("catalogues"), device: device)
    }

    private func entry(_ number: UInt8, _ content: CatalogueEntry.Content?) throws -> CatalogueEntry {
        let created = try #require(Timestamp("2026-11-22T03:00:00.00000\(number)Z"))
        return CatalogueEntry(
            name: "login-KC-ABCDEFGH-20261122T030000Z-\(number).kcb", archiveID: [UInt8](repeating: number, count: 32),
            created: created, series: "login", mode: .encrypted,
            file: try file(of: number),
            content: content, state: .complete, verified: created)
    }

    private func file(of number: UInt8) throws -> CatalogueEntry.File {
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: number, count: 32)))
        return CatalogueEntry.File(keys: ["age1x", "passphrase"], size: 4_096, checksum: ArchiveChecksum(digest))
    }

    private func example() throws -> Catalogue {
        var counts = ItemCounts()
        counts[.genericPassword] = 7
        let content = CatalogueEntry.Content(
            counts: counts, groups: ["com.example \"x\"": 3, "": 4], damaged: 1,
            fingerprint: [UInt8](repeating: 9, count: 32))
        var second = try entry(2, nil)
        second.nextFile = try file(of: 3)
        second.state = .trashed
        second.trashed = CatalogueEntry.Removal(date: second.created, readings: [second.verified, second.created])
        second.drilled = second.created
        second.confirmed = second.created
        second.foundDamaged = second.created
        var catalogue = Catalogue(
            folder: file.folder,
            pin: BackupPin(isOfAll: true, mode: .encrypted, keys: ["b", "a"], subjects: ["login": "00ff"]),
            entries: [try entry(1, content), second])
        catalogue.begun = second.created
        catalogue.drilled = second.verified
        return catalogue
    }

    @Test("An archive with another ID, another signer or other contents is distinguished from the recorded one")
    func difference() throws {
        let home = try BackupHome()
        let entry = try home.backUp()
        let outline = try ArchiveOutline(ArchiveFile(path: home.folder.path("backups/" + entry.name)))
        let another = try home.backUp()
        let print = try #require(entry.content?.fingerprint)
        let other = [UInt8](repeating: 0, count: 32)
        #expect(entry.difference(outline, origin: .thisDevice, fingerprint: print) == nil)
        #expect(entry.difference(outline, origin: .thisDevice, fingerprint: nil) == nil)
        #expect(another.difference(outline, origin: .thisDevice, fingerprint: print) == .archive)
        #expect(entry.difference(outline, origin: .thisDevice, fingerprint: other) == .content)
        for origin in [Origin.unknown, .passphrase, .trustedDevice(name: "laptop")] {
            #expect(entry.difference(outline, origin: origin, fingerprint: print) == .origin)
        }
        var rekeyed = entry
        rekeyed.file = another.file
        #expect(rekeyed.difference(outline, origin: .thisDevice, fingerprint: print) == .keys)
    }

    @Test("The time without a trial starts with the last one, or with the first backup, even if that is gone")
    func undrilled() throws {
        var catalogue = try example()
        let now = try #require(Timestamp("2026-12-01T03:00:00.000000Z"))
        #expect(catalogue.undrilledSince(at: now) == catalogue.drilled)
        // As of a clock that was fast.
        let future = try #require(Timestamp("2040-01-01T00:00:00.000000Z"))
        catalogue.drilled = future
        catalogue.begun = .reference
        #expect(catalogue.undrilledSince(at: now) == .reference)
        catalogue.begun = catalogue.drilled
        #expect(catalogue.undrilledSince(at: now) == catalogue.entries.first?.created)
        catalogue.drilled = nil
        catalogue.begun = nil
        #expect(catalogue.undrilledSince(at: now) == catalogue.entries.first?.created)
        catalogue.entries = []
        #expect(catalogue.undrilledSince(at: now) == nil)
    }

    @Test("A check after one with a fast clock is recorded with its own time")
    func fastClock() throws {
        let home = try BackupHome()
        let entry = try home.backUp()
        let backups = try home.open()
        for days in [400, -399] as [Int64] {
            home.pass(days: days)
            try backups.verifyOutside(entry, now: home.now)
            #expect(backups.catalogue.entries.map(\.verified) == [home.now])
            home.pass(days: -1)
            try backups.note([CheckedArchive(entry.id, isDrilled: true)], now: home.now)
            #expect(backups.catalogue.entries.map(\.verified) == [home.now])
            #expect(backups.catalogue.entries.map(\.drilled) == [home.now] && backups.catalogue.drilled == home.now)
        }
    }

    @Test("A saved catalogue loads unchanged")
    func roundTrip() throws {
        #expect(try file.load() == nil)
        let catalogue = try example()
        try file.save(catalogue)
        #expect(try file.load() == catalogue)
        #expect(try CatalogueFile.all(in: folder.path("catalogues"), device: device).found == [catalogue])
    }

    @Test("A change to any byte is detected")
    func altered() throws {
        try file.save(example())
        let name = try #require(Path.names(in: folder.path("catalogues")).first)
        let bytes = try folder.read("catalogues/" + name)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            try folder.write("catalogues/" + name, changed, mode: 0o600)
            #expect(throws: CatalogueFailure.altered(folder: file.folder)) { try file.load() }
        }
        // A missing entry.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try folder.write("catalogues/" + name, Array(lines[0] + [10] + lines[2] + [10] + lines[3] + [10]), mode: 0o600)
        #expect(throws: CatalogueFailure.altered(folder: file.folder)) { try file.load() }
    }

    @Test("A catalogue of another device is not trusted, and does not prevent this device from having its own")
    func otherDevice() throws {
        try file.save(example())
        let name = try #require(Path.names(in: folder.path("catalogues")).first)
        let other = try CatalogueFile(
            of: folder.path("backups"), in: folder.path("catalogues"), device: DeviceKey.generate())
        #expect(try other.load() == nil)
        try other.save(example())
        let otherName = try #require(Path.names(in: folder.path("catalogues")).first { $0 != name })
        try folder.write("catalogues/" + otherName, folder.read("catalogues/" + name), mode: 0o600)
        #expect(throws: CatalogueFailure.altered(folder: file.folder)) { try other.load() }
    }

    @Test("A folder has one catalogue, however its path is spelled, even before the folder exists")
    func places() throws {
        let spellings = ["backups", "backups/", "./backups", "catalogues/../backups", "new", "new/"]
        let found = spellings.map { spelling in
            CatalogueFile(of: folder.path("") + spelling, in: folder.path("catalogues"), device: device).folder
        }
        #expect(Set(found).count == 2)
    }

    @Test("Archive names are parsed as they were composed")
    func names() throws {
        let time = try #require(Timestamp("2026-11-22T03:00:00.123456Z"))
        for series in ["login", "my work", "a-KC-ABCDEFGH-20261122T030000Z", "schlüssel", "_.hidden"] {
            for number in [1, 2, 40] {
                let name = ArchiveName(series: series, device: device.id, time: time, number: number)
                #expect(ArchiveName(name.fileName) == name)
            }
        }
        for name in ["login.kcb", "login-KC-ABCDEFGH-20261322T030000Z.kcb", "-KC-ABCDEFGH-20261122T030000Z.kcb"] {
            #expect(ArchiveName(name) == nil)
        }
    }

    @Test("A series has no character that is unsafe in a file name, in a shell or on a terminal")
    func series() {
        #expect(ArchiveName.series(of: ".hidden/../x") == "_hidden_.._x")
        #expect(ArchiveName.series(of: "\u{1b}[31mred\u{202e}") == "__31mred_")
        #expect(ArchiveName.series(of: "") == "_")
        #expect(ArchiveName.series(of: String(repeating: "ü", count: 300)).utf8.count <= 180)
    }

    @Test("The ending of a file is taken off its name by bytes, also after a character that joins the dot")
    func stems() {
        #expect(ArchiveName.stem(ofFile: "stx\u{600}.jsonl").exact == "stx\u{600}".exact)
        #expect(ArchiveName.stem(ofFile: "stx.jsonl") == "stx")
        for name in [".jsonl", "stx", ""] { #expect(ArchiveName.stem(ofFile: name) == name) }
    }

    @Test("A run with another mode, other keys or another keychain is distinguished from one that continues")
    func pins() {
        let pin = BackupPin(isOfAll: false, mode: .encrypted, keys: ["a"], subjects: ["login": "1"])
        func difference(_ change: (inout BackupPin) -> Void) -> BackupPin.Difference? {
            var run = pin
            change(&run)
            return pin.difference(from: run)
        }
        #expect(difference { _ in } == nil)
        #expect(difference { $0.mode = .unencrypted } == .mode(was: .encrypted))
        #expect(difference { $0.keys = ["b"] } == .keys(lost: 1, added: 1))
        #expect(difference { $0.subjects = ["second": "2"] } == .otherKeychain(was: ["login"]))
        #expect(difference { $0.subjects = ["login": "2"] } == .replaced(series: "login"))
        let all = BackupPin(isOfAll: true, mode: .encrypted, keys: ["a"], subjects: ["login": "1"])
        var more = all
        more.subjects["new"] = "3"
        #expect(all.difference(from: more) == nil)
        #expect(all.difference(from: pin) == .oneOfAll)
    }

    @Test("A keychain that is elsewhere is a copy, unless it was moved")
    func copies() {
        let id = String(repeating: "0a", count: 16)
        let place = KeychainSubject(id: id, place: "/old:place/k.keychain")
        #expect(KeychainSubject(place.text) == place)
        #expect(KeychainSubject(id) == KeychainSubject(id: id, place: nil))
        for text in ["", "/" + id, id + "0", String(repeating: "0A", count: 16), "secret-service:"] {
            #expect(KeychainSubject(text) == nil, "\(text)")
        }
        let pin = BackupPin(isOfAll: false, mode: .encrypted, keys: ["a"], subjects: ["k": place.text])
        var run = pin
        #expect(pin.difference(from: run) == nil)
        for subject in [id, id + ":/new/k.keychain"] {
            run.subjects = ["k": subject]
            run.moved = []
            #expect(pin.difference(from: run) == .copied(series: "k", place: "/old:place/k.keychain"))
            run.moved = ["k"]
            #expect(pin.difference(from: run) == nil)
        }
        run.moved = []
        run.subjects = ["k": String(repeating: "0b", count: 16)]
        #expect(pin.difference(from: run) == .replaced(series: "k"))
    }

    @Test("A series of which only the names of archives tell is no other keychain's")
    func unknownSubject() {
        let rebuilt = BackupPin(
            isOfAll: true, mode: .encrypted, keys: ["a"], subjects: ["login": BackupPin.unknownSubject])
        let run = BackupPin(isOfAll: false, mode: .encrypted, keys: ["a"], subjects: ["login": "1"])
        #expect(rebuilt.difference(from: run) == .oneOfAll)
        #expect(BackupPin.differs("1", from: "2") && !BackupPin.differs("1", from: "1"))
        #expect(!BackupPin.differs("1", from: BackupPin.unknownSubject) && !BackupPin.differs("1", from: nil))
    }
}

@Suite("Backups with far fewer items than before")
struct ShrinkTests {
    private func loss(_ before: [ItemClass: Int], _ now: [ItemClass: Int], groups: [ExactText: Int] = ["g": 1]) throws
        -> Shrinkage?
    {
        func counts(_ numbers: [ItemClass: Int]) -> ItemCounts {
            var counts = ItemCounts()
            for (itemClass, number) in numbers { counts[itemClass] = number }
            return counts
        }
        let last = CatalogueEntry(
            name: "x", archiveID: [], created: .reference, series: "login", mode: .encrypted,
            file: CatalogueEntry.File(keys: [], size: 1, checksum: ArchiveChecksum(SHA256.hash([UInt8]().span))),
            content: CatalogueEntry.Content(
                counts: counts(before), groups: ["g": 1], damaged: 0, fingerprint: []),
            state: .complete, verified: .reference)
        return ShrinkGuard.judge(last, counts: counts(now), groups: groups)
    }

    @Test("Up to a fifth of the items may disappear")
    func fifth() throws {
        #expect(try loss([.genericPassword: 100], [.genericPassword: 80]) == nil)
        #expect(try loss([.genericPassword: 100], [.genericPassword: 79])?.now == 79)
        #expect(try loss([.genericPassword: 4], [.genericPassword: 3])?.before == 4)
    }

    @Test("The number of items alone is compared where nothing else is known")
    func numbers() {
        for now in [0, 8, 12] { #expect(ShrinkGuard.judge("login", before: min(10, now), now: now) == nil) }
        #expect(ShrinkGuard.judge("login", before: 10, now: 8) == nil)
        #expect(ShrinkGuard.judge("login", before: 10, now: 7)?.before == 10)
    }

    @Test("No class and no access group may disappear entirely")
    func kinds() throws {
        let certificates = try loss([.genericPassword: 100, .certificate: 1], [.genericPassword: 101])
        #expect(certificates?.goneClasses == [.certificate] && certificates?.goneGroups == [])
        let group = try loss([.genericPassword: 100], [.genericPassword: 100], groups: [:])
        #expect(group?.goneClasses == [] && group?.goneGroups == ["g"])
    }

    @Test("An empty keychain may stay empty, but one with items may not become empty")
    func empty() throws {
        #expect(try loss([:], [:]) == nil)
        #expect(try loss([.genericPassword: 1], [:]) != nil)
    }
}
