internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
package import KCStoreTasks

/// The new keys of archives, and the old ones that open them.
package struct RekeyRequest: Hashable, Sendable {
    package var old: ArchiveKeySources
    package var new: ArchiveKeyRequest
    /// How long to wait for another run that changes a folder.
    package var waiting: Duration

    package init(from old: ArchiveKeySources, to new: ArchiveKeyRequest, waiting: Duration) {
        self.old = old
        self.new = new
        self.waiting = waiting
    }
}

/// Why archives get no new keys.
package enum RekeyProblem: Error, Hashable, Sendable {
    case noNewKeys
}

/// An event while archives get new keys.
package enum RekeyEvent: TaskEvent {
    /// The archive has the new keys, as do so many of the run.
    case rekeyed(path: String, count: Int)
    /// The archive had the new keys before.
    case hasKeys(path: String)
    /// The archive keeps its keys; an earlier run that was broken off may have given it the new ones.
    case failed(path: String, any Error, mayBeDone: Bool)
}

/// Gives archives new keys, each in one step after it was read back.
///
/// ```swift
/// let rekeying = try Rekeying(RekeyRequest(from: old, to: new, waiting: .seconds(5)), in: context)
/// try rekeying.rekey("backups")
/// print(rekeying.done, rekeying.unlisted)
/// ```
package final class Rekeying {
    /// The archives that have the new keys.
    package private(set) var done: [String] = []
    /// How the first archive failed.
    package private(set) var failure: (path: String, error: any Error)?
    /// The archives of folders that are in no catalogue, and keep their keys.
    package private(set) var unlisted: [String] = []
    /// The archives of catalogues that are not there.
    package private(set) var missing: [String] = []
    /// The new keys, as recorded in a catalogue.
    package let names: [String]

    private let request: RekeyRequest
    private let context: TaskContext
    private let opener: ArchiveOpener
    private let maker: ArchiveKeyMaker
    private let device: DeviceKey
    /// Archives of one folder that were encrypted again, and wait for their names.
    private var waiting: [(subject: Subject, replacement: BackupFolder.Replacement)] = []
    // In bytes, which the disk has to hold besides: that of thousands of small archives.
    private static let waitingLimit: UInt64 = 64 << 20

    /// An archive and the backup folder that contains it, if any.
    private struct Subject {
        let path: String
        let folder: BackupFolder?
        let entry: CatalogueEntry?
    }

    private var machine: Machine { context.machine }

    /// Reads the new keys.
    ///
    /// - Throws: `RekeyProblem`, `DeviceKeyFailure`, as `ArchiveKeyRequest.recipients`, and errors of reading secrets.
    package init(_ request: RekeyRequest, in context: TaskContext) throws {
        device = try LocalDevice(context.machine).key()
        if let source = request.old.passphrase {
            try context.secrets.require(WantedSecret(.passphraseOfNewArchive, .passphrase, from: source))
        }
        let given = try request.new.recipients(in: context)
        if given.restoring.isEmpty, request.new.passphrase == nil { throw RekeyProblem.noNewKeys }
        maker = try request.new.maker(given, of: "", in: context)
        names = request.new.names(given)
        opener = ArchiveOpener(request.old, in: context)
        (self.request, self.context) = (request, context)
    }

    /// Rekeys an archive, or all in a folder; each failure is told immediately.
    ///
    /// - Returns: true if a folder has the new keys from now on, which each of its archives has.
    /// - Throws: `FileFailure`, `CatalogueFailure` (also `inTrash`, `unknownFolder`), `InputFailure`, and failures that end a run
    ///   regardless of the archive.
    package func rekey(_ given: String) throws -> Bool {
        let subjects = try subjects(of: given)
        // Later runs use the new keys once every archive has them.
        guard try rekey(subjects), Path.isFolder(machine.resolve(given)), let folder = subjects.first?.folder
        else { return false }
        try folder.pin(keys: names)
        return true
    }

    /// Returns the archive itself, or the encrypted archives in a folder.
    private func subjects(of given: String) throws -> [Subject] {
        let path = machine.resolve(given)
        if Path.isFolder(path) {
            let place = ArchivePlace(given, .folder(path))
            _ = try machine.knownCatalogue(of: given)
            let folder = try machine.backupFolder(given, waitingAtMost: request.waiting)
            unlisted += try folder.catalogue.contents(of: path).unlisted.map { place.path(of: $0) }
            let entries = folder.catalogue.complete
            if !entries.isEmpty, entries.allSatisfy({ $0.mode == .unencrypted }) {
                throw InputFailure(given, ArchiveFailure.notRekeyable(.unencrypted))
            }
            return try entries.filter { $0.mode == .encrypted }.compactMap { entry in
                let subject = Subject(path: folder.path(of: entry), folder: folder, entry: entry)
                if try Path.exists(subject.path) { return subject }
                // The others can have the new keys nevertheless.
                missing.append(subject.path)
                let problem = CatalogueFailure.missing(name: subject.path)
                context.tell(RekeyEvent.failed(path: subject.path, problem, mayBeDone: false))
                return nil
            }
        }
        // A symbolic link is kept; the file that it points to is replaced.
        guard let path = Path.real(path) else { throw FileFailure(given, .notFound) }
        let (folder, name) = Path.split(path)
        let (parent, last) = Path.split(folder)
        func isKnown(in folder: String) throws -> Bool {
            try machine.catalogueIfAny(of: folder)?.entries.contains { $0.name.exact == name.exact } == true
        }
        if last == BackupFolder.trashName, try isKnown(in: parent) { throw CatalogueFailure.inTrash(path: path) }
        if try isKnown(in: folder) {
            let folder = try machine.backupFolder(folder, waitingAtMost: request.waiting)
            // A catalogued archive in the trash stays as it is; a copy of it here is an archive of its own.
            if let known = folder.catalogue.complete.first(where: { $0.name.exact == name.exact }) {
                return [Subject(path: path, folder: folder, entry: known)]
            }
        }
        return [Subject(path: path, folder: nil, entry: nil)]
    }

    /// - Returns: true if none failed.
    private func rekey(_ subjects: [Subject]) throws -> Bool {
        var hasFailed = false
        for subject in subjects {
            do {
                if let replacement = try rekey(subject) {
                    waiting.append((subject, replacement))
                    let size = waiting.reduce(0) { $0 + $1.replacement.size }
                    guard waiting.count >= BackupFolder.replacementCount || size >= Self.waitingLimit else { continue }
                    if try !replace() { hasFailed = true }
                } else {
                    finish(subject)
                }
            } catch {
                let isWrongKey = Self.isOfKey(error)
                if isWrongKey, try hasKeys(subject) {
                    context.tell(RekeyEvent.hasKeys(path: subject.path))
                    continue
                }
                if opener.hasUnreadableKey || Self.isInterruption(error) {
                    _ = try replace()
                    throw InputFailure(subject.path, error)
                }
                hasFailed = true
                fail(subject, error, mayBeDone: isWrongKey && subject.entry != nil)
            }
        }
        return try replace() && !hasFailed
    }

    private static func isOfKey(_ error: any Error) -> Bool {
        switch error {
        case let wrong as WrongSecret: isOfKey(wrong.error)
        case let failure as InputFailure: isOfKey(failure.cause)
        case let failure as ArchiveFailure: failure.isOfKey
        case AgeFailure.wrongPassphrase, AgeFailure.noMatchingIdentity, AgeFailure.identityFileNeedsPassphrase,
            AgeFailure.notForPassphrase:
            true
        default: false
        }
    }

    private static func isInterruption(_ error: any Error) -> Bool {
        switch error {
        case let failure as ArchiveFailure:
            if case .stream(let failure) = failure { failure.kind == .interrupted } else { false }
        case let failure as StreamFailure: failure.kind == .interrupted
        // The signal has interrupted a call, or a wait for an answer.
        case is FileFailure, is TerminalFailure: Interruption.isRequested
        default: false
        }
    }

    /// Gives the archives that wait their names.
    ///
    /// - Returns: true if none failed.
    private func replace() throws -> Bool {
        guard let folder = waiting.first?.subject.folder else { return true }
        let waited = waiting
        waiting = []
        let problems = try folder.replace(waited.map(\.replacement), now: context.now)
        for ((subject, _), problem) in zip(waited, problems) {
            if let problem { fail(subject, problem, mayBeDone: false) } else { finish(subject) }
        }
        return problems.allSatisfy { $0 == nil }
    }

    private func finish(_ subject: Subject) {
        done.append(subject.path)
        context.tell(RekeyEvent.rekeyed(path: subject.path, count: done.count))
    }

    private func fail(_ subject: Subject, _ error: any Error, mayBeDone: Bool) {
        failure = failure ?? (subject.path, error)
        context.tell(RekeyEvent.failed(path: subject.path, error, mayBeDone: mayBeDone))
    }

    /// True if an archive that the old keys cannot open has already been rekeyed; unknown, and so false, for
    /// passphrases.
    private func hasKeys(_ subject: Subject) throws -> Bool {
        guard let entry = subject.entry, entry.file.keys.sorted() == names.sorted(),
            !names.contains(BackupPin.passphrase)
        else { return false }
        do {
            return try entry.fileState(at: subject.path) == .recorded
        } catch {
            throw InputFailure(subject.path, error)
        }
    }

    /// Replaces an archive, or returns what is to replace one of a folder.
    private func rekey(_ subject: Subject) throws -> BackupFolder.Replacement? {
        var archive = PlacedArchive(path: subject.path, source: .file(subject.path))
        archive.isOfFolder = subject.entry != nil
        // An entry says more than the name.
        let found = try opener.find(
            archive, ifRenamed: subject.entry == nil ? .refused : .ignored, mayNeedNoKey: true)
        let file = found.file
        if file.header.mode == .unencrypted { throw ArchiveFailure.notRekeyable(.unencrypted) }
        let (folder, name) = Path.split(subject.path)
        let opened = try opener.prove(found).opened
        let rekeyed = try opened.rekeyed(to: maker.make(of: opened.header.archiveID), by: device, inFolder: folder)
        if let entry = subject.entry {
            return BackupFolder.Replacement(of: entry, ifStill: file.status, by: rekeyed, keys: names)
        }
        try rekeyed.replace(name, ifStill: file.status)
        return nil
    }
}
