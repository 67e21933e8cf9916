internal import BackupArchive
internal import BackupCatalogue
internal import BackupEngine
internal import ByteStreams
internal import KeychainModel
internal import LocalKeychains

/// One archive that `verify` looks at.
struct VerifySubject {
    /// As messages name it.
    let path: String
    /// Where it lies, and what the catalogue of that folder says of it; nil for an archive that is in none.
    var known: (folder: String, entry: CatalogueEntry)?
    /// True where its folder was named, and not the archive itself.
    var isOfFolder = false
    /// Why there is nothing to look at.
    var problem: (any Error)?

    /// Finds what the arguments mean: files, and all archives of folders.
    static func all(_ arguments: [String], in session: Session) -> [VerifySubject] {
        let catalogues = KnownCatalogues(session)
        return arguments.flatMap { argument in
            if InputFile.descriptor(argument) != nil { return [VerifySubject(path: argument)] }
            if Path.isFolder(session.world.resolve(argument)) { return ofFolder(argument, catalogues, session) }
            return [ofFile(argument, catalogues, session)]
        }
    }

    /// An archive by its name; what a catalogue says of it is a help, and no condition.
    private static func ofFile(
        _ argument: String, _ catalogues: KnownCatalogues, _ session: Session
    ) -> VerifySubject {
        var subject = VerifySubject(path: argument)
        do {
            let path = session.world.resolve(argument)
            if !(try Path.exists(path)), let known = try catalogues[argument], !known.complete.isEmpty {
                subject.problem = CatalogueFailure.folderGone(folder: argument, archives: known.complete.count)
            } else if let real = Path.real(path) {
                let (folder, name) = Path.split(real)
                subject.known = try catalogues[folder]?.entries.first { $0.name == name && $0.state != .trashed }
                    .map { (folder, $0) }
            }
        } catch {
            session.warn(Failure(error, session.subjects).explanation.message)
        }
        return subject
    }

    private static func ofFolder(
        _ folder: String, _ catalogues: KnownCatalogues, _ session: Session
    ) -> [VerifySubject] {
        func path(_ name: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }
        let place = session.world.resolve(folder)
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
                unlisted = try contents?.unlisted ?? Catalogue.archiveNames(in: place).sorted()
            } catch let failure as CatalogueFailure {
                // The archives can be looked at all the same.
                subjects = [VerifySubject(path: folder, isOfFolder: true, problem: failure)]
                unlisted = try Catalogue.archiveNames(in: place).sorted()
            }
            subjects += unlisted.map { VerifySubject(path: path($0), isOfFolder: true) }
            if subjects.isEmpty { throw CatalogueFailure.noArchives(folder: folder) }
            return subjects
        } catch {
            return [VerifySubject(path: folder, isOfFolder: true, problem: error)]
        }
    }

    /// Opens the file; nothing is proved yet.
    ///
    /// - Returns: nil for an archive that another run has removed since.
    /// - Throws: `CatalogueFailure.missing`, and as `ArchiveOptions.open`.
    func open(_ options: ArchiveOptions, in session: Session) throws -> ArchiveFile? {
        if let problem { throw problem }
        guard isOfFolder else { return try options.open(path, in: session) }
        let place = session.world.resolve(path)
        if let known, try !Path.exists(place) {
            let isListed = try session.catalogueIfAny(of: known.folder)?.complete.contains {
                $0.archiveID == known.entry.archiveID
            }
            if isListed != true { return nil }
            throw CatalogueFailure.missing(name: path)
        }
        // A pipe of this name would be waited for without end.
        return try ArchiveFile(path: place)
    }

    /// Compares a genuine archive with what the catalogue says of it.
    ///
    /// - Parameter fingerprint: of what is in it; nil where that was not read.
    /// - Returns: the archive, where the catalogue knows it.
    /// - Throws: `CatalogueFailure.replaced`.
    func compared(
        with outline: ArchiveOutline, _ origin: Origin, fingerprint: [UInt8]?, isDrilled: Bool, in session: Session
    ) throws -> CheckedArchive? {
        guard let known else { return nil }
        let entry = known.entry
        if let difference = entry.difference(
            archiveID: outline.header.archiveID, origin: origin, fingerprint: fingerprint)
        {
            throw CatalogueFailure.replaced(name: path, difference)
        }
        if entry.size != outline.size {
            session.warn("\(quoted(path)) opens with other keys than when it was last looked at")
        }
        return CheckedArchive(archiveID: entry.archiveID, isDrilled: isDrilled)
    }
}

/// Reads the catalogue of each folder once.
private final class KnownCatalogues {
    private let session: Session
    private var found: [String: Catalogue?] = [:]

    init(_ session: Session) { self.session = session }

    subscript(folder: String) -> Catalogue? {
        get throws {
            if let known = found[folder] { return known }
            let catalogue = try session.catalogueIfAny(of: folder)
            found[folder] = .some(catalogue)
            return catalogue
        }
    }
}

/// What is to be noted in catalogues at the end of a run: no lock is held while archives are read.
final class CheckedFolders {
    private var archives: [String: [CheckedArchive]] = [:]

    /// Takes an archive that was found to be what the catalogue says.
    func append(_ archive: CheckedArchive, in folder: String) {
        archives[folder, default: []].append(archive)
    }

    /// Notes all of them; what cannot be noted is a warning, since the archives are whole all the same.
    func note(in session: Session) {
        // After a signal there is no time to wait for another run.
        if Interruption.isRequested { return }
        let path = session.subjects.path
        for (folder, archives) in archives.sorted(by: { $0.key < $1.key }) {
            do {
                try session.backupFolder(folder, waitingAtMost: FileLock.defaultWait)
                    .note(archives, now: session.now)
            } catch {
                session.warn(
                    "that archives were verified is not noted: "
                        + Failure(error, session.subjects).explanation.message)
            }
        }
        session.subjects.path = path
    }
}
