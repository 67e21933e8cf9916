internal import KCByteStreams
package import KCKeychainModel

extension BackupFolder {
    /// How long removed archives are kept in the trash at least, in days.
    package static let trashDays = 30

    /// The decision about an archive.
    package struct Fate: Hashable, Sendable {
        package let entry: CatalogueEntry
        package let decision: Decision

        /// Whether an archive is kept, removed or not counted.
        package enum Decision: Hashable, Sendable {
            /// The archive is kept, for these reasons.
            case kept([Retention.Reason])
            case removed
            /// The archive stays where it is, and satisfies no rule, so that it takes the place of no other.
            case notCounted(Exclusion)
        }

        /// True if the archive is to be removed.
        package var isRemoval: Bool { decision == .removed }
    }

    /// The plan for `prune`; only `plan` makes one, after reading the archives to their last byte.
    package struct PrunePlan: Sendable {
        /// The decisions, by series, the newest archive first.
        package let fates: [Fate]

        fileprivate init(_ fates: [Fate]) { self.fates = fates }

        /// Returns the plan without the removal of archives that are to stay for a reason.
        package func keeping(_ reason: Retention.Reason, where stays: (CatalogueEntry) -> Bool) -> PrunePlan {
            PrunePlan(
                fates.map { fate in
                    fate.isRemoval && stays(fate.entry) ? Fate(entry: fate.entry, decision: .kept([reason])) : fate
                })
        }
    }

    /// Decides which archives to remove, separately for each series.
    ///
    /// An archive counts, or is removed, only if it was just read to its last byte and is what the catalogue says: a
    /// damaged or renamed archive, or a copy, must not satisfy a rule in place of another. Archives for which items could
    /// not be read are decided about among themselves, so that none of them takes the place of one that has everything.
    ///
    /// - Throws: `CatalogueFailure` (`noRule`), `ArchiveFailure`, `FileFailure`.
    package func plan(_ retention: Retention, now: Timestamp, calendar: LocalCalendar) throws -> PrunePlan {
        if retention.isEmpty { throw CatalogueFailure.noRule }
        var counting: [CatalogueEntry] = []
        var fates: [Fate] = []
        // A missing file is reported by `status` and `list`.
        for entry in catalogue.complete where try isPresent(entry) {
            if let exclusion = try exclusion(of: entry) {
                fates.append(Fate(entry: entry, decision: .notCounted(exclusion)))
            } else {
                counting.append(entry)
            }
        }
        let (originals, copies) = Self.withoutCopies(counting)
        fates += copies.map { Fate(entry: $0.entry, decision: .notCounted(.copy(of: $0.original))) }
        for series in Set(originals.map(\.series.exact)) {
            for isComplete in [true, false] {
                let entries = originals.filter { $0.series.exact == series && $0.isComplete == isComplete }
                fates += Self.fates(of: entries, retention, now: now, calendar: calendar)
            }
        }
        return PrunePlan(
            fates.sorted {
                ($0.entry.series, $1.entry.created, $1.entry.name) < ($1.entry.series, $0.entry.created, $0.entry.name)
            })
    }

    /// Decides about whole archives of one series, in the order in which they were made.
    private static func fates(
        of entries: [CatalogueEntry], _ retention: Retention, now: Timestamp, calendar: LocalCalendar
    ) -> [Fate] {
        retention.decide(entries.map(\.created), now: now, calendar: calendar).map { decision in
            // By position, not by time: the archive that was made last is never removed.
            let isLast = decision.reasons.isEmpty && decision.index == entries.count - 1
            let reasons = isLast ? [.newest] : decision.reasons
            return Fate(entry: entries[decision.index], decision: reasons.isEmpty ? .removed : .kept(reasons))
        }
    }

    /// Moves the archives that a plan removes to the folder's trash; `bringBack` reverses this.
    ///
    /// - Returns: the number of archives.
    /// - Throws: `CatalogueFailure`, `FileFailure`; archives that were not moved yet stay where they are.
    @discardableResult
    package func discard(_ plan: PrunePlan, now: Timestamp) throws -> Int {
        let entries = plan.fates.filter(\.isRemoval).map(\.entry)
        if entries.isEmpty { return 0 }
        let going = Set(entries.map(\.id))
        try Path.makeFolder("\(path)/\(Self.trashName)")
        // The clock may have been set back since the last removal, and undo begins with the last one.
        let date = lastRemoval.map { max(now, $0.advanced(byMicroseconds: 1)) } ?? now
        try change { catalogue in
            for index in catalogue.entries.indices where going.contains(catalogue.entries[index].id) {
                catalogue.entries[index].state = .trashed
                catalogue.entries[index].trashed = CatalogueEntry.Removal(date: date, now: now)
            }
        }
        for (position, entry) in entries.enumerated() {
            do {
                try move(entry, from: path(of: entry), to: trashPath(of: entry))
            } catch {
                // Archives that are still in the folder must not be recorded as removed.
                let staying = Set(entries[position...].map(\.id))
                try change { catalogue in
                    for index in catalogue.entries.indices where staying.contains(catalogue.entries[index].id) {
                        catalogue.entries[index].state = .complete
                        catalogue.entries[index].trashed = nil
                    }
                }
                throw error
            }
        }
        return entries.count
    }

    /// Moves an archive to a name in the other of the folder and its trash.
    ///
    /// If the archive is there already, whole, this file of it goes: a user has copied it.
    private func move(_ entry: CatalogueEntry, from path: String, to newPath: String) throws {
        do throws(FileFailure) {
            try Path.move(path, to: newPath)
        } catch  where error.problem == .exists {
            guard try Self.isFile(newPath), try isWhole(entry, at: newPath) else { throw error }
            try Path.remove(path)
        }
    }

    /// The result of `bringBack`.
    package struct BroughtBack: Sendable {
        /// The archives that were removed and are there again, also those that an earlier run moved before it was broken
        /// off.
        package let entries: [CatalogueEntry]
        /// The archives that stay in the trash.
        package let stays: [(entry: CatalogueEntry, reason: CatalogueFailure)]
    }

    /// Moves the archives of the last `discard` back into the folder, except those whose file in the trash is another one,
    /// or whose name another file has taken.
    ///
    /// - Throws: `CatalogueFailure` (`nothingInTrash`; `folderGone`; if every archive stays, the reason of the first,
    ///   `notWhole` or `file` with `exists`), `FileFailure`.
    package func bringBack() throws -> BroughtBack {
        guard let last = lastRemoval else { throw CatalogueFailure.nothingInTrash(folder: name) }
        let all = catalogue.entries.filter { removal(of: $0) == last }
        if isGone { throw CatalogueFailure.folderGone(folder: name, archives: all.count) }
        var back: [CatalogueEntry] = []
        var stays: [(entry: CatalogueEntry, reason: CatalogueFailure)] = []
        var moved: [CatalogueEntry] = []
        var unforeseen: (any Error)?
        for entry in all {
            do {
                if entry.state == .trashed {
                    try takeOut(entry)
                    moved.append(entry)
                }
                back.append(entry)
            } catch let failure as CatalogueFailure where failure == .notWhole(name: entry.name) {
                stays.append((entry, failure))
            } catch let failure as FileFailure where failure.problem == .exists {
                stays.append((entry, .file(failure)))
            } catch {
                unforeseen = error
                break
            }
        }
        try enter(moved)
        if let unforeseen { throw unforeseen }
        if back.isEmpty, let first = stays.first { throw first.reason }
        return BroughtBack(entries: back, stays: stays)
    }

    /// When an archive was removed; nil if it was not, or is back.
    private func removal(of entry: CatalogueEntry) -> Timestamp? { entry.trashed?.date ?? returned[entry.id] }

    private var lastRemoval: Timestamp? { catalogue.entries.compactMap { removal(of: $0) }.max() }

    private func takeOut(_ entry: CatalogueEntry) throws {
        guard try holds(entry, at: trashPath(of: entry)) else { throw CatalogueFailure.notWhole(name: entry.name) }
        try move(entry, from: trashPath(of: entry), to: path(of: entry))
    }

    /// Enters archives that were moved back, all at once, since each change writes the whole catalogue.
    ///
    /// The files move first: if the run is killed before this, the next one enters them as complete.
    private func enter(_ moved: [CatalogueEntry]) throws {
        let back = Set(moved.map(\.id))
        do throws(CatalogueFailure) {
            try change { catalogue in
                for index in catalogue.entries.indices where back.contains(catalogue.entries[index].id) {
                    catalogue.entries[index].state = .complete
                    catalogue.entries[index].trashed = nil
                }
            }
        } catch {
            // An undo that failed must not look done.
            for entry in moved { try Path.move(path(of: entry), to: trashPath(of: entry)) }
            throw error
        }
    }

    /// Deletes archives that have been in the trash for `trashDays`, and notes that this run saw the others there.
    ///
    /// A single run with a wrong clock, or several within 20 hours, neither deletes an archive early nor keeps it
    /// forever; see `Removal`.
    ///
    /// - Returns: the number of deleted archives.
    /// - Throws: `CatalogueFailure`, `FileFailure`.
    package func emptyTrash(now: Timestamp) throws -> Int {
        if isGone { return 0 }
        try change { catalogue in
            for index in catalogue.entries.indices where catalogue.entries[index].state == .trashed {
                catalogue.entries[index].trashed?.read(now)
            }
        }
        let limit = Int64(Self.trashDays) * 86_400_000_000
        let old = catalogue.entries.filter { entry in
            entry.state == .trashed && entry.trashed.map { $0.timeInMicroseconds >= limit } == true
        }
        var gone: Set<CatalogueEntry.ID> = []
        for entry in old {
            let path = trashPath(of: entry)
            if try Self.isFile(path) {
                // A file that is not this archive is not deleted, and the entry stays.
                guard try holds(entry, at: path) else { continue }
                try Path.remove(path)
            }
            gone.insert(entry.id)
        }
        try change { $0.entries.removeAll { gone.contains($0.id) } }
        return gone.count
    }
}
