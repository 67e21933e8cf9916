internal import KCAsking
package import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
package import KCDeviceIdentity
package import KCItemSources
internal import KCKeychainModel
internal import KCLocalKeychains
package import KCRemotes
package import KCStoreTasks

/// A place of archives: a file, a folder of this machine, or a file or folder of a remote.
///
/// ```swift
/// let place = try context.machine.archivePlace("nas:backups")
/// for archive in try PlacedArchive.all(at: [place], in: context) { print(archive.path) }
/// ```
package struct ArchivePlace: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A pipe that is open, and is read once.
        case pipe
        /// The absolute path is that of a file, or of nothing.
        case file(String)
        /// The folder at an absolute path.
        case folder(String)
        case remote(RemoteLocation)
    }

    /// The place as it was named.
    package let name: String
    package let kind: Kind

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    package var isRemote: Bool { if case .remote = kind { true } else { false } }

    /// The name of an archive of a folder, as it is told.
    func path(of name: String) -> String {
        if case .remote(let location) = kind { return location.appending(name).text }
        return self.name.exact.hasSuffix("/") ? self.name + name : "\(self.name)/\(name)"
    }
}

/// Why a place has no archive to read.
package enum ArchivePlaceProblem: Error {
    /// The name is empty.
    case unnamed
    /// The name is that of a file or folder here, and that of one of a remote.
    case ambiguous(String)
    /// The name begins like that of a remote, and may be meant as that of a keychain.
    case meansKeychain(RemoteLocation)
    /// A folder has no archive whose name says what it is.
    case noArchives(folder: String)
    /// The name of the file is not UTF-8.
    case unreadableName(path: String)
    /// The file has no bytes.
    case empty(path: String)
    /// The file is one of this program's own, and no archive.
    case ownFile(path: String, OwnFile)
    /// The file is of another program, whose format has a title.
    case foreign(path: String, title: String)
    /// The archive of which a copy is to be compared cannot be read.
    case originalUnreadable(path: String, any Error, copy: String)
}

/// An event while an archive is found and opened.
package enum ArchiveEvent: TaskEvent {
    /// The newest archive of a folder is taken.
    case newest(path: String)
    /// The files do not count as the newest, since their names say no device that is known here.
    case passedOver([String])
    /// The files do not count as the newest, since they are named for a time that is to come.
    case later([String])
    /// Something is doubtful, and the work goes on.
    case doubtful(any Error)
    /// Keys were given for one archive that is unencrypted.
    case keyUnneeded
    /// Identities were given besides the passphrase that opens the archive.
    case identitiesUnused
    /// A passcode was given, and opens nothing of the archive here.
    case passcodeUnneeded
    /// The keychain that the archive was made from gives no key.
    case noKeysOfKeychain(any Error)
}

extension Machine {
    /// The place that a user names.
    ///
    /// - Throws: `ArchivePlaceProblem` (`unnamed`, `ambiguous`), `FileFailure`.
    package func archivePlace(_ given: String) throws -> ArchivePlace {
        if given.isEmpty { throw ArchivePlaceProblem.unnamed }
        if given == InputFile.standardInputName || InputFile.descriptor(given) != nil {
            return ArchivePlace(given, .pipe)
        }
        if let location = try remote(given) { return ArchivePlace(given, .remote(location)) }
        let path = resolve(given)
        return ArchivePlace(given, Path.isFolder(path) ? .folder(path) : .file(path))
    }

    /// The location that `REMOTE:PATH` names; nil for what can only be a file here.
    ///
    /// - Throws: `ArchivePlaceProblem.ambiguous` if a file here has this name: neither takes the place of the other in silence.
    package func remote(_ given: String) throws -> RemoteLocation? {
        guard let location = RemoteLocation(given) else { return nil }
        if try Path.exists(resolve(given)) { throw ArchivePlaceProblem.ambiguous(given) }
        return location
    }

    /// Runs `body`, which reads from a remote, and explains the lack of one if `keychain:NAME` was given.
    ///
    /// - Throws: `ArchivePlaceProblem.meansKeychain`, and what `body` throws.
    func doubtingKeychain<Result>(_ location: RemoteLocation, _ body: () throws -> Result) throws -> Result {
        let isOfKeychain = location.remote.exact == "keychain"
        do {
            return try body()
        } catch RemoteFailure.notInstalled where isOfKeychain, RemoteFailure.unknownRemote where isOfKeychain {
            throw ArchivePlaceProblem.meansKeychain(location)
        }
    }

    /// The catalogue of a backup folder in which this device has made backups.
    ///
    /// - Throws: `BackupFolderProblem.isFile`, `FileFailure.notFound`, `CatalogueFailure` (also `unknownFolder`), and the
    ///   errors of `LocalDevice.key`.
    package func knownCatalogue(of folder: String) throws -> Catalogue {
        let path = resolve(folder)
        if try Path.isNoFolder(path) { throw BackupFolderProblem.isFile(folder) }
        if let known = try catalogueIfAny(of: folder) { return known }
        guard Path.isFolder(path) else { throw FileFailure(folder, .notFound) }
        throw CatalogueFailure.unknownFolder(folder)
    }
}

extension ArchivePlace {
    /// The archive that is meant by the place: the only one, or the newest, which is told.
    ///
    /// - Parameter accepted: a device whose archives count, though it is not trusted.
    /// - Throws: as `candidates`, `CatalogueFailure` (`noArchives`, `unclearNewest`, `severalDevices`, `severalSeries`), and as
    ///   `LocalDevice.identity`.
    func meant(accepting accepted: DeviceID?, in context: TaskContext) throws -> PlacedArchive {
        switch kind {
        case .pipe, .file: return PlacedArchive(path: name, source: .input)
        case .folder, .remote: break
        }
        let found = try candidates(on: context.machine)
        guard let first = found.first else { throw CatalogueFailure.noArchives(folder: name) }
        if !first.isOfFolder { return first }
        var chosen = first
        if found.count > 1 {
            let newest = try newest(of: found, accepting: accepted, in: context)
            guard newest.count == 1 else {
                throw CatalogueFailure.severalSeries(folder: name, newest.map(\.series))
            }
            chosen = newest[0].archive
        }
        context.tell(ArchiveEvent.newest(path: chosen.path))
        return chosen
    }

    /// The newest archive of each store in a folder; tells which do not count.
    ///
    /// - Throws: `BackupFolderProblem.isFile`, `FileFailure.notFound`, `ArchivePlaceProblem.noArchives`, `CatalogueFailure`
    ///   (`unclearNewest`, `severalDevices`), and as `LocalDevice.identity` and `candidates`.
    package func newestOfEach(
        accepting accepted: DeviceID?, in context: TaskContext
    ) throws -> [(archive: PlacedArchive, name: ArchiveName)] {
        let found: [PlacedArchive]
        switch kind {
        case .pipe: throw FileFailure(name, .notFound)
        case .file(let path):
            if try Path.isNoFolder(path) { throw BackupFolderProblem.isFile(name) }
            throw FileFailure(name, .notFound)
        case .folder: found = try candidates(on: context.machine)
        case .remote(let location):
            // A key of a remote may not list what the folder is in.
            let folder = try context.machine.remoteFolder(location)
            found = try PlacedArchive.ofFolder(folder, folder.files())
        }
        guard found.contains(where: { ArchiveName($0.name) != nil }) else {
            throw ArchivePlaceProblem.noArchives(folder: name)
        }
        return try newest(of: found, accepting: accepted, in: context).map { ($0.archive, $0.name) }
    }

    private func newest(
        of found: [PlacedArchive], accepting accepted: DeviceID?, in context: TaskContext
    ) throws -> [(archive: PlacedArchive, name: ArchiveName, series: String)] {
        var known: [DeviceID] = [accepted].compactMap(\.self)
        if let local = try LocalDevice(context.machine).identity() {
            known += [local.device.id] + local.trusted.keys
        }
        let devices = Set(known.map { ArchiveName.short($0).exact })
        let judged = try NewestArchives(of: found.map(\.name), in: name, now: context.now) {
            devices.contains($0.device.exact)
        }
        if !judged.passedOver.isEmpty { context.tell(ArchiveEvent.passedOver(judged.passedOver)) }
        if !judged.later.isEmpty { context.tell(ArchiveEvent.later(judged.later)) }
        return judged.newest.compactMap { name in
            found.first { $0.name.exact == name.fileName.exact }.map { ($0, name, name.series) }
        }
    }
}
