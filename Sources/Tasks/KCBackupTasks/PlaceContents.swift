internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
package import KCStoreTasks

extension PlacedArchive {
    /// All archives at places that a user names; a place that has none is one, with its problem.
    package static func all(at given: [String], in context: TaskContext) -> [PlacedArchive] {
        let catalogues = KnownCatalogues(context.machine)
        return given.flatMap { name in
            var place: ArchivePlace?
            do {
                place = try context.machine.archivePlace(name)
                return try place?.archives(catalogues, in: context) ?? []
            } catch {
                let isOfFolder = if case .folder = place?.kind { true } else { false }
                return [PlacedArchive(path: name, source: .nowhere, isOfFolder: isOfFolder, problem: error)]
            }
        }
    }

    /// All archives at places.
    ///
    /// - Throws: as `ArchivePlace.archives`.
    package static func all(at places: [ArchivePlace], in context: TaskContext) throws -> [PlacedArchive] {
        let catalogues = KnownCatalogues(context.machine)
        return try places.flatMap { try $0.archives(catalogues, in: context) }
    }

    /// The archives among the files of a folder of a remote, in order of their names.
    static func ofFolder(_ folder: RemoteFolder, _ files: [RemoteEntry]) -> [PlacedArchive] {
        files.filter { $0.name.exact.hasSuffix(ArchiveName.ending) }.sorted { $0.name.exact < $1.name.exact }.map {
            PlacedArchive(
                path: folder.location.appending($0.name).text, source: .remote(folder, $0), isOfFolder: true,
                // Names come from the other machine, and must not lead out of the folder.
                problem: $0.name.utf8.contains(UInt8(ascii: "/")) ? RemoteFailure.unusableName($0.name) : nil)
        }
    }
}

/// Reads each folder's catalogue only once in a run.
final class KnownCatalogues {
    private let machine: Machine
    private var found: [ExactText: Catalogue?] = [:]

    init(_ machine: Machine) { self.machine = machine }

    subscript(folder: String) -> Catalogue? {
        get throws {
            if let known = found[folder.exact] { return known }
            let catalogue = try machine.catalogueIfAny(of: folder)
            found[folder.exact] = .some(catalogue)
            return catalogue
        }
    }
}

extension ArchivePlace {
    /// All archives at the place: each file of a folder, and what its catalogue knows to have been there.
    ///
    /// An archive that cannot be read is among them, with its problem.
    /// - Throws: `RemoteFailure`, `FileFailure`, `CatalogueFailure.noArchives`, `ArchivePlaceProblem`, `DeviceKeyFailure`.
    func archives(_ catalogues: KnownCatalogues, in context: TaskContext) throws -> [PlacedArchive] {
        switch kind {
        case .pipe: [PlacedArchive(path: name, source: .input)]
        case .file(let path): [file(at: path, catalogues, in: context)]
        case .folder(let path): try folder(at: path, catalogues)
        case .remote: try candidates(on: context.machine)
        }
    }

    /// The archives whose names and bytes are all that is known: those of a remote, and the files of a folder, in order of
    /// their names.
    ///
    /// - Throws: `RemoteFailure`, `FileFailure`, `CatalogueFailure.noArchives` for a remote, `ArchivePlaceProblem.meansKeychain`.
    func candidates(on machine: Machine) throws -> [PlacedArchive] {
        switch kind {
        case .pipe, .file: return []
        case .folder(let path):
            return try Catalogue.archiveNames(in: path).sorted().map { file($0.string, in: path) }
        case .remote(let location):
            let found = try machine.doubtingKeychain(location) {
                try RemoteArchives(location, machine.mover(of: location))
            }
            if let only = found.only { return [PlacedArchive(path: name, source: .remote(found.folder, only))] }
            return PlacedArchive.ofFolder(found.folder, found.all)
        }
    }

    private func file(_ name: String, in folder: String) -> PlacedArchive {
        PlacedArchive(path: path(of: name), source: .file("\(folder)/\(name)"), isOfFolder: true)
    }

    /// A single archive; its entry in a catalogue is used if there is one, but not required.
    private func file(at path: String, _ catalogues: KnownCatalogues, in context: TaskContext) -> PlacedArchive {
        var archive = PlacedArchive(path: name, source: .input)
        do {
            if try !Path.exists(path) {
                if let known = try catalogues[name], !known.complete.isEmpty {
                    archive.problem = CatalogueFailure.folderGone(folder: name, archives: known.complete.count)
                }
            } else if let real = Path.real(path) {
                let (folder, name) = Path.split(real)
                archive.known = try catalogues[folder]?.entries
                    .first { $0.name.exact == name.exact && $0.state != .trashed }.map { (folder, $0) }
            }
        } catch {
            context.tell(ArchiveEvent.doubtful(error))
        }
        return archive
    }

    private func folder(at path: String, _ catalogues: KnownCatalogues) throws -> [PlacedArchive] {
        var archives: [PlacedArchive] = []
        var unlisted: [String]
        do {
            let contents = try catalogues[name]?.contents(of: path)
            let listed = contents?.listed ?? []
            if !listed.isEmpty, try !listed.contains(where: { try Path.exists("\(path)/\($0.name)") }) {
                throw CatalogueFailure.folderGone(folder: name, archives: listed.count)
            }
            archives = listed.map { entry in
                var archive = file(entry.name, in: path)
                archive.known = (name, entry)
                return archive
            }
            unlisted = try contents?.unlisted ?? Catalogue.archiveNames(in: path).sorted().map(\.string)
        } catch let failure as CatalogueFailure {
            // The archives can be read without the catalogue.
            archives = [PlacedArchive(path: name, source: .nowhere, isOfFolder: true, problem: failure)]
            unlisted = try Catalogue.archiveNames(in: path).sorted().map(\.string)
        }
        archives += unlisted.map { file($0, in: path) }
        var unreadable: [String] = []
        _ = try Catalogue.archiveNames(in: path, unreadable: &unreadable)
        archives += unreadable.map {
            var archive = file($0, in: path)
            archive.problem = ArchivePlaceProblem.unreadableName(path: archive.path)
            return archive
        }
        if archives.isEmpty { throw CatalogueFailure.noArchives(folder: name) }
        return archives
    }
}

extension ArchivePlace {
    /// The archives of a folder of a remote, and what is missing there of those of a folder here.
    ///
    /// An archive for which the remote lists the hash of the one here may be read here.
    /// - Parameter folder: the folder here, as it was given.
    /// - Throws: `CatalogueFailure.noArchives`, `RemoteFailure`, `FileFailure`.
    func archives(
        ofRemote location: RemoteLocation, against folder: String, on machine: Machine
    ) throws -> [PlacedArchive] {
        let path = machine.resolve(folder)
        guard Path.isFolder(path) else { throw FileFailure(folder, .notFound) }
        let here = try Catalogue.archiveNames(in: path)
        // An archive that is gone both here and there is missing too.
        let known = try machine.catalogueIfAny(of: path)?.complete.map(\.name.exact) ?? []
        if here.isEmpty, known.isEmpty { throw CatalogueFailure.noArchives(folder: folder) }
        let place = try machine.remoteFolder(location)
        var names: Set<ExactText> = []
        // Some clouds list two files of one name.
        var copies = try PlacedArchive.ofFolder(place, place.files()).filter { names.insert($0.name.exact).inserted }
        let alike = names.isDisjoint(with: here) ? [] : try place.listedAlike(path)
        for index in copies.indices where here.contains(copies[index].name.exact) {
            let name = copies[index].name
            copies[index].original = PlacedArchive.Original(
                path: ArchivePlace(folder, .folder(path)).path(of: name), isListedAlike: alike.contains(name.exact))
        }
        let missing = here.union(known).subtracting(names).sorted().map { name in
            let gone = location.appending(name.string)
            return PlacedArchive(
                path: gone.text, source: .nowhere, isOfFolder: true, problem: RemoteFailure.missing(gone))
        }
        return copies + missing
    }
}
