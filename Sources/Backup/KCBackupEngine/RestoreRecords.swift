internal import KCBackupArchive
internal import KCByteStreams
internal import KCKeychainModel

/// The records of an archive or of other items, which a restore visits several times: to find alike items, to plan, and to
/// write.
///
/// A small archive is read once, to its end, and its records are held. So they are decrypted, decompressed and decoded once,
/// what is written are the bytes that were proved, and no change of the file concerns them. A larger one is read each time.
struct RestoreRecords {
    private enum Place {
        case archive(ProvenArchive)
        case held(HeldRecords, ReadStreams, of: ProvenArchive)
        case items(any ItemSource, to: Passage.Target)
    }

    /// The result of a visit of all records.
    struct Found {
        let contents: ArchiveContents
        /// Nil for items.
        fileprivate let streams: ReadStreams?
    }

    private let place: Place
    /// The form of the secrets.
    let form: SecretForm
    /// The items whose secrets must be known.
    let needed: SelectedSecrets

    /// Reads an archive if it may be held.
    ///
    /// - Parameters:
    ///   - filter: which items are restored; nil for all of them.
    ///   - target: where they are restored to.
    ///   - limit: how many bytes may be held; 0 for an archive that is to be read each time.
    /// - Throws: `ArchiveFailure`.
    init(
        of source: RestoreSource, _ form: SecretForm, _ filter: ItemFilter?, into target: Passage.Target,
        holding limit: Int
    ) throws {
        self.form = form
        switch source {
        case .items(let items):
            needed = .all
            // A keychain has places for items that are in no archive.
            place = .items(items, to: target == .keychain ? .keychain : .archive)
        case .archive(let archive):
            needed = try archive.selectedSecrets(of: filter)
            // Writing into another store may take minutes, and its progress is reported as bytes read.
            place = try (target == .keychain ? Self.held(archive, form, needed, limit) : nil) ?? .archive(archive)
        }
    }

    private static func held(
        _ archive: ProvenArchive, _ form: SecretForm, _ needed: SelectedSecrets, _ limit: Int
    ) throws -> Place? {
        // In the file, lines have a fourth of their size, or less, and secrets often all of it: a larger one would be read in
        // vain.
        let (size, metadata) = (archive.opened.size, archive.opened.metadataSize)
        let secretLimit = HeldRecords.secretLimit(lockable: SecretMemory.lockLimit)
        guard limit > 0, size <= UInt64(limit / 4), size - metadata <= UInt64(secretLimit) else { return nil }
        var records = HeldRecords(limit: limit, secretLimit: secretLimit)
        let before = archive.opened.bytesRead
        let streams = try archive.read(form, of: needed, &records)
        // Reading so little is no progress; what is done with it is.
        archive.opened.bytesRead = before
        return records.isComplete ? .held(records, streams, of: archive) : nil
    }

    /// Passes all records to `visitor`.
    ///
    /// - Returns: what was found, for `visitAgain`.
    /// - Throws: `ArchiveFailure`, and what the items and the visitor throw; nothing that the visitor received may be
    ///   trusted then.
    func visit(_ visitor: inout some RecordVisitor) throws -> Found {
        let streams: ReadStreams
        switch place {
        case .items(let items, let target):
            return Found(contents: try items.visitRecords(to: target, &visitor), streams: nil)
        case .archive(let archive): streams = try archive.read(form, of: needed, &visitor)
        case .held(let records, let read, let archive):
            try visit(records, of: archive, &visitor)
            streams = read
        }
        return Found(contents: streams.contents, streams: streams)
    }

    /// Passes all records to `visitor` again, which must be those that `visit` found.
    ///
    /// - Throws: as `visit`, and `damaged` if the archive has changed.
    func visitAgain(_ first: Found, _ visitor: inout some RecordVisitor) throws {
        if case .archive(let archive) = place, let streams = first.streams {
            return try archive.readAgain(streams, form, of: needed, &visitor)
        }
        _ = try visit(&visitor)
    }

    /// Passes records that are held to `visitor`, and counts them as if they were read meanwhile.
    private func visit(
        _ records: HeldRecords, of archive: ProvenArchive, _ visitor: inout some RecordVisitor
    ) throws {
        let (before, size) = (archive.opened.bytesRead, archive.opened.size)
        try records.visit(&visitor) { number, count in
            archive.opened.bytesRead = before + size * UInt64(number) / UInt64(count)
        }
    }

    /// Passes all items to `body`, of records that are or were visited completely, for what it says about that visit.
    ///
    /// - Throws: as `visit`, and what `body` throws.
    func visitItems(_ body: (Item) throws -> Void) throws {
        switch place {
        case .items(let items, let target):
            try withoutActuallyEscaping(body) { body in
                var visitor = ForwardingVisitor(forward: body)
                _ = try items.visitRecords(to: target, &visitor)
            }
        case .archive(let archive): try archive.visitMetadata(body)
        case .held(let records, _, _): try records.visitItems(body)
        }
    }
}
