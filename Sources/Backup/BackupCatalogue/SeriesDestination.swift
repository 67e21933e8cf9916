package import BackupArchive
package import BackupEngine
internal import ByteStreams
internal import DeviceIdentity
internal import KeychainModel

/// A folder of backups as the destination of one keychain's archive.
package final class SeriesDestination: ArchiveDestination {
    /// What became of the backup.
    package enum Outcome: Hashable, Sendable {
        /// The archive has this name.
        case saved(CatalogueEntry)
        /// Nothing has changed since this archive.
        case unchanged(CatalogueEntry)
    }

    package let workFolder: String
    /// Nil until the archive was received.
    package private(set) var outcome: Outcome?
    /// Why the archive, which is saved, is not yet complete in the catalogue; the next run makes it so.
    package private(set) var entryFailure: CatalogueFailure?
    private let folder: BackupFolder
    private let series: String
    private let rules: Rules

    /// What the user wants of the run.
    package struct Rules: Hashable, Sendable {
        /// Make no archive when nothing has changed.
        package var skipsUnchanged: Bool
        /// Make an archive of far less than last time.
        package var acceptsShrinkage: Bool

        /// Collects both.
        package init(skipsUnchanged: Bool = false, acceptsShrinkage: Bool = false) {
            self.skipsUnchanged = skipsUnchanged
            self.acceptsShrinkage = acceptsShrinkage
        }
    }

    /// Prepares for an archive of a series.
    package init(_ folder: BackupFolder, series: String, rules: Rules = Rules()) {
        self.folder = folder
        self.series = series
        self.rules = rules
        workFolder = folder.path
    }

    /// Compares the archive with the last one, and gives it its name and its entry.
    ///
    /// - Throws: `CatalogueFailure` (`shrunk`, `file`, `cryptography`), `FileFailure`; no archive is there then.
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        let last = folder.catalogue.newest(of: series)
        let keys = folder.catalogue.pin?.keys ?? []
        let now = archive.header.created
        if let last {
            if rules.skipsUnchanged, last.content?.fingerprint == archive.fingerprint, last.mode == archive.header.mode,
                last.keys == keys, last.isComplete == true, report.damaged.isEmpty, try folder.isPresent(last)
            {
                try folder.change(last) { $0.confirmed = max(now, $0.lastGood) }
                outcome = .unchanged(folder.catalogue.newest(of: series) ?? last)
                return
            }
            if !rules.acceptsShrinkage,
                let loss = ShrinkGuard.judge(last, counts: report.contents.counts, groups: report.groups)
            {
                throw CatalogueFailure.shrunk(loss)
            }
        }
        var number = 1
        while true {
            let name = ArchiveName(series: series, device: folder.device.id, time: now, number: number).fileName
            number += 1
            let entry = CatalogueEntry(
                name: name, archiveID: archive.header.archiveID, created: now, series: series,
                mode: archive.header.mode, keys: keys, size: archive.size,
                content: CatalogueEntry.Content(
                    counts: report.contents.counts, groups: report.groups, damaged: report.damaged.count,
                    fingerprint: archive.fingerprint),
                state: .writing, verified: now)
            if try Path.exists(folder.path(of: entry)) || folder.catalogue.entries.contains(where: { $0.name == name })
            {
                continue
            }
            try folder.change { catalogue in
                catalogue.entries.append(entry)
                catalogue.begun = catalogue.begun ?? now
            }
            do throws(FileFailure) {
                try archive.publish(as: name)
            } catch {
                try forget(entry)
                if error.problem == .exists { continue }
                throw error
            }
            do {
                try folder.change(entry) { $0.state = .complete }
            } catch {
                // The archive is there, whole and durable: the next run enters it.
                entryFailure = error
            }
            var complete = entry
            complete.state = .complete
            outcome = .saved(complete)
            return
        }
    }

    private func forget(_ entry: CatalogueEntry) throws(CatalogueFailure) {
        try folder.change { $0.entries.removeAll { $0.archiveID == entry.archiveID } }
    }
}
