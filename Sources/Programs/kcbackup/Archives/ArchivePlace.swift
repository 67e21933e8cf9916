internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// A folder of archives, here or on a remote, whose newest archives are meant.
struct ArchivePlace {
    /// The folder as the user named it.
    let folder: String
    /// The names of the files in it that may be archives.
    let files: [String]
    private let remote: RemoteLocation?

    /// A folder of a remote, in which these files are.
    init(_ remote: RemoteLocation, files: [String]) {
        (folder, self.remote) = (remote.text, remote)
        self.files = files.filter { $0.exact.hasSuffix(ArchiveName.ending) }
    }

    /// A folder here; `path` is where it is.
    init(_ folder: String, at path: String) throws {
        (self.folder, remote) = (folder, nil)
        files = try Path.names(in: path).filter { $0.exact.hasSuffix(ArchiveName.ending) }
    }

    /// An archive as `restore` takes it.
    func path(of file: String) -> String {
        remote?.appending(file).text ?? (folder.exact.hasSuffix("/") ? folder + file : "\(folder)/\(file)")
    }

    /// The archive that is meant by the folder: the only one, or the newest, which is said.
    ///
    /// - Throws: `CatalogueFailure` (`noArchives`, `unclearNewest`, `severalDevices`, `severalSeries`), `DeviceKeyFailure`,
    ///   `TrustedDevicesFailure`.
    func newest(accepting accepted: DeviceID?, in session: Session) throws -> String {
        guard let first = files.first else { throw CatalogueFailure.noArchives(folder: folder) }
        var chosen = first
        if files.count > 1 {
            let newest = try newestOfEach(accepting: accepted, in: session)
            guard newest.count == 1 else { throw CatalogueFailure.severalSeries(folder: folder, newest.map(\.series)) }
            chosen = newest[0].fileName
        }
        session.subject.file = path(of: chosen)
        if !session.style.isQuiet { session.message("the newest archive: \(displayed(path(of: chosen)))\n") }
        return chosen
    }

    /// The newest archive of each store; names those that do not count.
    ///
    /// - Throws: `CatalogueFailure` (`unclearNewest`, `severalDevices`), and as `LocalDevice.identity`.
    func newestOfEach(accepting accepted: DeviceID?, in session: Session) throws -> [ArchiveName] {
        var known: [DeviceID] = [accepted].compactMap(\.self)
        if let local = try LocalDevice(session.machine).identity() { known += [local.device.id] + local.trusted.keys }
        let devices = Set(known.map { ArchiveName.short($0).exact })
        let found = try NewestArchives(of: files, in: folder, now: session.now) { devices.contains($0.device.exact) }
        func warn(of names: [String], _ words: String) {
            guard let first = names.first else { return }
            session.warn(quoted(first) + (names.count == 1 ? "" : " and \(names.count - 1) more") + ": " + words)
        }
        warn(of: found.passedOver, "passed over, since no device that is known here is in the name")
        warn(
            of: found.later,
            "named for a time that is to come, as by a clock that was fast, and not taken for the newest")
        return found.newest
    }
}
