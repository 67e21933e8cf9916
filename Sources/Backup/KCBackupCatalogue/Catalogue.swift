package import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The record of one backup folder: what the folder is used for, and every archive that was made there.
///
/// The catalogue is stored in the data folder and authenticated by the device, so that the contents of the backup
/// folder alone decide nothing.
package struct Catalogue: Hashable, Sendable {
    /// The absolute path of the folder, with symbolic links resolved.
    package let folder: String
    /// The use that the folder is pinned to; nil after a catalogue was rebuilt.
    package internal(set) var pin: BackupPin?
    /// All archives, in the order in which they were made.
    package internal(set) var entries: [CatalogueEntry]
    /// When the first archive was recorded; nil if unknown.
    package internal(set) var begun: Timestamp?
    /// When an archive last passed a trial restore, even if that archive has since been removed.
    package internal(set) var drilled: Timestamp?

    /// Creates the catalogue of a folder; by default, without archives.
    init(folder: String, pin: BackupPin? = nil, entries: [CatalogueEntry] = []) {
        self.folder = folder
        self.pin = pin
        self.entries = entries
    }

    /// The archives that are complete and not in the trash.
    package var complete: [CatalogueEntry] { entries.filter { $0.state == .complete } }

    /// The time of the last trial restore, or of the first backup if there was none; nil if there is no archive.
    ///
    /// Times in the future are ignored: a trial that ran while the clock was fast could have been at any time.
    package func undrilledSince(at now: Timestamp) -> Timestamp? {
        if complete.isEmpty { return nil }
        let latest = CatalogueEntry.latest(at: now)
        let times = [drilled, begun, entries.map(\.created).filter { $0 <= latest }.min()]
        return times.compactMap(\.self).first { $0 <= latest }
    }

    /// The subjects that a run that backs up everything has to find, by series, as `BackupPin.subjects`; nil if the
    /// folder is used for one keychain.
    ///
    /// A catalogue that was rebuilt has no pin, but the archives still say of which keychains there are backups.
    package var subjectsOfAll: [ExactText: String]? {
        if let pin { return pin.isOfAll ? pin.subjects : nil }
        return Dictionary(complete.map { ($0.series.exact, BackupPin.unknownSubject) }) { first, _ in first }
    }

    /// True if there are archives, and no file in the folder at a path has the name of one.
    ///
    /// An empty mount point looks like that.
    package func hasLostAll(in path: String) throws(FileFailure) -> Bool {
        let known = complete
        for entry in known where try Path.kind(of: "\(path)/\(entry.name)") == .file { return false }
        return !known.isEmpty
    }

    /// Returns the newest archive of a series.
    package func newest(of series: String) -> CatalogueEntry? {
        entries.last { $0.series.exact == series.exact && $0.state == .complete }
    }

    /// The newest archive of a series that lacks nothing.
    func newestComplete(of series: String) -> CatalogueEntry? {
        entries.last { $0.series.exact == series.exact && $0.state == .complete && $0.isComplete == true }
    }
}

/// The file that stores a catalogue.
package struct CatalogueFile {
    /// The absolute path of the backup folder, with symbolic links resolved.
    package let folder: String
    private let path: String
    private let device: DeviceKey

    // Enough for about 20,000 archives.
    private static let kind = StateFile.Kind("catalogue", version: 2, sizeLimit: 16 << 20)

    /// Locates the file for a backup folder.
    ///
    /// - Parameter catalogues: the folder that contains all catalogues.
    package init(of folder: String, in catalogues: String, device: DeviceKey) {
        self.folder = Self.place(of: folder)
        path = Self.path(of: self.folder, in: catalogues, device)
        self.device = device
    }

    /// Includes the device ID: a renewed device starts new catalogues.
    private static func ending(_ device: DeviceKey) -> String { "-\(ArchiveName.short(device.id)).catalogue" }

    /// True if a path is that of a catalogue, as in a failure of one whose folder is not known.
    package static func isName(ofPath path: String) -> Bool {
        Path.split(path).name.wholeMatch(of: /[0-9a-f]{16}-KC-[A-Z2-7]{8}\.catalogue/) != nil
    }

    /// Locates the file for the folder that was at a path before links led elsewhere; nil if no link is in the path.
    init?(beforeLinksIn path: String, in catalogues: String, device: DeviceKey) {
        let literal = path.exact.removingSuffix("/") ?? path
        if Self.place(of: path).exact == literal.exact { return nil }
        folder = literal
        self.path = Self.path(of: literal, in: catalogues, device)
        self.device = device
    }

    /// Resolves symbolic links in the path of a folder that may not exist yet.
    package static func place(of folder: String) -> String {
        if let place = Path.real(folder) { return place }
        let (parent, name) = Path.split(folder.exact.removingSuffix("/") ?? folder)
        guard let place = Path.real(parent) else { return folder }
        return place == "/" ? "/" + name : "\(place)/\(name)"
    }

    private static func path(of place: String, in catalogues: String, _ device: DeviceKey) -> String {
        "\(catalogues)/\(SHA256.hash(place.utf8.span).hex.prefix(16))\(ending(device))"
    }

    /// Returns all catalogues of this device, ordered by folder, and the reasons why others cannot be read.
    ///
    /// - Parameter folders: the folders that reasons can name.
    /// - Throws: `CatalogueFailure.file` if the folder of catalogues cannot be listed.
    package static func all(
        in catalogues: String, device: DeviceKey, likelyOf folders: [String] = []
    ) throws(CatalogueFailure) -> (found: [Catalogue], failures: [CatalogueFailure]) {
        let names: [String]
        do {
            try PrivateFolder.require(catalogues, mayBeMissing: true)
            names = try Path.names(in: catalogues).filter { $0.exact.hasSuffix(ending(device)) }
        } catch {
            throw .file(error)
        }
        var places: [ExactText: String] = [:]
        for place in folders.map(place) { places[Self.path(of: place, in: catalogues, device).exact] = place }
        var found: [Catalogue] = []
        var failures: [CatalogueFailure] = []
        for name in names.sorted(by: { $0.exact < $1.exact }) {
            let path = "\(catalogues)/\(name)"
            do throws(CatalogueFailure) {
                guard let catalogue = try read(path, device, folder: places[path.exact] ?? path) else { continue }
                // A genuine catalogue under another catalogue's file name is rejected too.
                guard Self.path(of: catalogue.folder, in: catalogues, device).exact == path.exact else {
                    throw .altered(folder: places[path.exact] ?? path)
                }
                found.append(catalogue)
            } catch {
                failures.append(error)
            }
        }
        return (found.sorted { $0.folder < $1.folder }, failures)
    }

    /// Returns the catalogue; nil if there is none.
    package func load() throws(CatalogueFailure) -> Catalogue? {
        guard let catalogue = try Self.read(path, device, folder: folder) else { return nil }
        guard catalogue.folder.exact == folder.exact else { throw .altered(folder: folder) }
        return catalogue
    }

    /// Replaces the catalogue, durably.
    func save(_ catalogue: Catalogue) throws(CatalogueFailure) {
        do {
            try Self.file(path, device).write(catalogue.spelling)
        } catch {
            throw Self.failure(error, folder: folder)
        }
    }

    /// Forgets everything about the folder.
    ///
    /// - Parameter wait: how long to wait for another run.
    package func remove(waitingAtMost wait: Duration) throws(CatalogueFailure) {
        let lock = try lock(waitingAtMost: wait)
        defer { withExtendedLifetime(lock) {} }
        try failing(as: CatalogueFailure.file, Path.remove(path))
    }

    /// Locks out every other run that would change the catalogue or its folder.
    ///
    /// - Throws: `CatalogueFailure.file`, with `busy` if the lock was not released in time.
    func lock(waitingAtMost wait: Duration) throws(CatalogueFailure) -> FileLock {
        do {
            try Path.makeFolder(Path.split(path).folder)
            return try FileLock(path + ".lock", waitingAtMost: wait)
        } catch {
            throw .file(FileFailure(error.problem == .busy ? folder : error.path, error.problem))
        }
    }

    private static func read(
        _ path: String, _ device: DeviceKey, folder: String
    ) throws(CatalogueFailure) -> Catalogue? {
        let lines: [UInt8]?
        do {
            lines = try file(path, device).read()
        } catch {
            throw failure(error, folder: folder)
        }
        guard let lines else { return nil }
        do {
            return try Catalogue(parsing: lines.span)
        } catch {
            // This device wrote it, so it comes from another version of the program.
            throw .otherFormat(folder: folder)
        }
    }

    /// The folder is in the catalogue itself, so that all catalogues can be listed.
    private static func file(_ path: String, _ device: DeviceKey) -> StateFile {
        StateFile(path, kind, about: "", of: device)
    }

    private static func failure(_ failure: StateFileFailure, folder: String) -> CatalogueFailure {
        switch failure {
        // The name of the file has the device, so a catalogue of another device was renamed.
        case .altered, .otherDevice: .altered(folder: folder)
        case .otherFormat: .otherFormat(folder: folder)
        case .file(let failure): .file(failure)
        case .cryptography(let failure): .cryptography(failure)
        }
    }
}
