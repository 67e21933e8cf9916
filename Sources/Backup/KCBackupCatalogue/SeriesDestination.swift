package import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
package import KCKeychainModel

/// A backup folder as the destination for one keychain's archive.
package final class SeriesDestination: ArchiveDestination {
    /// The result of a backup.
    package enum Outcome: Hashable, Sendable {
        /// The archive was saved under this entry.
        case saved(CatalogueEntry)
        /// Nothing has changed since this archive.
        case unchanged(CatalogueEntry)
    }

    package let workFolder: String
    /// Nil until the archive has been received.
    package private(set) var outcome: Outcome?
    /// Why the saved archive could not be marked complete in the catalogue; the next run does that.
    package private(set) var entryFailure: CatalogueFailure?
    private let folder: BackupFolder
    private let series: String
    private let rules: Rules
    private let given: GivenNames?
    private let state: StoreState?

    /// The user's choices for the run.
    package struct Rules: Hashable, Sendable {
        /// Save no archive if nothing has changed.
        package var skipsUnchanged: Bool
        /// Save the archive even if it has far fewer items than the previous one.
        package var acceptsShrinkage: Bool
        /// Save an incomplete archive even if it has far fewer items, since it is known why.
        package var acceptsMissing: Bool
        /// The number of items that the last good backup had; nil if only the catalogue knows.
        package var itemsBefore: Int?

        /// Creates the choices for a run.
        package init(
            skipsUnchanged: Bool = false, acceptsShrinkage: Bool = false, acceptsMissing: Bool = false,
            itemsBefore: Int? = nil
        ) {
            self.skipsUnchanged = skipsUnchanged
            self.acceptsShrinkage = acceptsShrinkage
            self.acceptsMissing = acceptsMissing
            self.itemsBefore = itemsBefore
        }
    }

    /// Prepares for an archive of a series.
    ///
    /// - Parameters:
    ///   - given: the names that archives for other folders have, which this one must not have; nil if their copies never
    ///     meet.
    ///   - state: the state of the store, taken before it is read.
    package init(
        _ folder: BackupFolder, series: String, rules: Rules = Rules(), given: GivenNames? = nil,
        state: StoreState? = nil
    ) {
        self.folder = folder
        self.series = series
        self.rules = rules
        self.given = given
        self.state = state
        workFolder = folder.path
    }

    /// Confirms the newest archive without making another one, if the store is in the state that it was in then.
    ///
    /// - Returns: false if an archive must be made to know whether anything has changed.
    /// - Throws: `CatalogueFailure`, `FileFailure`.
    package func confirm(now: Timestamp) throws -> Bool {
        guard rules.skipsUnchanged, let state, let pin = folder.pin, let last = folder.catalogue.newest(of: series),
            let content = last.content, content.state == state.digest, content.damaged == 0,
            try fits(last, pin.mode)
        else { return false }
        try confirm(last, now: now)
        return true
    }

    private func confirm(_ last: CatalogueEntry, now: Timestamp, isChecked: Bool = true) throws {
        let state = isChecked ? currentState() : nil
        try folder.change(last) {
            $0.confirmed = now
            // The archive was just read to its last byte.
            $0.foundDamaged = nil
            $0.content?.state = state
        }
        try folder.change { $0.pin = folder.pin }
        outcome = .unchanged(folder.catalogue.newest(of: series) ?? last)
    }

    /// The state that the store was in while it was read; nil if it was changed meanwhile.
    ///
    /// The state is recorded only if every seal was checked: a later run that has the keys must not skip the check.
    private func currentState() -> [UInt8]? {
        guard let state else { return nil }
        do {
            return try state.isCurrent() ? state.digest : nil
        } catch {
            // The state only spares the next run some work; its absence is no reason to drop the archive of this one.
            return nil
        }
    }

    /// True if an archive that is made now would have this mode and these keys, and the file is there and whole.
    private func fits(_ last: CatalogueEntry, _ mode: ArchiveMode) throws -> Bool {
        let path = folder.path(of: last)
        return try last.mode == mode && last.file.keys == folder.pin?.keys ?? [] && Path.exists(path)
            && folder.isWhole(last, at: path)
    }

    /// Compares the archive with the previous one, and saves it under a name with an entry in the catalogue.
    ///
    /// - Throws: `CatalogueFailure` (`shrunk`, `unread`, `file`, `cryptography`), `FileFailure`; the folder then has no
    ///   new archive.
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        if let last = folder.catalogue.newest(of: series) {
            if try isUnchanged(archive, report, since: last) {
                return try confirm(last, now: archive.header.created, isChecked: report.notOpened == 0)
            }
            try requireNoLoss(report, since: last)
        }
        try save(archive, report)
    }

    private func isUnchanged(
        _ archive: FinishedArchive, _ report: CreateReport, since last: CatalogueEntry
    ) throws -> Bool {
        try rules.skipsUnchanged && last.content?.fingerprint == archive.fingerprint
            && last.content?.damaged == report.damaged.count && fits(last, archive.header.mode)
    }

    private func requireNoLoss(_ report: CreateReport, since last: CatalogueEntry) throws(CatalogueFailure) {
        let isComplete = report.damaged.isEmpty
        if rules.acceptsShrinkage || !isComplete && rules.acceptsMissing { return }
        let counts = report.contents.counts
        // Items that an incomplete archive leaves out must not hide a loss from the next complete one.
        let base = isComplete ? folder.catalogue.newestComplete(of: series) ?? last : last
        var found = ShrinkGuard.judge(base, counts: counts, groups: report.groups)
        if found == nil, last.content == nil {
            guard let before = rules.itemsBefore else { throw .unread(path: folder.path(of: last)) }
            found = ShrinkGuard.judge(series, before: before, now: counts.total)
        }
        if var loss = found {
            loss.unread = report.damaged.count
            throw .shrunk(loss)
        }
    }

    /// Enters the archive into the catalogue, and gives it the first name that is free.
    private func save(_ archive: FinishedArchive, _ report: CreateReport) throws {
        let now = archive.header.created
        var number = 1
        while true {
            let archiveName = ArchiveName(series: series, device: folder.device.id, time: now, number: number)
            let name = archiveName.fileName
            number += 1
            let entry = CatalogueEntry(
                name: name, archiveID: archive.header.archiveID, created: now, series: series,
                mode: archive.header.mode, file: CatalogueEntry.File(archive, keys: folder.pin?.keys ?? []),
                content: CatalogueEntry.Content(
                    counts: report.contents.counts, groups: report.groups, damaged: report.damaged.count,
                    fingerprint: archive.fingerprint, state: report.notOpened == 0 ? currentState() : nil),
                state: .writing, verified: now)
            if try Path.exists(folder.path(of: entry))
                || folder.catalogue.entries.contains(where: { $0.name.exact == name.exact })
            {
                continue
            }
            if let given, try !given.take(archiveName) { continue }
            try folder.change { catalogue in
                catalogue.pin = folder.pin
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
                // The archive is saved and durable; the next run completes its entry.
                entryFailure = error
            }
            var complete = entry
            complete.state = .complete
            outcome = .saved(complete)
            return
        }
    }

    private func forget(_ entry: CatalogueEntry) throws(CatalogueFailure) {
        try folder.change { $0.entries.removeAll { $0.id == entry.id } }
    }
}
