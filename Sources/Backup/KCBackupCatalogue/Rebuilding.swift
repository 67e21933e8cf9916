internal import KCBackupArchive
internal import KCBackupEngine
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

    /// Why an archive in the folder is not counted as a backup.
    package enum Exclusion: Hashable, Sendable {
        /// It is not named as a backup folder names archives, so it may be kept there for another purpose.
        case otherName
        case otherDevice
        case damaged
        case newerFormat
        /// It has been renamed: its name says another time or another device than the archive.
        case renamed
        /// It is of another series than its name says.
        case otherKeychain
        /// It is a copy of another archive in the folder.
        case copy(of: String)
        /// It is genuine, but another archive than the recorded one.
        case otherArchive
        /// It has not been read since the catalogue was lost, so its keychain is not known.
        case unread
    }

    /// Rebuilds the catalogue from the archives in the folder.
    ///
    /// Only intact archives that this device signed, under names that they may have, get an entry, and of several copies
    /// one. Reading the contents of an encrypted archive takes a key: they are known only if the old catalogue had them.
    ///
    /// - Parameter mayForgetAll: true to forget the archives even if none of them is left.
    /// - Throws: `CatalogueFailure` (also `folderGone`), `ArchiveFailure`, `FileFailure`.
    package func rebuild(now: Timestamp, mayForgetAll: Bool = false) throws -> Rebuilt {
        let known = Dictionary(grouping: catalogue.entries, by: \.archiveID)
        var found: [CatalogueEntry] = []
        var ignored: [(name: String, reason: Exclusion)] = []
        for file in try Path.names(in: path).sorted(by: { $0.exact < $1.exact })
        where file.exact.hasSuffix(ArchiveName.ending) {
            switch try entry(of: file, known, now: now) {
            case .genuine(let entry): found.append(entry)
            case .excluded(let reason): ignored.append((file, reason))
            }
        }
        let (originals, copies) = Self.withoutCopies(found)
        ignored += copies.map { ($0.entry.name, .copy(of: $0.original)) }
        let lost = catalogue.complete.count
        // The folder may be an empty mount point, so do not forget the archives.
        if originals.isEmpty, lost > 0, !mayForgetAll {
            throw CatalogueFailure.folderGone(folder: name, archives: lost)
        }
        let present = Set(originals.map(\.id))
        let before = Set(catalogue.entries.map(\.id))
        let trashed = catalogue.entries.filter { $0.state == .trashed && !present.contains($0.id) }
        let order = originals.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
        try change { $0.entries = trashed + order }
        return Rebuilt(added: order.filter { !before.contains($0.id) }, ignored: ignored.sorted { $0.name < $1.name })
    }

    /// The entry of a file in the folder.
    private func entry(
        of file: String, _ known: [[UInt8]: [CatalogueEntry]], now: Timestamp
    ) throws -> Examined<CatalogueEntry> {
        guard let name = ArchiveName(file) else { return .excluded(.otherName) }
        let archive: ArchiveFile
        switch try examine("\(path)/\(file)") {
        case .genuine(let found): archive = found
        case .excluded(let reason): return .excluded(reason)
        }
        let header = archive.header
        guard name.isName(of: header) else { return .excluded(.renamed) }
        let records = known[header.archiveID] ?? []
        if var entry = records.first(where: { $0.name.exact == file.exact }) {
            entry.state = .complete
            entry.trashed = nil
            entry.verified = now
            return .genuine(entry)
        }
        let read = records.first { $0.content != nil }
        if let read, read.series.exact != name.series.exact { return .excluded(.otherKeychain) }
        var entry = CatalogueEntry(
            name: file, archiveID: header.archiveID, created: header.created, series: name.series,
            mode: header.mode, keys: archive.hasPassphrase ? [BackupPin.passphrase] : [],
            size: archive.size, content: read?.content, state: .complete, verified: now)
        if entry.content == nil, header.mode == .unencrypted {
            let (source, content) = try readUnencrypted(archive)
            guard ArchiveName.isSeries(name.series, of: source) else { return .excluded(.otherKeychain) }
            entry.content = content
        }
        return .genuine(entry)
    }

    /// Reads what needs no key.
    private func readUnencrypted(_ archive: ArchiveFile) throws -> (ArchiveSource, CatalogueEntry.Content?) {
        let proven = try ProvenArchive(archive.prove().open(), local: LocalIdentity(device: device))
        let report = try proven.verify(takesFingerprint: true)
        return (try proven.opened.source(), CatalogueEntry.Content(report))
    }

    /// Separates the archives from further copies of them; of several copies, the one whose contents are known counts,
    /// otherwise the one with the lowest number in its name.
    static func withoutCopies(
        _ entries: [CatalogueEntry]
    ) -> (originals: [CatalogueEntry], copies: [(entry: CatalogueEntry, original: String)]) {
        var originals: [[UInt8]: CatalogueEntry] = [:]
        for entry in entries {
            guard let other = originals[entry.archiveID] else {
                originals[entry.archiveID] = entry
                continue
            }
            func rank(_ entry: CatalogueEntry) -> (Int, Int) {
                (entry.content == nil ? 1 : 0, ArchiveName(entry.name)?.number ?? .max)
            }
            if rank(entry) < rank(other) { originals[entry.archiveID] = entry }
        }
        var copies: [(entry: CatalogueEntry, original: String)] = []
        for entry in entries {
            if let original = originals[entry.archiveID], original.id != entry.id {
                copies.append((entry, original.name))
            }
        }
        return (entries.filter { originals[$0.archiveID]?.id == $0.id }, copies)
    }

    /// Why the file of an entry does not count as the recorded backup; nil if it does.
    ///
    /// - Throws: `ArchiveFailure`, `FileFailure`.
    func exclusion(of entry: CatalogueEntry) throws -> Exclusion? {
        guard let name = ArchiveName(entry.name), name.series.exact == entry.series.exact else { return .renamed }
        switch try examine(path(of: entry)) {
        case .excluded(let reason): return reason
        case .genuine(let archive):
            guard archive.header.archiveID == entry.archiveID else { return .otherArchive }
            guard name.isName(of: archive.header), archive.header.created == entry.created else { return .renamed }
            return entry.content == nil ? .unread : nil
        }
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

    private enum Examined<Genuine> {
        case genuine(Genuine)
        case excluded(Exclusion)
    }

    private func examine(_ path: String) throws -> Examined<ArchiveFile> {
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
