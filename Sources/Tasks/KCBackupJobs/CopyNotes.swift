internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes

// The notes of a run on the copies that it looked for, made and read back.

extension CopyRecord {
    /// Takes over what a look at the remote has shown.
    mutating func note(_ plan: CopyPlan) {
        (gone, lost) = (plan.gone, 0)
        untold += plan.lost.filter { name in !untold.contains { $0.exact == name.exact } }
        isUnlisted = plan.there == nil
        guard let there = plan.there else { return }
        copies.removeAll { plan.expired.contains($0.file) }
        passed.formUnion(plan.expired)
        for index in copies.indices {
            // A copy that was away is read back before it counts again.
            if there[copies[index].file] != nil, !copies[index].isThere || plan.changed.contains(copies[index].file) {
                copies[index].isDoubtful = true
            }
            copies[index].isThere = there[copies[index].file] != nil
        }
    }

    /// Notes why a copy was not made or read back; if another file has its name, the archive stays here until it is copied.
    mutating func note(_ error: any Error, of name: ExactText) {
        switch error as? RemoteFailure {
        case .exists, .changed, .differs:
            for index in copies.indices where copies[index].file == name { copies[index].isDoubtful = true }
        default: break
        }
    }

    /// Notes that a copy was read back, and is what it should be.
    mutating func noteRead(_ copy: Copy, now: Timestamp) {
        for index in copies.indices where copies[index].file == copy.file {
            copies[index].verified = now
            (copies[index].isThere, copies[index].isDoubtful) = (true, false)
        }
    }

    /// Notes that an archive was copied, or was compared with its copy.
    mutating func note(
        _ entry: CatalogueEntry, _ copy: RemoteFolder.Copy, in catalogue: Catalogue, now: Timestamp
    ) {
        guard let name = ArchiveName(entry.name) else { return }
        passed.remove(entry.name.exact)
        let made = Copy(
            entry, named: name, size: copy.size, digest: copy.digest, verified: copy.isReadBack ? now : nil)
        if let index = copies.firstIndex(where: { $0.file == made.file }) {
            copies[index] = made
            return
        }
        // An archive that was made earlier, and could not be copied then, does not take the place of a later one.
        let position = catalogue.entries.firstIndex { $0.name.exact == entry.name.exact } ?? catalogue.entries.endIndex
        let later = catalogue.entries[position...].dropFirst()
        let names = Set(later.map(\.name.exact))
        let isNewest = !later.contains { $0.series.exact == entry.series.exact }
        let last = copies.lastIndex { $0.name.series.exact == name.series.exact }
        let place = copies.firstIndex { names.contains($0.file) } ?? (isNewest ? nil : last)
        copies.insert(made, at: place ?? copies.endIndex)
    }

    /// Forgets the archives that are not in the folder anymore, apart from their copies.
    mutating func keepOnly(_ catalogue: Catalogue) { passed.formIntersection(catalogue.entries.map(\.name.exact)) }

    /// The failure to be told of copies that no rule by age removed, after those that could be were made again.
    func loss() -> JobFailure? {
        guard let last = untold.max(by: { $0.exact < $1.exact }) else { return nil }
        let good = Set(copies.filter(\.isGood).map(\.file))
        return .copiesLost(
            to: to, copies: untold.count, last: last, missing: untold.count { !good.contains($0.exact) })
    }

    /// The newest copies of what is still backed up that are there, as far as is known.
    func found(of catalogue: Catalogue) -> [Copy] {
        let current = catalogue.pin?.subjects
        return newest.filter { series, copy in copy.isGood && (current == nil || current?[series] != nil) }.map(\.value)
    }

    /// Why the copies are no good backup, although nothing has failed: as for backups here, the newest archive of each
    /// keychain must be there, and lack nothing.
    func shortfall(of catalogue: Catalogue) -> JobFailure? {
        let good = Set(copies.filter(\.isGood).map(\.file))
        let series = Set(catalogue.complete.map(\.series.exact)).sorted()
        for series in series where catalogue.pin.map({ $0.subjects[series] != nil }) ?? true {
            guard let last = catalogue.newest(of: series.string) else { continue }
            if !good.contains(last.name.exact) { return .notCopiedYet(archive: last.name) }
            if last.isComplete == false { return .incompleteCopy(archive: last.name) }
        }
        return nil
    }
}
