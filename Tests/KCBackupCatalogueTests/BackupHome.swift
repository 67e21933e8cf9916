import Foundation
import KCAgeEncryption
import KCBackupArchive
import KCBackupEngine
import KCByteStreams
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

/// A folder of real backups, with a clock that goes on by a day with each of them.
final class BackupHome {
    let folder: TemporaryFolder
    let device: DeviceKey
    let identity: X25519Identity
    /// The identity by which a rekey replaces `identity`.
    let newIdentity: X25519Identity
    private var items: [Item] = []
    private(set) var now = Timestamp("2026-01-01T03:00:00.250000Z") ?? .reference

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
        identity = try X25519Identity.generate()
        newIdentity = try X25519Identity.generate()
        for name in ["catalogues", "backups"] { try Path.makeFolder(folder.path(name)) }
    }

    /// Opens the folder, as each run does.
    func open(isRebuilt: Bool = false) throws -> BackupFolder {
        try BackupFolder(
            folder.path("backups"), named: "backups", catalogues: folder.path("catalogues"), device: device,
            waitingAtMost: .seconds(60), isRebuilt: isRebuilt)
    }

    private static func item(_ number: Int) throws -> Item {
        var attributes = Attributes()
        attributes[.acct] = .text(String(100_000 + number))
        return try ItemDraft(itemClass: .genericPassword, attributes: attributes)
            .completed(now: .reference, secretSize: 5)
    }

    func pass(days: Int64) { now = now.advanced(byMicroseconds: days * 86_400_000_000) }

    /// Makes a backup of a keychain with so many items, some of which cannot be read.
    @discardableResult
    func backUp(
        _ series: String = "login", _ mode: ArchiveMode = .encrypted, items: Int = 1, damaged: Int = 0,
        rules: SeriesDestination.Rules = SeriesDestination.Rules(acceptsShrinkage: true),
        to destination: SeriesDestination? = nil
    ) throws -> CatalogueEntry {
        pass(days: 1)
        let destination = try destination ?? SeriesDestination(open(), series: series, rules: rules)
        let backup = try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.keychain, name: series), device: device, tool: "test",
            to: destination, now: now)
        while self.items.count < items { self.items.append(try Self.item(self.items.count)) }
        let source = Items(items: Array(self.items.prefix(items)), damaged: damaged)
        switch mode {
        case .encrypted: _ = try backup.encrypted(source, with: ArchiveKeys(recipients: [identity.recipient]))
        case .unencrypted: _ = try backup.unencrypted(SealedSource(source, deviceKey: device))
        }
        guard case .saved(let entry) = destination.outcome else { throw CatalogueFailure.noArchives(folder: "backups") }
        return entry
    }

    /// Makes the file of an archive again, for the new identity, without giving it a name.
    func rekeyed(_ name: String) throws -> FinishedArchive {
        let archive = try ArchiveFile(path: folder.path("backups/" + name)).prove()
            .open(identities: [identity, newIdentity])
        return try archive.rekeyed(
            to: ArchiveKeys(of: archive.header.archiveID, recipients: [newIdentity.recipient], inspectors: []),
            by: device,
            inFolder: folder.path("backups"))
    }

    /// Gives an archive that the catalogue knows new keys.
    func rekey(_ name: String) throws {
        let backups = try open()
        guard let entry = backups.catalogue.complete.first(where: { $0.name.exact == name.exact }) else { return }
        try replace(entry, by: rekeyed(name), keys: [newIdentity.recipient.description], in: backups)
    }

    /// Replaces an archive, as a rekey does.
    func replace(
        _ entry: CatalogueEntry, by archive: FinishedArchive, keys: [String], in backups: BackupFolder
    ) throws {
        let replacement = BackupFolder.Replacement(
            of: entry, ifStill: try status(entry.name), by: archive, keys: keys)
        if let failure = try backups.replace([replacement], now: now)[0] { throw failure }
    }

    /// The present status of the file of an archive.
    func status(_ name: String) throws -> EntryStatus {
        try EntryStatus(OpenFile.reading(folder.path("backups/" + name)))
    }

    /// Prunes, keeping the last archives of each series.
    func prune(last count: Int) throws -> BackupFolder.PrunePlan {
        let backups = try open()
        let plan = try backups.plan(Retention(last: count), now: now, calendar: .utc)
        try backups.discard(plan, now: now)
        return plan
    }

    /// Lets days pass, on each of which a run empties the trash; returns the number of archives that were deleted.
    func runDaily(days: Int) throws -> Int {
        var deleted = 0
        for _ in 0..<days {
            pass(days: 1)
            deleted += try open().emptyTrash(now: now)
        }
        return deleted
    }

    /// Loses the catalogue and rebuilds it from the folder.
    @discardableResult
    func loseCatalogue() throws -> BackupFolder.Rebuilt {
        for name in try Path.names(in: folder.path("catalogues")) { try Path.remove(folder.path("catalogues/" + name)) }
        return try rebuild()
    }

    @discardableResult
    func rebuild() throws -> BackupFolder.Rebuilt {
        try open(isRebuilt: true).rebuild(now: now, mayForgetAll: true)
    }

    /// The names of the archives in the folder.
    func names() throws -> [String] {
        try Path.names(in: folder.path("backups")).filter { $0.hasSuffix(ArchiveName.ending) }.sorted()
    }

    func read(_ name: String) throws -> [UInt8] { try folder.read("backups/" + name) }

    func write(_ name: String, _ bytes: [UInt8]) throws { try folder.write("backups/" + name, bytes) }

    func rename(_ name: String, to newName: String) throws {
        try Path.move(folder.path("backups/" + name), to: folder.path("backups/" + newName))
    }

    /// The file of the catalogue.
    var catalogueFile: CatalogueFile {
        CatalogueFile(of: folder.path("backups"), in: folder.path("catalogues"), device: device)
    }

    /// Runs `body` while there is an empty folder in the place of the backups, as below a disk that is not mounted.
    func unmounted(_ body: () throws -> Void) throws {
        let (backups, disk) = (folder.path("backups"), folder.path("disk"))
        try FileManager.default.moveItem(atPath: backups, toPath: disk)
        try Path.makeFolder(backups)
        try body()
        try FileManager.default.removeItem(atPath: backups)
        try FileManager.default.moveItem(atPath: disk, toPath: backups)
    }

    func remove(_ name: String) throws { try Path.remove(folder.path("backups/" + name)) }

    func rot(_ name: String) throws {
        var bytes = try read(name)
        bytes[bytes.count / 2] ^= 1
        try write(name, bytes)
    }
}

/// Generic passwords, and items that cannot be read.
private struct Items: ItemSource {
    let items: [Item]
    let damaged: Int

    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for item in items where try visitor.wants(item) {
            var line = SecretBytes(capacity: 1_024)
            ItemLine.encode(item, into: &line)
            try line.withBytes { try visitor.take(item, line: $0, secret: SecretBytes(copying: "tulip".utf8)) }
        }
        for _ in 0..<damaged { try visitor.skip(damaged: nil) }
    }
}

extension Retention {
    /// Keeps the last archives.
    init(last: Int) {
        self.init()
        self.last = last
    }
}

extension BackupFolder.PrunePlan {
    /// The names of the archives that are not counted, with the reason.
    var notCounted: [String: BackupFolder.Exclusion] {
        var found: [String: BackupFolder.Exclusion] = [:]
        for fate in fates {
            if case .notCounted(let exclusion) = fate.decision { found[fate.entry.name] = exclusion }
        }
        return found
    }

    /// The names of the archives that are removed.
    var removed: [String] { fates.filter(\.isRemoval).map(\.entry.name).sorted() }
}
