internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// An archive that `verify` checks.
struct VerifySubject {
    /// The archive's name in messages.
    let path: String
    /// The archive's folder and its entry in that folder's catalogue; nil if it is in no catalogue.
    var known: (folder: String, entry: CatalogueEntry)?
    /// True if the folder was named, not the archive itself.
    var isOfFolder = false
    var isOnRemote = false
    /// The archive of this name here, of which that on a remote is a copy.
    var original: String?
    /// True if the remote lists the hash of the original, which is then read in its place.
    var isListedAlike = false
    /// Why there is no archive to check.
    var problem: (any Error)?

    /// Returns the subjects for the arguments: files, and all archives in folders.
    static func all(_ arguments: [String], in session: Session) -> [VerifySubject] {
        let catalogues = KnownCatalogues(session)
        return arguments.flatMap { argument in
            if InputFile.descriptor(argument) != nil { return [VerifySubject(path: argument)] }
            if let location = RemoteLocation(argument) { return ofRemote(argument, location, session) }
            if Path.isFolder(session.machine.resolve(argument)) { return ofFolder(argument, catalogues, session) }
            return [ofFile(argument, catalogues, session)]
        }
    }

    /// Returns a single archive; its entry in a catalogue is used if there is one, but not required.
    private static func ofFile(
        _ argument: String, _ catalogues: KnownCatalogues, _ session: Session
    ) -> VerifySubject {
        var subject = VerifySubject(path: argument)
        do {
            let path = session.machine.resolve(argument)
            if !(try Path.exists(path)), let known = try catalogues[argument], !known.complete.isEmpty {
                subject.problem = CatalogueFailure.folderGone(folder: argument, archives: known.complete.count)
            } else if let real = Path.real(path) {
                let (folder, name) = Path.split(real)
                subject.known = try catalogues[folder]?.entries.first {
                    $0.name.exact == name.exact && $0.state != .trashed
                }
                .map { (folder, $0) }
            }
        } catch {
            session.warn(session.failure(of: error).explanation.message)
        }
        return subject
    }

    /// Returns an archive of a remote, or all in a folder of it.
    private static func ofRemote(
        _ argument: String, _ location: RemoteLocation, _ session: Session
    ) -> [VerifySubject] {
        do {
            _ = try session.machine.remote(argument)
            let archives = try session.machine.doubtingKeychain(location) {
                try RemoteArchives(location, session.machine.mover(of: location))
            }
            return archives.all.map {
                VerifySubject(
                    path: archives.folder.location.appending($0.name).text, isOfFolder: archives.only == nil,
                    isOnRemote: true)
            }
        } catch {
            return [VerifySubject(path: argument, problem: error)]
        }
    }

    private static func ofFolder(
        _ folder: String, _ catalogues: KnownCatalogues, _ session: Session
    ) -> [VerifySubject] {
        func path(_ name: String) -> String { folder.exact.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }
        let place = session.machine.resolve(folder)
        var subjects: [VerifySubject] = []
        do {
            var unlisted: [String]
            do {
                let catalogue = try catalogues[folder]
                let contents = try catalogue?.contents(of: place)
                let listed = contents?.listed ?? []
                if !listed.isEmpty, try !listed.contains(where: { try Path.exists("\(place)/\($0.name)") }) {
                    throw CatalogueFailure.folderGone(folder: folder, archives: listed.count)
                }
                subjects = listed.map {
                    VerifySubject(path: path($0.name), known: (folder, $0), isOfFolder: true)
                }
                unlisted = try contents?.unlisted ?? Catalogue.archiveNames(in: place).sorted().map(\.string)
            } catch let failure as CatalogueFailure {
                // The archives can be checked without the catalogue.
                subjects = [VerifySubject(path: folder, isOfFolder: true, problem: failure)]
                unlisted = try Catalogue.archiveNames(in: place).sorted().map(\.string)
            }
            subjects += unlisted.map { VerifySubject(path: path($0), isOfFolder: true) }
            var unreadable: [String] = []
            _ = try Catalogue.archiveNames(in: place, unreadable: &unreadable)
            subjects += unreadable.map {
                VerifySubject(path: path($0), isOfFolder: true, problem: Refusal.unreadableName(path: path($0)))
            }
            if subjects.isEmpty { throw CatalogueFailure.noArchives(folder: folder) }
            return subjects
        } catch {
            return [VerifySubject(path: folder, isOfFolder: true, problem: error)]
        }
    }

    /// Opens the file, without verifying more than its name yet.
    ///
    /// - Throws: `CatalogueFailure` (`missing`, `renamed`), and as `ArchiveOptions.open`.
    func open(_ options: ArchiveOptions, in session: Session) throws -> NamedArchive {
        if let problem { throw problem }
        if let original { return try open(options, copyOf: original, in: session) }
        guard isOfFolder, !isOnRemote else {
            return try options.open(path, ifRenamed: ifRenamed, in: session).archive
        }
        let place = session.machine.resolve(path)
        if known != nil, try !Path.exists(place) { throw CatalogueFailure.missing(name: path) }
        // Not `options.open`, which would wait indefinitely for a pipe with this name.
        return try named(ArchiveFile(path: place))
    }

    private func named(_ file: ArchiveFile) throws -> NamedArchive {
        try NamedArchive(file, named: FoundArchive.name(of: path), at: path, ifRenamed: ifRenamed)
    }

    /// The entry in a catalogue, with which a genuine archive is compared, says more than the name.
    private func ifRenamed(_ failure: CatalogueFailure) throws { if known == nil { throw failure } }

    /// Opens a copy, or what it is a copy of if the remote lists its hash.
    ///
    /// - Throws: `RemoteFailure.exists` if another archive has its name, and as `ArchiveOptions.open`.
    private func open(_ options: ArchiveOptions, copyOf original: String, in session: Session) throws -> NamedArchive {
        if isListedAlike { return try named(ArchiveFile(path: session.machine.resolve(original))) }
        let copy = try options.open(path, ifRenamed: ifRenamed, in: session).archive
        let file: ArchiveFile
        do {
            file = try ArchiveFile(path: session.machine.resolve(original))
        } catch ArchiveFailure.file(let failure) where failure.problem == .notFound {
            // A run of 'prune' has removed it since the folder was read.
            return copy
        } catch {
            // The copy may then be the only good one.
            throw Refusal.originalUnreadable(original, session.failure(of: error).explanation.message, copy: path)
        }
        if try copy.file.checksum() == file.checksum() { return copy }
        guard let location = RemoteLocation(path) else { throw RemoteFailure.unusableName(path) }
        throw RemoteFailure.exists(location)
    }

    /// Calls `look`, again with the current entry if that fails since another run has changed the file and the catalogue.
    ///
    /// - Returns: nil if another run has removed the archive in the meantime.
    /// - Throws: what `look` throws.
    func judged<Found>(in session: Session, _ look: (VerifySubject) throws -> Found) throws -> Found? {
        guard let known else { return try look(self) }
        return try session.machine.judging(known.entry, of: known.folder) { entry in
            var subject = self
            subject.known = (known.folder, entry)
            return try look(subject)
        }
    }

    /// Compares a genuine archive with its entry in the catalogue.
    ///
    /// - Parameters:
    ///   - report: what was found in it; nil if it was not read.
    ///   - source: reads what the archive was made from; called if the catalogue does not know it.
    /// - Returns: the checked archive, if the catalogue knows it.
    /// - Throws: `CatalogueFailure.replaced`, and what `source` throws.
    func compared(
        with outline: ArchiveOutline, _ origin: Origin, _ report: VerifyReport?, isDrilled: Bool,
        source: () throws -> ArchiveSource
    ) throws -> CheckedArchive? {
        try known?.entry.checked(outline, origin, report, isDrilled: isDrilled, at: path, source: source)
    }
}

/// Reads each folder's catalogue only once.
private final class KnownCatalogues {
    private let session: Session
    private var found: [ExactText: Catalogue?] = [:]

    init(_ session: Session) { self.session = session }

    subscript(folder: String) -> Catalogue? {
        get throws {
            if let known = found[folder.exact] { return known }
            let catalogue = try session.machine.catalogueIfAny(of: folder)
            found[folder.exact] = .some(catalogue)
            return catalogue
        }
    }
}

/// Results to record in catalogues at the end of a run, so that no lock is held while archives are read.
final class CheckedFolders {
    private var archives: [ExactText: [CheckedArchive]] = [:]
    private var damaged: [ExactText: [CatalogueEntry.ID]] = [:]

    /// Adds an archive that matches its entry in the catalogue.
    func append(_ archive: CheckedArchive, in folder: String) {
        archives[folder.exact, default: []].append(archive)
    }

    /// Runs `body`, which reads an archive, and remembers if it is damaged.
    func noting<Result>(_ subject: VerifySubject, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as ArchiveFailure {
            if let known = subject.known, explainArchive(failure, subject.path).status == .damaged {
                damaged[known.folder.exact, default: []].append(known.entry.id)
            }
            throw failure
        }
    }

    /// Records all results; failing to record them is only a warning, since the archives are what they are anyway.
    func note(in session: Session) {
        // After a signal, do not wait for another run.
        if Interruption.isRequested { return }
        let path = session.subject.file
        for folder in Set(archives.keys).union(damaged.keys).sorted() {
            do {
                let opened = try session.backupFolder(folder.string, waitingAtMost: FileLock.defaultWait)
                try opened.note(archives[folder] ?? [], now: session.now)
                try opened.note(damaged: damaged[folder] ?? [], now: session.now)
            } catch {
                session.warn(
                    "what was found is not noted: "
                        + session.failure(of: error).explanation.message)
            }
        }
        session.subject.file = path
    }
}
