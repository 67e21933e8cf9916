internal import KCByteStreams
package import KCKeychainModel

extension BackupFolder {
    /// How long removed archives are kept in the trash, in days.
    package static let trashDays = 30

    /// The decision about an archive.
    package struct Fate: Hashable, Sendable {
        package let entry: CatalogueEntry
        /// Why it is kept; empty if it is to be removed.
        package let reasons: [Retention.Reason]
    }

    /// Decides which archives to remove, separately for each series.
    ///
    /// Only archives count whose entries are complete and whose files are present; no others are removed. Archives for
    /// which items could not be read are decided about among themselves, so that none of them takes the place of one
    /// that has everything.
    ///
    /// - Throws: `CatalogueFailure` (`noRule`), `FileFailure`.
    package func plan(_ retention: Retention, now: Timestamp, calendar: LocalCalendar) throws -> [Fate] {
        if retention.isEmpty { throw CatalogueFailure.noRule }
        let counting = try catalogue.complete.filter { try isPresent($0) }
        return try Set(counting.map(\.series.exact)).sorted().flatMap { series in
            let decided = try [true, false].flatMap { isComplete in
                let entries = counting.filter { $0.series.exact == series && ($0.isComplete != false) == isComplete }
                return try fates(of: entries, retention, now: now, calendar: calendar)
            }
            return decided.sorted { $0.entry.created > $1.entry.created }
        }
    }

    /// Decides about archives of one series.
    ///
    /// A damaged archive must not satisfy a rule, so every archive that is kept is read to its last byte.
    private func fates(
        of entries: [CatalogueEntry], _ retention: Retention, now: Timestamp, calendar: LocalCalendar
    ) throws -> [Fate] {
        var counting = entries
        var whole: Set<[UInt8]> = []
        while true {
            let decisions = retention.decide(counting.map(\.created), now: now, calendar: calendar)
            let fates = decisions.map { decision in
                // By position, not by time: the archive that was made last is never removed.
                let isLast = decision.reasons.isEmpty && decision.index == counting.count - 1
                return Fate(entry: counting[decision.index], reasons: isLast ? [.newest] : decision.reasons)
            }
            var rotten: Set<[UInt8]> = []
            for fate in fates where !fate.reasons.isEmpty && !whole.contains(fate.entry.archiveID) {
                if try isWhole(fate.entry) {
                    whole.insert(fate.entry.archiveID)
                } else {
                    rotten.insert(fate.entry.archiveID)
                }
            }
            if rotten.isEmpty { return fates }
            counting.removeAll { rotten.contains($0.archiveID) }
        }
    }

    /// Moves archives to the folder's trash; `bringBack` reverses this.
    ///
    /// - Throws: `CatalogueFailure`, `FileFailure`; archives that were not moved yet stay where they are.
    package func discard(_ entries: [CatalogueEntry], now: Timestamp) throws {
        if entries.isEmpty { return }
        let going = Set(entries.map(\.archiveID))
        try Path.makeFolder("\(path)/\(Self.trashName)")
        try change { catalogue in
            for index in catalogue.entries.indices where going.contains(catalogue.entries[index].archiveID) {
                catalogue.entries[index].state = .trashed
                catalogue.entries[index].trashed = now
            }
        }
        for (position, entry) in entries.enumerated() {
            do throws(FileFailure) {
                try Path.move(path(of: entry), to: trashPath(of: entry))
            } catch {
                // Archives that are still in the folder must not be recorded as removed.
                let staying = Set(entries[position...].map(\.archiveID))
                try change { catalogue in
                    for index in catalogue.entries.indices where staying.contains(catalogue.entries[index].archiveID) {
                        catalogue.entries[index].state = .complete
                        catalogue.entries[index].trashed = nil
                    }
                }
                throw error
            }
        }
    }

    /// Moves the archives of the last `discard` back into the folder.
    ///
    /// - Returns: the archives that were moved.
    /// - Throws: `CatalogueFailure` (`nothingInTrash`), `FileFailure`.
    package func bringBack() throws -> [CatalogueEntry] {
        let trashed = catalogue.entries.filter { $0.state == .trashed }
        guard let last = trashed.compactMap(\.trashed).max() else {
            throw CatalogueFailure.nothingInTrash(folder: name)
        }
        let entries = trashed.filter { $0.trashed == last }
        for entry in entries {
            // Move the file first: if the run is killed here, the next run moves it back to the trash.
            try Path.move(trashPath(of: entry), to: path(of: entry))
            try change(entry) {
                $0.state = .complete
                $0.trashed = nil
            }
        }
        return entries
    }

    /// Deletes archives that have been in the trash for more than `trashDays`.
    ///
    /// - Returns: the number of deleted archives.
    /// - Throws: `CatalogueFailure`, `FileFailure`.
    package func emptyTrash(now: Timestamp) throws -> Int {
        let limit = now.advanced(byMicroseconds: -Int64(Self.trashDays) * 86_400_000_000)
        let old = catalogue.entries.filter { $0.state == .trashed && ($0.trashed ?? now) < limit }
        var gone: Set<[UInt8]> = []
        for entry in old {
            let path = trashPath(of: entry)
            if try Self.size(of: path) != nil {
                // A file that is not this archive is not deleted, and the entry stays.
                guard try holds(entry, at: path) else { continue }
                try Path.remove(path)
            }
            gone.insert(entry.archiveID)
        }
        try change { $0.entries.removeAll { gone.contains($0.archiveID) } }
        return gone.count
    }
}
