internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes

// The notes of a run on the copies that it looked for, made and read back.

extension CopyRecord {
    /// Takes over what a look at the remote has shown.
    mutating func note(_ plan: CopyPlan) {
        (gone, lost) = (plan.gone, 0)
        doubtful = plan.doubtful + plan.unseen
        copied.subtract((plan.gone + plan.goneBefore).map(\.exact))
        passed.formUnion(Set(plan.goneBefore.map(\.exact)).subtracting(plan.lost.map(\.exact)))
    }

    /// Notes that none of the copies is there; no rule removes the archives of the newest here.
    mutating func noteLoss(of copies: Int) {
        lost = copies
        copied.subtract(newest.values.map(\.name.fileName.exact))
    }

    /// Notes why a copy was not made or read back; if another file has its name, the archive stays here until it is copied.
    mutating func note(_ error: any Error, of name: ExactText) {
        switch error as? RemoteFailure {
        case .exists, .changed: copied.remove(name)
        default: break
        }
    }

    /// Notes that a newest copy was read back.
    mutating func note(_ copy: Newest, now: Timestamp) {
        let series = copy.name.series.exact
        if newest[series]?.archiveID == copy.archiveID { newest[series]?.verified = now }
        noteWhole(copy.name.fileName.exact)
    }

    /// Notes that a copy is what it should be.
    private mutating func noteWhole(_ name: ExactText) {
        copied.insert(name)
        doubtful.removeAll { $0.name.fileName.exact == name }
    }

    /// Notes that an archive was copied, or was compared with its copy.
    mutating func note(
        _ entry: CatalogueEntry, _ copy: RemoteFolder.Copy, in catalogue: Catalogue, now: Timestamp
    ) {
        guard let name = ArchiveName(entry.name) else { return }
        noteWhole(entry.name.exact)
        passed.remove(entry.name.exact)
        let series = entry.series.exact
        func position(_ name: String) -> Int? { catalogue.entries.firstIndex { $0.name.exact == name.exact } }
        // An archive that was made earlier, and could not be copied then, does not take the place of a later one.
        if let known = newest[series].flatMap({ position($0.name.fileName) }), known > position(entry.name) ?? 0 {
            return
        }
        newest[series] = Newest(entry, named: name, size: copy.size, digest: copy.digest, verified: now)
    }

    /// Forgets the archives that are not in the folder anymore.
    mutating func keepOnly(_ catalogue: Catalogue) {
        let known = Set(catalogue.entries.map(\.name.exact))
        copied.formIntersection(known)
        passed.formIntersection(known)
        for name in gone where !known.contains(name.exact) {
            // The loss is told once; the next run looks for the newest that is there.
            newest = newest.filter { $0.value.name.fileName.exact != name.exact }
        }
    }

    /// Why the copies are no good backup, although nothing has failed: as for backups here, the newest archive of each
    /// keychain must be there, and lack nothing.
    func shortfall(of catalogue: Catalogue) -> JobFailure? {
        let series = Set(catalogue.complete.map(\.series.exact)).sorted()
        for series in series where catalogue.pin.map({ $0.subjects[series] != nil }) ?? true {
            guard let last = catalogue.newest(of: series.string) else { continue }
            if !copied.contains(last.name.exact) { return .notCopiedYet(archive: last.name) }
            if last.isComplete == false { return .incompleteCopy(archive: last.name) }
        }
        return nil
    }
}
