import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

/// Random backups, copies, renamed, deleted and damaged files, lost catalogues, and runs of prune.
@Suite("Prune, whatever happened to the folder")
struct PruningPropertyTests {
    /// The facts about an archive, whatever its file is named.
    private struct Truth {
        let series: String
        let isComplete: Bool
        let created: Timestamp
        /// The checksum of the file with its latest keys.
        var checksum: ArchiveChecksum
        /// The files with earlier keys, and their names.
        var old: [(name: String, bytes: [UInt8])] = []
    }

    /// A file of the folder that is an intact archive.
    private struct Found: Hashable {
        let name: String
        let archiveID: [UInt8]
        let checksum: ArchiveChecksum
    }

    @Test(
        "The newest complete archives of a keychain stay, and nothing but what was to be removed moves",
        .proofRow("changes of a folder of archives, which lose none that is to be kept", trials: 41),
        arguments: 0..<(ModelRun.isWhole ? 300 : 6))
    func law(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let home = try BackupHome()
        var truths: [[UInt8]: Truth] = [:]
        for _ in 0..<40 {
            let names = try home.names()
            let name = names.randomElement(using: &random)
            switch (Int.random(in: 0..<18, using: &random), name) {
            case (0...3, _):
                let series = Bool.random(using: &random) ? "login" : "work"
                let entry = try home.backUp(
                    series, Bool.random(using: &random) ? .encrypted : .unencrypted,
                    damaged: Int.random(in: 0...3, using: &random) / 3)
                truths[entry.archiveID] = Truth(
                    series: series, isComplete: entry.isComplete == true, created: entry.created,
                    checksum: entry.file.checksum)
            case (4...5, let name?):
                let other = try otherName(name, home, &random)
                if try !Path.exists(home.folder.path("backups/" + other)) { try home.write(other, home.read(name)) }
            case (6, let name?):
                let other = try otherName(name, home, &random)
                if try !Path.exists(home.folder.path("backups/" + other)) { try home.rename(name, to: other) }
            case (7, let name?) where names.count > 1:
                if Bool.random(using: &random) { try home.remove(name) } else { try home.rot(name) }
            case (8, _): try home.rebuild()
            case (9, _): try home.loseCatalogue()
            case (10...12, let name?): try rekey(name, home, &truths)
            case (13...14, _):
                // The copy from before a rekey comes back, under the name of the archive or under another one.
                let copies = truths.values.sorted { $0.created < $1.created }.flatMap(\.old)
                guard let copy = copies.randomElement(using: &random) else { break }
                let isBeside = Int.random(in: 0..<3, using: &random) == 0
                try home.write(isBeside ? otherName(copy.name, home, &random) : copy.name, copy.bytes)
            default: try prune(home, truths, keeping: Int.random(in: 1...3, using: &random))
            }
        }
        try prune(home, truths, keeping: 1)
    }

    /// Rekeys an archive that is as it was recorded, and keeps the copy from before.
    private func rekey(_ name: String, _ home: BackupHome, _ truths: inout [[UInt8]: Truth]) throws {
        guard let entry = try home.open().catalogue.complete.first(where: { $0.name.exact == name.exact }),
            entry.mode == .encrypted, let file = try found(home.read(name), name), file.archiveID == entry.archiveID
        else { return }
        let old = try home.read(name)
        try home.rekey(name)
        truths[entry.archiveID]?.old.append((name, old))
        truths[entry.archiveID]?.checksum = try ArchiveFile(path: home.folder.path("backups/" + name)).checksum()
    }

    /// A valid name: of another keychain, of another time, or with another number.
    private func otherName(_ name: String, _ home: BackupHome, _ random: inout SeededRandom) throws -> String {
        let old = try #require(ArchiveName(name))
        let days = Int64.random(in: -3...3, using: &random)
        return switch Int.random(in: 0..<3, using: &random) {
        case 0:
            ArchiveName(
                series: old.series == "login" ? "work" : "login", device: home.device.id, time: old.time,
                number: old.number
            ).fileName
        case 1:
            ArchiveName(
                series: old.series, device: home.device.id,
                time: old.time.advanced(byMicroseconds: days * 86_400_000_000), number: old.number
            ).fileName
        default:
            ArchiveName(
                series: old.series, device: home.device.id, time: old.time,
                number: Int.random(in: 1...4, using: &random)
            ).fileName
        }
    }

    private func prune(_ home: BackupHome, _ truths: [[UInt8]: Truth], keeping count: Int) throws {
        let before = try files(home)
        let plan = try home.prune(last: count)
        let after = try files(home)
        #expect(Set(before.keys).subtracting(after.keys) == Set(plan.removed))
        #expect(Set(after.keys).isSubset(of: before.keys))
        for (name, bytes) in after { #expect(before[name] == bytes, "\(name) has changed") }
        let (foundBefore, foundAfter) = (try intact(before), try intact(after))
        for removed in foundBefore.subtracting(foundAfter) {
            let truth = try #require(truths[removed.archiveID])
            #expect(ArchiveName(removed.name)?.series == truth.series, "\(removed.name) is of another keychain")
            #expect(removed.checksum == truth.checksum, "\(removed.name) has old keys, and took the place of another")
        }
        #expect(foundBefore.subtracting(foundAfter).count == plan.removed.count, "a damaged file was moved")
        for series in ["login", "work"] {
            let (old, new) = (complete(foundBefore, series, truths), complete(foundAfter, series, truths))
            #expect(new.first == old.first, "the newest complete archive of '\(series)' is gone")
            #expect(new.count >= min(count, old.count), "too few archives of '\(series)' stay")
        }
    }

    /// The complete archives of a keychain that are there under any name, the newest first, each once.
    private func complete(_ found: Set<Found>, _ series: String, _ truths: [[UInt8]: Truth]) -> [[UInt8]] {
        let usable = found.filter { $0.checksum == truths[$0.archiveID]?.checksum }.map(\.archiveID)
        return Set(usable).filter { truths[$0]?.series == series && truths[$0]?.isComplete == true }
            .sorted { (truths[$0]?.created ?? .reference) > (truths[$1]?.created ?? .reference) }
    }

    private func files(_ home: BackupHome) throws -> [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try home.names().map { ($0, try home.read($0)) })
    }

    private func intact(_ files: [String: [UInt8]]) throws -> Set<Found> {
        Set(try files.compactMap { name, bytes in try found(bytes, name) })
    }

    /// The archive in a file; nil if it is not an intact one.
    private func found(_ bytes: [UInt8], _ name: String) throws -> Found? {
        let folder = try TemporaryFolder()
        let path = try folder.write("x.kcb", bytes)
        do throws(ArchiveFailure) {
            let archive = try ArchiveFile(path: path).prove()
            try archive.proveStreams()
            return Found(name: name, archiveID: archive.header.archiveID, checksum: archive.checksum)
        } catch {
            return nil
        }
    }
}
