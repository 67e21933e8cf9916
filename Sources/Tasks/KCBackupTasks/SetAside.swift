internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCStoreTasks

// Which of several stores are backed up: one that is set aside fails, and does not keep the others from their archives.

extension FolderBackup {
    /// Fails each store whose archives would have the name of those of another one, which stays.
    ///
    /// A keychain can have the name that the archives of the home or of the desktop keyring begin with. The one that the
    /// folder has archives of stays, or else the first.
    func setAsideNamesakes(
        _ parts: inout [Part], _ results: inout [(name: String, result: Result)], in folder: BackupFolder
    ) {
        let known = folder.catalogue.pin?.subjects ?? [:]
        var staying: [Part] = []
        for part in parts {
            guard let index = staying.firstIndex(where: { $0.series.exact == part.series.exact }) else {
                staying.append(part)
                continue
            }
            var (stays, goes) = (staying[index], part)
            if known[part.series.exact]?.exact == part.identity.exact { swap(&stays, &goes) }
            staying[index] = stays
            // The others cannot have another name.
            let keychain = (goes.store.kind == .keychain ? goes : stays).store.name
            let problem = SetAsideProblem.namesake(of: stays.store.name, keychain: keychain)
            results.append((goes.store.name, failed(problem, goes.store.name)))
        }
        parts = staying
    }

    /// When all keychains are backed up, fails only those that were replaced or are missing, unless the user allows it.
    func setAsideReplaced(
        _ parts: inout [Part], _ results: inout [(name: String, result: Result)], in folder: BackupFolder
    ) throws {
        guard let known = folder.catalogue.subjectsOfAll else { return }
        // A keychain whose backup never succeeded has none to lose.
        let backedUp = Set(folder.catalogue.entries.map(\.series.exact))
        for series in known.keys where !backedUp.contains(series) {
            try folder.forget(series: series.string)
        }
        let subjects = known.filter { backedUp.contains($0.key) }
        var found = Set(
            try results.map { ArchiveName.series(of: try StoreChoice.prefixed($0.name)?.stem ?? $0.name).exact })
        let moved = try context.machine.moved(parts.subjects, since: subjects)
        var staying: [Part] = []
        for part in parts {
            let series = part.series.exact
            found.insert(series)
            let difference = BackupPin.difference(of: part.identity, in: series, from: subjects[series])
            if let difference, !moved.contains(series), !accepted.mayChange {
                let failure = CatalogueFailure.switches(folder: folder.name, difference)
                results.append((part.store.name, failed(failure, part.store.name)))
            } else {
                staying.append(part)
            }
        }
        parts = staying
        for series in subjects.keys.sorted() where !found.contains(series) {
            if accepted.acceptsShrinkage || accepted.mayChange {
                try folder.forget(series: series.string)
            } else {
                let failure = CatalogueFailure.vanished(series: series.string)
                results.append((series.string, failed(failure, series.string)))
            }
        }
    }
}

extension FolderBackup {
    private func failed(_ error: any Error, _ store: String) -> Result {
        .failed(FolderBackupFailure(cause: error, store: store, trash: nil))
    }
}

extension [FolderBackup.Part] {
    /// The subject of each series, of which each has one.
    var subjects: [ExactText: String] { Dictionary(uniqueKeysWithValues: map { ($0.series.exact, $0.identity) }) }
}
