package import KCBackupArchive
package import KCByteStreams
package import KCKeychainModel

extension BackupFolder {
    /// A rekeyed version of an archive, which has no name yet.
    package struct Replacement {
        let entry: CatalogueEntry
        let expected: EntryStatus
        let archive: FinishedArchive
        let file: CatalogueEntry.File
        /// The size of the version in bytes.
        package var size: UInt64 { file.size }

        /// - Parameters:
        ///   - expected: what the file of `entry` was when it was read.
        ///   - keys: what opens the archive, as in `BackupPin`.
        package init(
            of entry: CatalogueEntry, ifStill expected: EntryStatus, by archive: FinishedArchive, keys: [String]
        ) {
            (self.entry, self.expected, self.archive) = (entry, expected, archive)
            file = CatalogueEntry.File(archive, keys: keys)
        }
    }

    /// How many replacements one change of the catalogue covers, which writes all of it.
    ///
    /// Each holds a file open, and as much of the disk as its archive.
    package static let replacementCount = 64

    /// Replaces archives with rekeyed versions.
    ///
    /// - Returns: why an archive was not replaced, or nil, in order: `CatalogueFailure` (`replaced`, if the version is of
    ///   another archive), `FileFailure` (also `changed`). The folder then contains either the old archive or the new one,
    ///   intact.
    /// - Throws: `CatalogueFailure`, if the catalogue cannot be written.
    package func replace(_ all: [Replacement], now: Timestamp) throws -> [(any Error)?] {
        func isOf(_ replacement: Replacement) -> Bool {
            replacement.archive.header.archiveID == replacement.entry.archiveID
        }
        // If the run is killed, the next one can distinguish the new files from copies of old ones.
        try change(all.filter(isOf)) { $0.nextFile = $1.file }
        var failures: [(any Error)?] = []
        var (replaced, unchanged): ([Replacement], [Replacement]) = ([], [])
        for replacement in all {
            let entry = replacement.entry
            guard isOf(replacement) else {
                failures.append(CatalogueFailure.replaced(name: path(of: entry), .archive))
                continue
            }
            do throws(FileFailure) {
                try replacement.archive.replace(entry.name, ifStill: replacement.expected)
                replaced.append(replacement)
                failures.append(nil)
            } catch {
                switch error.problem {
                case .changed: unchanged.append(replacement)
                case .remains: replaced.append(replacement)
                default: break
                }
                failures.append(FileFailure(path(of: entry), error.problem))
            }
        }
        try change(replaced) {
            $0.file = $1.file
            $0.nextFile = nil
            $0.verified = now
        }
        try change(unchanged) { entry, _ in entry.nextFile = nil }
        return failures
    }

    private func change(
        _ all: [Replacement], _ body: (inout CatalogueEntry, Replacement) -> Void
    ) throws(CatalogueFailure) {
        let replacements = Dictionary(all.map { ($0.entry.id, $0) }) { first, _ in first }
        try change { catalogue in
            for index in catalogue.entries.indices {
                guard let replacement = replacements[catalogue.entries[index].id] else { continue }
                body(&catalogue.entries[index], replacement)
            }
        }
    }
}

extension CatalogueEntry.File {
    /// Describes the file of a new archive.
    init(_ archive: FinishedArchive, keys: [String]) {
        self.init(keys: keys, size: archive.size, checksum: archive.checksum)
    }
}
