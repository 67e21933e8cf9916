internal import KCAsking
internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
package import KCStoreTasks

// A job and the backups in its folder: whether the next run would go on with them.

extension BackupRequest {
    /// How these backups differ from those in a folder; nil if they do not.
    ///
    /// - Throws: `ArchiveKeyProblem`, `BackupFolderProblem`, `CatalogueFailure`, and errors of reading recipients.
    package func difference(in folder: String, _ context: TaskContext) throws -> BackupPin.Difference? {
        let run = try pin(of: [:], in: context)
        try context.machine.requireOutsideOfData(folder)
        return try context.machine.catalogueIfAny(of: folder)?.pin?.difference(from: run)
    }

    /// Refuses a folder whose backups are others than the next run would make, as that run does.
    ///
    /// - Throws: `CatalogueFailure` (`switches`, `vanished`), and as `difference`.
    package func requireSameUse(of folder: String, in context: TaskContext) throws {
        guard let known = try context.machine.catalogueIfAny(of: folder) else { return }
        let subjects = try subjects(in: context)
        let moved = try context.machine.moved(subjects, since: known.pin?.subjects)
        var run = try pin(of: subjects, in: context)
        run.moved = moved
        if let difference = known.pin?.difference(from: run) {
            throw CatalogueFailure.switches(folder: folder, difference)
        }
        guard isOfSeveral, let expected = known.subjectsOfAll else { return }
        for (series, subject) in subjects.sorted(by: { $0.key < $1.key }) where !moved.contains(series) {
            if let difference = BackupPin.difference(of: subject, in: series, from: expected[series]) {
                throw CatalogueFailure.switches(folder: folder, difference)
            }
        }
        // With the keychains of a home, there are other things, which may come and go.
        guard stores == .everyKeychain else { return }
        let names = try LocalKeychain.names(in: context.machine.dataFolder)
        let found = Set(
            try names.map { ArchiveName.series(of: try LocalKeychain($0, in: context.machine).stem).exact })
        for series in expected.keys.sorted() where !found.contains(series) {
            if known.complete.contains(where: { $0.series.exact == series }) {
                throw CatalogueFailure.vanished(series: series.string)
            }
        }
    }

    private func pin(of subjects: [ExactText: String], in context: TaskContext) throws -> BackupPin {
        var keys: [String] = []
        var kits: Set<ExactText> = []
        if let request = self.keys {
            let given = try request.recipients(in: context)
            if given.restoring.isEmpty, request.passphrase == nil { throw ArchiveKeyProblem.noRestoreKey(.passphrase) }
            keys = request.names(given)
            kits = given.knownKits
        }
        return BackupPin(
            isOfAll: isOfSeveral, mode: isUnencrypted ? .unencrypted : .encrypted, keys: keys, kits: kits,
            subjects: subjects)
    }

    /// The keychains that a run backs up, as subjects of their series, without those that do not open.
    private func subjects(in context: TaskContext) throws -> [ExactText: String] {
        let names: [String?] =
            isOfSeveral ? try LocalKeychain.names(in: context.machine.dataFolder) : [storeName]
        var subjects: [ExactText: String] = [:]
        for name in names {
            guard let local = try StoreChoice.named(name, in: context.machine) as? LocalKeychain else { continue }
            do {
                let subject = local.subject(try local.id(in: context.machine), in: context.machine)
                subjects[ArchiveName.series(of: local.stem).exact] = subject.text
            } catch {
                // The check of the keychains reports it.
            }
        }
        return subjects
    }
}
