package import KCAsking
package import KCBackupArchive
internal import KCBackupCatalogue
package import KCBackupEngine
internal import KCByteStreams
package import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
package import KCStoreTasks

/// A request to verify archives.
package struct VerifyRequest: Hashable, Sendable {
    package enum Depth: Hashable, Sendable {
        /// Container, checksums and signature, which need no key.
        case outside
        /// All that the keys open.
        case contents
        /// The same, and a trial restore of it.
        case drill
    }

    package var keys: ArchiveKeySources
    /// Where the passcode comes from that the keychain of an unencrypted archive had.
    package var passcode: SecretSource?
    package var depth: Depth

    package init(keys: ArchiveKeySources = ArchiveKeySources(), passcode: SecretSource? = nil, depth: Depth = .contents)
    {
        self.keys = keys
        self.passcode = passcode
        self.depth = depth
    }
}

/// A verified archive, which is genuine as far as was looked.
package enum VerifiedArchive {
    /// Only the outside was verified; whether that is enough for what was asked.
    case outside(ProvenOutside, isEnough: Bool)
    /// The key opens only the metadata.
    case metadata(ArchiveContents, ProvenArchive, ArchiveOutline)
    /// Everything was read that opens here, and perhaps restored for a trial.
    case contents(VerifyReport, ProvenArchive, ArchiveOutline, DrillReport?)
    /// A trial restore read back other items than the archive has.
    case differs(DrillReport)
    /// Another run has removed the archive in the meantime.
    case gone
}

/// Verifies the archives of a run, and records the results in the catalogues of their folders.
///
/// ```swift
/// let verification = Verification(VerifyRequest(depth: .outside), in: context)
/// for archive in PlacedArchive.all(at: ["backups"], in: context) { print(try verification.verify(archive)) }
/// verification.record()
/// ```
package final class Verification {
    private let request: VerifyRequest
    private let context: TaskContext
    private let opener: ArchiveOpener
    private let passcode = KeptSecret()
    /// Results to record at the end of a run, so that no lock is held while archives are read.
    private var checked: [ExactText: [CheckedArchive]] = [:]
    private var damaged: [ExactText: [CatalogueEntry.ID]] = [:]

    package init(_ request: VerifyRequest, in context: TaskContext) {
        self.request = request
        self.context = context
        opener = ArchiveOpener(request.keys, in: context)
    }

    /// True if a key could not be read, which would be the same for every other archive.
    package var hasUnreadableKey: Bool { opener.hasUnreadableKey }

    private var machine: Machine { context.machine }
    private var isDrill: Bool { request.depth == .drill }

    /// Verifies an archive.
    ///
    /// - Throws: as `ArchiveOpener.find` and `ArchiveOpener.prove`; `CatalogueFailure` (`replaced`, `missing`, `renamed`),
    ///   `RemoteFailure.exists` for a copy of another archive, `RestoreRefusal`, and errors of a trial restore.
    package func verify(_ archive: PlacedArchive) throws -> VerifiedArchive {
        try archive.judged(on: machine) { archive in
            do {
                return try verify(archive, found: find(archive))
            } catch {
                if let known = archive.known, Self.isDamage(error) {
                    damaged[known.folder.exact, default: []].append(known.entry.id)
                }
                throw error
            }
        } ?? .gone
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let failure as ArchiveFailure: failure.isOfDamage
        case ArchivePlaceProblem.empty, ArchivePlaceProblem.foreign, ArchivePlaceProblem.ownFile: true
        default: false
        }
    }

    /// Opens the archive, or what it is a copy of if the remote lists the hash of that.
    private func find(_ archive: PlacedArchive) throws -> FoundArchive {
        // The entry in a catalogue, with which a genuine archive is compared, says more than the name.
        let policy: RenamedPolicy = archive.known == nil ? .refused : .ignored
        guard let original = archive.original else {
            return try opener.find(archive, ifRenamed: policy, mayNeedNoKey: archive.isOfFolder)
        }
        if original.isListedAlike {
            let file = try ArchiveFile(path: machine.resolve(original.path))
            let named = try NamedArchive(file, named: archive.name, at: archive.path)
            return FoundArchive(archive: named, path: archive.path)
        }
        let copy = try opener.find(archive, ifRenamed: policy, mayNeedNoKey: true)
        let file: ArchiveFile
        do {
            file = try ArchiveFile(path: machine.resolve(original.path))
        } catch ArchiveFailure.file(let failure) where failure.problem == .notFound {
            // A run of 'prune' has removed it since the folder was read.
            return copy
        } catch {
            // The copy may then be the only good one.
            throw ArchivePlaceProblem.originalUnreadable(path: original.path, error, copy: archive.path)
        }
        if try copy.file.checksum() == file.checksum() { return copy }
        guard let copied = archive.copy else { throw RemoteFailure.unusableName(archive.path) }
        throw RemoteFailure.exists(copied.folder.location.appending(archive.name))
    }

    private func verify(_ archive: PlacedArchive, found: FoundArchive) throws -> VerifiedArchive {
        let isKeyed = found.file.header.mode == .unencrypted || request.keys.isGiven
        let opens = archive.isOfFolder && !isDrill ? isKeyed : opener.canOpen(found.file) || isDrill
        guard opens, request.depth != .outside else {
            // When a folder is verified without a key, checking the outside suffices.
            return try verifyOutside(archive, found, isEnough: request.depth == .outside || archive.isOfFolder)
        }
        let outline = try ArchiveOutline(found.file)
        let proven: ProvenArchive
        do {
            proven = try opener.prove(found)
        } catch let failure as ArchiveFailure where archive.isOfFolder && !isDrill && failure.isOfKey {
            // A key need not open all archives in a folder; verify what needs no key.
            context.tell(ArchiveEvent.doubtful(InputFailure(archive.path, failure)))
            return try verifyOutside(archive, found, isEnough: false)
        }
        if isDrill {
            // A trial restore reseals every secret.
            if request.passcode == nil { context.borrowKeys(for: proven) }
            try openSecrets(of: proven, archive, isNeeded: true)
        } else if !archive.isOfFolder || proven.stored?.hasPasscode == true {
            if !archive.isOfFolder, request.passcode == nil { context.borrowKeys(for: proven) }
            try openSecrets(of: proven, archive, isNeeded: false)
        }
        return try verify(archive, proven, outline)
    }

    private func openSecrets(of proven: ProvenArchive, _ archive: PlacedArchive, isNeeded: Bool) throws {
        try context.openSecrets(
            of: proven, passcode: request.passcode, isNeeded: isNeeded, at: archive.path, keptIn: passcode)
    }

    /// Verifies everything that needs no key.
    private func verifyOutside(
        _ archive: PlacedArchive, _ found: FoundArchive, isEnough: Bool
    ) throws -> VerifiedArchive {
        let proven = try found.archive.proveOutside(local: LocalDevice(machine).identity())
        try compare(archive, proven.outline, proven.origin, nil, isDrilled: false) {
            preconditionFailure("nothing was read")
        }
        return .outside(proven, isEnough: isEnough)
    }

    private func verify(
        _ archive: PlacedArchive, _ proven: ProvenArchive, _ outline: ArchiveOutline
    ) throws -> VerifiedArchive {
        let readsAll = proven.opened.opensSecrets || isDrill
        let progress = context.follow(.verifyingItems, reading: proven.opened, 1, metadata: readsAll ? 0 : 1)
        defer { progress.finish() }
        guard readsAll else {
            let contents = try proven.survey(step: progress.step) { _ in }.contents
            try compare(archive, outline, proven.origin, nil, isDrilled: false) { try proven.opened.source() }
            return .metadata(contents, proven, outline)
        }
        let report = try proven.verify(takesFingerprint: archive.known != nil) { progress.step() }
        progress.finish()
        if !report.broken.isEmpty { context.tell(VerifyEvent.broken(report)) }
        let drill = isDrill ? try drilled(proven) : nil
        if let drill {
            context.tell(VerifyEvent.drilled(drill))
            guard drill.isSame else { return .differs(drill) }
        }
        try compare(archive, outline, proven.origin, report, isDrilled: drill?.failing.isEmpty == true) {
            try proven.opened.source()
        }
        return .contents(report, proven, outline, drill)
    }

    /// Restores an archive into a temporary keychain, and compares the two.
    ///
    /// - Throws: `RestoreRefusal`, `ArchiveFailure`, and the errors of creating the keychain.
    private func drilled(_ proven: ProvenArchive) throws -> DrillReport {
        let drill = try DrillBackup(proven)
        let scratch = try ScratchKeychain(in: machine.dataFolder, now: context.now)
        let progress = context.follow(.restoringForTrial, reading: proven.opened, 3)
        defer { progress.finish() }
        return try withExtendedLifetime(scratch) {
            try drill.run(into: scratch.make(), reopened: scratch.open) { progress.step() }
        }
    }

    /// Compares a genuine archive with its entry in the catalogue, if it has one.
    ///
    /// - Parameters:
    ///   - report: what was found in it; nil if it was not read.
    ///   - source: reads what the archive was made from; called if the catalogue does not know it.
    /// - Throws: `CatalogueFailure.replaced`, and what `source` throws.
    private func compare(
        _ archive: PlacedArchive, _ outline: ArchiveOutline, _ origin: Origin, _ report: VerifyReport?,
        isDrilled: Bool, source: () throws -> ArchiveSource
    ) throws {
        guard let known = archive.known else { return }
        checked[known.folder.exact, default: []].append(
            try known.entry.checked(outline, origin, report, isDrilled: isDrilled, at: archive.path, source: source))
    }

    /// Records all results.
    ///
    /// The archives are what they are anyway, so a failure is only told, and a signal does not wait for another run.
    package func record() {
        if Interruption.isRequested { return }
        for folder in Set(checked.keys).union(damaged.keys).sorted() {
            do {
                let opened = try machine.backupFolder(folder.string, waitingAtMost: FileLock.defaultWait)
                try opened.note(checked[folder] ?? [], now: context.now)
                try opened.note(damaged: damaged[folder] ?? [], now: context.now)
            } catch {
                context.tell(VerifyEvent.notRecorded(InputFailure(folder.string, error)))
            }
        }
    }
}

/// An event while archives are verified.
package enum VerifyEvent: TaskEvent {
    /// The number of archives that need not be fetched, since the remote lists the hashes of those here.
    case listedAlike(Int)
    /// Items were damaged before the archive was made.
    case broken(VerifyReport)
    /// A trial restore has ended.
    case drilled(DrillReport)
    /// The results are not noted in a catalogue.
    case notRecorded(any Error)
}

extension ArchivePlace {
    /// The archives of a folder of a remote, to be compared with those of a folder here.
    ///
    /// - Parameter sample: chooses those that are read in any case; nil for those whose hashes are not listed.
    /// - Throws: `BackupFolderProblem.isFile` for another place, `CatalogueFailure.noArchives`, `RemoteFailure`, `FileFailure`.
    package func archives(against folder: String, _ sample: VerifySample?, in context: TaskContext) throws
        -> [PlacedArchive]
    {
        guard case .remote(let location) = kind else { throw BackupFolderProblem.isFile(name) }
        var archives = try archives(ofRemote: location, against: folder, on: context.machine)
        if let sample {
            let chosen = Set(sample.choose(archives, now: context.now).map(\.path.exact))
            for index in archives.indices where chosen.contains(archives[index].path.exact) {
                archives[index].original?.isListedAlike = false
            }
            archives.removeAll {
                $0.problem == nil && $0.original?.isListedAlike != true && !chosen.contains($0.path.exact)
            }
        }
        let count = archives.count { $0.original?.isListedAlike == true }
        if count > 0 { context.tell(VerifyEvent.listedAlike(count)) }
        return archives
    }
}

/// The newest archive of each keychain, and a random share of the others.
package struct VerifySample: Hashable, Sendable {
    /// Above 0, and at most 100.
    package let percent: Double

    package init(percent: Double) { self.percent = percent }

    /// Chooses among the archives of folders, at least one of those that are not the newest; others are all chosen.
    package func choose(_ archives: [PlacedArchive], now: Timestamp) -> [PlacedArchive] {
        var newest: [ExactText: (name: ArchiveName, index: Int)] = [:]
        var others: [Int] = []
        for (index, archive) in archives.enumerated() where archive.isOfFolder && archive.problem == nil {
            let (folder, file) = Path.split(archive.path)
            guard let name = ArchiveName(file) else {
                others.append(index)
                continue
            }
            let series = "\(folder)/\(name.series)-\(name.device)".exact
            if let last = newest[series], !last.name.precedes(name, now: now) {
                others.append(index)
            } else {
                if let last = newest[series] { others.append(last.index) }
                newest[series] = (name, index)
            }
        }
        let count = Int((Double(others.count) * percent / 100).rounded(.up))
        let left = Set(others.shuffled().dropFirst(count))
        return archives.indices.filter { !left.contains($0) }.map { archives[$0] }
    }
}
