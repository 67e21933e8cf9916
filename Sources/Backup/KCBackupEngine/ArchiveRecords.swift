internal import KCBackupArchive
internal import KCByteStreams
internal import KCKeychainModel

/// The records of an archive, which a restore visits several times: to find alike items, to plan, and to write.
///
/// A small archive is read once, to its end, and its records are held. So they are decrypted, decompressed and decoded once,
/// what is written are the bytes that were proved, and no change of the file concerns them. A larger one is read each time.
struct ArchiveRecords {
    private let archive: ProvenArchive
    /// The form of the secrets.
    let form: SecretForm
    /// The items whose secrets must be known.
    let needed: SelectedSecrets
    private let held: (records: HeldRecords, streams: ReadStreams)?

    /// Reads the archive if it may be held.
    ///
    /// - Parameter limit: how many bytes may be held; 0 for an archive that is to be read each time.
    /// - Throws: `ArchiveFailure`.
    init(
        of archive: ProvenArchive, _ form: SecretForm, _ needed: SelectedSecrets, holding limit: Int
    ) throws {
        self.archive = archive
        self.form = form
        self.needed = needed
        // In the file, lines have a fourth of their size, or less, and secrets often all of it: a larger one would be read in
        // vain.
        let (size, metadata) = (archive.opened.size, archive.opened.metadataSize)
        let secretLimit = HeldRecords.secretLimit(lockable: SecretMemory.lockLimit)
        guard limit > 0, size <= UInt64(limit / 4), size - metadata <= UInt64(secretLimit) else {
            held = nil
            return
        }
        var records = HeldRecords(limit: limit, secretLimit: secretLimit)
        let before = archive.opened.bytesRead
        let streams = try archive.read(form, of: needed, &records)
        // Reading so little is no progress; what is done with it is.
        archive.opened.bytesRead = before
        if records.isComplete { held = (records: records, streams: streams) } else { held = nil }
    }

    /// Passes all records to `visitor`.
    ///
    /// - Returns: what was found, for `visitAgain`.
    /// - Throws: `ArchiveFailure` and what the visitor throws; nothing that the visitor received may be trusted then.
    func visit(_ visitor: inout some RecordVisitor) throws -> ReadStreams {
        guard let held else { return try archive.read(form, of: needed, &visitor) }
        try visit(held.records, &visitor)
        return held.streams
    }

    /// Passes all records to `visitor` again, which must be those that `visit` found.
    ///
    /// - Throws: as `visit`, and `damaged` if the archive has changed.
    func visitAgain(_ first: ReadStreams, _ visitor: inout some RecordVisitor) throws {
        guard let held else { return try archive.readAgain(first, form, of: needed, &visitor) }
        try visit(held.records, &visitor)
    }

    /// Passes records that are held to `visitor`, and counts them as if they were read meanwhile.
    private func visit(_ records: HeldRecords, _ visitor: inout some RecordVisitor) throws {
        let (before, size) = (archive.opened.bytesRead, archive.opened.size)
        try records.visit(&visitor) { number, count in
            archive.opened.bytesRead = before + size * UInt64(number) / UInt64(count)
        }
    }

    /// Passes all items to `body`, of an archive that is or was visited completely, for what it says about that visit.
    ///
    /// - Throws: `ArchiveFailure`, and what `body` throws.
    func visitItems(_ body: (Item) throws -> Void) throws {
        guard let held else { return try archive.visitMetadata(body) }
        try held.records.visitItems(body)
    }
}
