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
        /// The number of archives in the catalogue whose contents are unknown, since reading them takes a key.
        package let unread: Int
    }

    /// Why an archive in the folder is not counted as a backup.
    package enum Exclusion: Hashable, Sendable {
        /// The file is not named as a backup folder names archives, so it may be kept there for another purpose.
        case otherName
        case otherDevice
        case damaged
        case newerFormat
        /// The file has been renamed: its name says another time or another device than the archive.
        case renamed
        /// The archive is of another series than its name says.
        case otherKeychain
        /// The archive is a copy of another archive in the folder.
        case copy(of: String)
        /// The archive is genuine, but not the recorded one.
        case otherArchive
        /// The archive is the recorded one with other keys: a copy from before a rekey, or one rekeyed elsewhere.
        case otherKeys
        /// The archive has not been read since it was entered, so its keychain is not known.
        case unread
    }

    /// Rebuilds the catalogue from the archives in the folder.
    ///
    /// Only intact archives that this device signed, under names that they may have, get an entry, and of several copies
    /// one. Reading the contents of an encrypted archive takes a key: they are known only if the old catalogue had them,
    /// for a file with the same keys. If the folder was moved and a link leads to it from where it was, the catalogue of
    /// that place is merged.
    ///
    /// - Parameter mayForgetAll: true to forget the archives even if none of them is left.
    /// - Throws: `CatalogueFailure` (also `folderGone`), `ArchiveFailure`, `FileFailure`.
    package func rebuild(now: Timestamp, mayForgetAll: Bool = false) throws -> Rebuilt {
        let earlierFile = CatalogueFile(beforeLinksIn: path, in: catalogues, device: device)
        let earlier = try earlierFile?.load()
        // An archive in the trash may have the keys from before a rekey.
        let records = catalogue.entries + (earlier?.entries ?? [])
        let known = Dictionary(grouping: records, by: \.archiveID).mapValues { entries in
            let current = entries.filter { $0.state == .complete }
            return current.isEmpty ? entries : current
        }
        var found: [CatalogueEntry] = []
        var ignored: [(name: String, reason: Exclusion)] = []
        for file in try Path.names(in: path).sorted(by: { $0.exact < $1.exact })
        where file.exact.hasSuffix(ArchiveName.ending) {
            switch try entry(of: file, known, now: now) {
            case .genuine(let entry): found.append(entry)
            case .excluded(let reason): ignored.append((file, reason))
            }
        }
        let recorded = Set(known.values.joined().map(\.file.checksum))
        let (originals, copies) = Self.withoutCopies(found) { recorded.contains($0.file.checksum) }
        ignored += copies.map { ($0.entry.name, .copy(of: $0.original)) }
        let lost = catalogue.complete.count
        // The folder may be an empty mount point, so do not forget the archives.
        if originals.isEmpty, lost > 0, !mayForgetAll {
            throw CatalogueFailure.folderGone(folder: name, archives: lost)
        }
        let present = Set(originals.map(\.id))
        let before = Dictionary(catalogue.entries.map { ($0.id, $0.file.checksum) }) { $1 }
        let trashed = catalogue.entries.filter { $0.state == .trashed && !present.contains($0.id) }
        let order = originals.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
        // Without any of its archives, this is another folder.
        let isMoved = earlier?.entries.contains { entry in originals.contains { $0.id == entry.id } } == true
        try change { catalogue in
            catalogue.entries = trashed + order
            guard isMoved, let earlier else { return }
            catalogue.pin = catalogue.pin ?? earlier.pin
            catalogue.begun = catalogue.begun ?? earlier.begun
            catalogue.drilled = catalogue.drilled ?? earlier.drilled
        }
        if isMoved { try earlierFile?.remove(waitingAtMost: FileLock.defaultWait) }
        return Rebuilt(
            added: order.filter { before[$0.id] != $0.file.checksum }, ignored: ignored.sorted { $0.name < $1.name },
            unread: order.count { $0.content == nil })
    }

    /// The entry of a file in the folder.
    private func entry(
        of file: String, _ known: [[UInt8]: [CatalogueEntry]], now: Timestamp
    ) throws -> Examined<CatalogueEntry> {
        guard let name = ArchiveName(file) else { return .excluded(.otherName) }
        let (archive, checksum): (ArchiveFile, ArchiveChecksum)
        switch try examine("\(path)/\(file)") {
        case .genuine(let found): (archive, checksum) = found
        case .excluded(let reason): return .excluded(reason)
        }
        let header = archive.header
        guard name.isName(of: header) else { return .excluded(.renamed) }
        let records = known[header.archiveID] ?? []
        let same = records.filter { $0.file.checksum == checksum }
        if var entry = same.first(where: { $0.name.exact == file.exact }) {
            entry.state = .complete
            entry.trashed = nil
            entry.verified = now
            return .genuine(entry)
        }
        if let read = records.first(where: { $0.content != nil }), read.series.exact != name.series.exact {
            return .excluded(.otherKeychain)
        }
        // The contents of a file with other keys are known, but not that a key of the user opens it.
        let content = same.lazy.compactMap(\.content).first
        var entry = CatalogueEntry(
            name: file, archiveID: header.archiveID, created: header.created, series: name.series,
            mode: header.mode,
            file: CatalogueEntry.File(
                keys: archive.hasPassphrase ? [BackupPin.passphrase] : [], size: archive.size, checksum: checksum),
            content: content, state: .complete, verified: now)
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

    /// Separates the archives from further copies of them; of several copies, a recorded one counts, otherwise one whose
    /// contents are known, otherwise the one with the lowest number in its name.
    static func withoutCopies(
        _ entries: [CatalogueEntry], isRecorded: (CatalogueEntry) -> Bool = { _ in true }
    ) -> (originals: [CatalogueEntry], copies: [(entry: CatalogueEntry, original: String)]) {
        var originals: [[UInt8]: CatalogueEntry] = [:]
        for entry in entries {
            guard let other = originals[entry.archiveID] else {
                originals[entry.archiveID] = entry
                continue
            }
            func rank(_ entry: CatalogueEntry) -> (Int, Int, Int) {
                (isRecorded(entry) ? 0 : 1, entry.content == nil ? 1 : 0, ArchiveName(entry.name)?.number ?? .max)
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
        switch try examine(entry, at: path(of: entry)) {
        case .excluded(let reason): return reason
        case .genuine(let archive):
            guard name.isName(of: archive.header), archive.header.created == entry.created else { return .renamed }
            return entry.content == nil ? .unread : nil
        }
    }

    /// Reads an archive to its last byte without a key: the signature of this device covers the encrypted data.
    ///
    /// - Throws: `CatalogueFailure` (`notWhole`, `replaced`), `ArchiveFailure`, `FileFailure`.
    package func verifyOutside(_ entry: CatalogueEntry, now: Timestamp) throws {
        switch try examine(entry, at: path(of: entry)) {
        case .genuine: break
        case .excluded(let reason):
            if reason == .damaged { try note(damaged: [entry.id], now: now) }
            throw failure(of: entry, reason) ?? CatalogueFailure.notWhole(name: entry.name)
        }
        try change(entry) { $0.verified = now }
    }

    /// Returns the failure of a recorded archive that is not counted; nil if it is intact.
    package func failure(of entry: CatalogueEntry, _ reason: Exclusion) -> CatalogueFailure? {
        switch reason {
        case .damaged, .newerFormat: .notWhole(name: entry.name)
        case .otherArchive: .replaced(name: path(of: entry), .archive)
        case .otherKeys: .replaced(name: path(of: entry), .keys)
        case .otherDevice: .replaced(name: path(of: entry), .origin)
        case .otherName, .renamed, .otherKeychain, .copy, .unread: nil
        }
    }

    /// True if the file at a path is the recorded one of an entry, intact to its last byte.
    func isWhole(_ entry: CatalogueEntry, at path: String) throws -> Bool {
        if case .genuine = try examine(entry, at: path) { true } else { false }
    }

    /// Reads the file at a path, and compares it with the recorded one of an entry.
    private func examine(_ entry: CatalogueEntry, at path: String) throws -> Examined<ArchiveFile> {
        switch try examine(path) {
        case .excluded(let reason): return .excluded(reason)
        case .genuine((let archive, let checksum)):
            if archive.header.archiveID != entry.archiveID { return .excluded(.otherArchive) }
            return checksum == entry.file.checksum ? .genuine(archive) : .excluded(.otherKeys)
        }
    }

    private enum Examined<Genuine> {
        case genuine(Genuine)
        case excluded(Exclusion)
    }

    private func examine(_ path: String) throws -> Examined<(ArchiveFile, ArchiveChecksum)> {
        do throws(ArchiveFailure) {
            let file = try ArchiveFile(path: path)
            let archive = try file.prove()
            try archive.proveStreams()
            return archive.signer == device.signingPublicKey
                ? .genuine((file, archive.checksum)) : .excluded(.otherDevice)
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
