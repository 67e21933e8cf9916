internal import KCBackupArchive
internal import KCByteStreams
internal import KCDeviceIdentity
package import KCKeychainModel

extension BackupFolder {
    /// The result of rebuilding a catalogue.
    package struct Rebuilt: Sendable {
        /// The archives that were added to the catalogue.
        package let added: [CatalogueEntry]
        /// The files that were left out although their names end like those of archives.
        package let ignored: [(name: String, reason: Exclusion)]
    }

    /// Why a file is not entered into a catalogue.
    package enum Exclusion: Hashable, Sendable {
        /// It is not named as a backup folder names archives, so it may be kept there for another purpose.
        case otherName
        case otherDevice
        case damaged
        case newerFormat
    }

    /// Rebuilds the catalogue from the archives in the folder.
    ///
    /// Only intact archives that this device signed get an entry. Reading their contents takes a key, so item counts
    /// are kept where the old catalogue had them, and are unknown otherwise.
    ///
    /// - Parameter mayForgetAll: true to forget the archives even if none of them is left.
    /// - Throws: `CatalogueFailure` (also `folderGone`), `ArchiveFailure`, `FileFailure`.
    package func rebuild(now: Timestamp, mayForgetAll: Bool = false) throws -> Rebuilt {
        var known: [[UInt8]: CatalogueEntry] = [:]
        for entry in catalogue.entries { known[entry.archiveID] = entry }
        var found: [CatalogueEntry] = []
        var added: [CatalogueEntry] = []
        var ignored: [(name: String, reason: Exclusion)] = []
        for file in try Path.names(in: path).sorted(by: { $0.exact < $1.exact })
        where file.exact.hasSuffix(ArchiveName.ending) {
            guard let parts = ArchiveName(file) else {
                ignored.append((file, .otherName))
                continue
            }
            let archive: ArchiveFile
            switch try examine("\(path)/\(file)") {
            case .genuine(let found): archive = found
            case .excluded(let reason):
                ignored.append((file, reason))
                continue
            }
            if var entry = known[archive.header.archiveID], entry.name.exact == file.exact {
                entry.state = .complete
                entry.trashed = nil
                entry.verified = now
                found.append(entry)
                continue
            }
            let entry = CatalogueEntry(
                name: file, archiveID: archive.header.archiveID, created: archive.header.created, series: parts.series,
                mode: archive.header.mode, keys: archive.hasPassphrase ? [BackupPin.passphrase] : [],
                size: archive.size, content: nil, state: .complete, verified: now)
            found.append(entry)
            added.append(entry)
        }
        let lost = catalogue.complete.count
        // The folder may be an empty mount point, so do not forget the archives.
        if found.isEmpty, lost > 0, !mayForgetAll { throw CatalogueFailure.folderGone(folder: name, archives: lost) }
        let present = Set(found.map(\.archiveID))
        let trashed = catalogue.entries.filter { $0.state == .trashed && !present.contains($0.archiveID) }
        let order = found.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
        try change { $0.entries = trashed + order }
        return Rebuilt(added: added, ignored: ignored)
    }

    /// Reads an archive to its last byte without a key: the signature of this device covers the encrypted data.
    ///
    /// - Throws: `CatalogueFailure.notWhole`, `ArchiveFailure`, `FileFailure`.
    package func verifyOutside(_ entry: CatalogueEntry, now: Timestamp) throws {
        guard let archive = try genuine(path(of: entry)), archive.header.archiveID == entry.archiveID else {
            throw CatalogueFailure.notWhole(name: entry.name)
        }
        try change(entry) { $0.verified = max($0.verified, now) }
    }

    /// True if the file of an entry is that archive, intact and signed by this device; its size may differ from the
    /// entry.
    func isGenuine(_ entry: CatalogueEntry) throws -> Bool {
        try genuine(path(of: entry))?.header.archiveID == entry.archiveID
    }

    /// Returns the archive at a path if this device made it and it is intact; otherwise nil.
    private func genuine(_ path: String) throws -> ArchiveFile? {
        switch try examine(path) {
        case .genuine(let file): file
        case .excluded: nil
        }
    }

    private enum Examined {
        case genuine(ArchiveFile)
        case excluded(Exclusion)
    }

    private func examine(_ path: String) throws -> Examined {
        do throws(ArchiveFailure) {
            let file = try ArchiveFile(path: path)
            let archive = try file.prove()
            try archive.proveStreams()
            return archive.signer == device.signingPublicKey ? .genuine(file) : .excluded(.otherDevice)
        } catch {
            switch error {
            case .newerFormat: return .excluded(.newerFormat)
            case .notAnArchive, .damaged, .limit: return .excluded(.damaged)
            case .file(let file) where file.problem == .notRegular: return .excluded(.damaged)
            default: throw error
            }
        }
    }
}

extension BackupPin {
    /// The element of `keys` for a passphrase.
    package static let passphrase = "passphrase"
    /// The prefix in `keys` of a public key that opens only the metadata.
    package static let inspecting = "inspect:"
}
