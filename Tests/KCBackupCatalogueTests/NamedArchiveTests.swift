import KCBackupArchive
import KCBackupEngine
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

@Suite("Archives under their names")
struct NamedArchiveTests {
    private let home: BackupHome

    init() throws { home = try BackupHome() }

    private func find(
        _ entry: CatalogueEntry, under name: String, ifRenamed: @escaping (CatalogueFailure) throws -> Void
    ) throws {
        _ = try NamedArchive(
            ArchiveFile(path: home.folder.path("backups/" + entry.name)), named: name, at: "nas:" + name,
            ifRenamed: ifRenamed
        ).proveOutside(local: nil)
    }

    @Test("A name that says another time, device or keychain is refused, once; one that says nothing is not")
    func claims() throws {
        let entry = try home.backUp("login", .unencrypted)
        let name = try #require(ArchiveName(entry.name))
        let later = entry.created.advanced(byMicroseconds: 86_400_000_000)
        let device = try #require(DeviceID("KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        let renamed = [
            ArchiveName(series: "login", device: home.device.id, time: later).fileName,
            ArchiveName(series: "login", device: device, time: entry.created).fileName,
            ArchiveName(series: "work", device: home.device.id, time: entry.created).fileName,
        ]
        for name in renamed {
            #expect(throws: CatalogueFailure.renamed(path: "nas:" + name), "\(name)") {
                try find(entry, under: name) { throw $0 }
            }
            var told = 0
            try find(entry, under: name) { _ in told += 1 }
            #expect(told == 1, "\(name)")
        }
        let number = ArchiveName(series: name.series, device: home.device.id, time: name.time, number: 2).fileName
        for name in [entry.name, number, "a.kcb", "-"] { try find(entry, under: name) { throw $0 } }
    }

    @Test("An older archive under a later name is no archive of that name in a list of a folder without a catalogue")
    func listed() throws {
        let (first, last) = (try home.backUp(), try home.backUp())
        try home.write(last.name, home.read(first.name))
        let rows = try ListedArchive.all(in: home.folder.path("backups"), nil)
        #expect(rows.map(\.state.rawValue) == ["unlisted", "replaced"])
    }
}
