internal import BackupArchive
internal import ByteStreams
internal import DeviceIdentity
package import KeychainModel

extension BackupFolder {
    /// What a rebuild found.
    package struct Rebuilt: Hashable, Sendable {
        /// The archives that are in the catalogue now and were not.
        package let added: [CatalogueEntry]
        /// Names that look like archives and are none of this device, or not whole.
        package let ignored: [String]
    }

    /// Makes the catalogue anew of the archives that are in the folder.
    ///
    /// Only what this device signed, and what is whole to its last byte, gets an entry. What is inside needs a key, so
    /// counts are kept where the old catalogue had them, and unknown elsewhere.
    ///
    /// - Throws: `CatalogueFailure`, `ArchiveFailure`, `FileFailure`.
    package func rebuild(now: Timestamp) throws -> Rebuilt {
        var known: [[UInt8]: CatalogueEntry] = [:]
        for entry in catalogue.entries { known[entry.archiveID] = entry }
        var found: [CatalogueEntry] = []
        var added: [CatalogueEntry] = []
        var ignored: [String] = []
        for file in try Path.names(in: path).sorted() where file.hasSuffix(ArchiveName.ending) {
            guard let parts = ArchiveName(file), let archive = try genuine("\(path)/\(file)") else {
                ignored.append(file)
                continue
            }
            if var entry = known[archive.header.archiveID], entry.name == file {
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
        // An empty mount point is no reason to forget what was there.
        if found.isEmpty, lost > 0 { throw CatalogueFailure.folderGone(folder: name, archives: lost) }
        let present = Set(found.map(\.archiveID))
        let trashed = catalogue.entries.filter { $0.state == .trashed && !present.contains($0.archiveID) }
        let order = found.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
        try change { $0.entries = trashed + order }
        return Rebuilt(added: added, ignored: ignored)
    }

    /// Reads an archive to its last byte, without a key: what is encrypted is what this device signed.
    ///
    /// - Throws: `CatalogueFailure.notWhole`, `ArchiveFailure`, `FileFailure`.
    package func verifyOutside(_ entry: CatalogueEntry, now: Timestamp) throws {
        guard let archive = try genuine(path(of: entry)), archive.header.archiveID == entry.archiveID else {
            throw CatalogueFailure.notWhole(name: entry.name)
        }
        try change(entry) { $0.verified = max($0.verified, now) }
    }

    /// True if the file of an entry is that archive, whole and signed by this device; its size may be another one.
    func isGenuine(_ entry: CatalogueEntry) throws -> Bool {
        try genuine(path(of: entry))?.header.archiveID == entry.archiveID
    }

    /// The archive at a path, if this device made it and all of it is there; nil for anything else.
    private func genuine(_ path: String) throws -> ArchiveFile? {
        do throws(ArchiveFailure) {
            let file = try ArchiveFile(path: path)
            let archive = try file.prove()
            try archive.proveStreams()
            return archive.signer == device.signingPublicKey ? file : nil
        } catch {
            switch error {
            case .notAnArchive, .newerFormat, .damaged, .limit: return nil
            case .file(let file) where file.problem == .notRegular: return nil
            default: throw error
            }
        }
    }
}

extension BackupPin {
    /// Among `keys`: a passphrase.
    package static let passphrase = "passphrase"
    /// Among `keys`: before a public key that opens the metadata alone.
    package static let inspecting = "inspect:"
}
