package import KeychainModel

/// One archive of a folder, as the catalogue knows it.
package struct CatalogueEntry: Hashable, Sendable {
    /// How far its making, or its removal, has come.
    package enum State: String, CaseIterable, Sendable {
        /// It is about to get its name.
        case writing
        case complete
        /// It is in the trash of its folder.
        case trashed
    }

    /// The name of the file, in its folder.
    package let name: String
    /// 32 bytes that no other archive shares.
    package let archiveID: [UInt8]
    /// When the archive was made, by the clock of its device.
    package let created: Timestamp
    /// The name that archives of one keychain share: the first part of their file names.
    package let series: String
    package let mode: ArchiveMode
    /// What opens it, as in `BackupPin`; empty where that is not known any more.
    package let keys: [String]
    /// Its size in bytes.
    package let size: UInt64
    /// What is in it; nil after the catalogue was rebuilt, since only a key shows that.
    package let content: Content?
    package var state: State
    /// When it was last read to its last byte.
    package var verified: Timestamp
    /// When it was last restored for a trial.
    package var drilled: Timestamp?
    /// When a backup last found that nothing had changed since.
    package var confirmed: Timestamp?
    /// When it was put into the trash.
    package var trashed: Timestamp?

    /// What is in an archive.
    package struct Content: Hashable, Sendable {
        package let counts: ItemCounts
        /// The items of each access group.
        package let groups: [String: Int]
        /// The items that could not be read when it was made.
        package let damaged: Int
        /// See `FinishedArchive.fingerprint`.
        package let fingerprint: [UInt8]

        /// Describes a content.
        package init(counts: ItemCounts, groups: [String: Int], damaged: Int, fingerprint: [UInt8]) {
            self.counts = counts
            self.groups = groups
            self.damaged = damaged
            self.fingerprint = fingerprint
        }
    }

    /// Describes an archive.
    package init(
        name: String, archiveID: [UInt8], created: Timestamp, series: String, mode: ArchiveMode, keys: [String],
        size: UInt64, content: Content?, state: State, verified: Timestamp
    ) {
        self.name = name
        self.archiveID = archiveID
        self.created = created
        self.series = series
        self.mode = mode
        self.keys = keys
        self.size = size
        self.content = content
        self.state = state
        self.verified = verified
    }

    /// The entry of the same archive with other keys.
    func rekeyed(_ keys: [String], size: UInt64, verified: Timestamp) -> CatalogueEntry {
        var entry = CatalogueEntry(
            name: name, archiveID: archiveID, created: created, series: series, mode: mode, keys: keys, size: size,
            content: content, state: state, verified: verified)
        entry.drilled = drilled
        entry.confirmed = confirmed
        return entry
    }

    /// False when items could not be read when it was made; nil where that is not known.
    package var isComplete: Bool? { content.map { $0.damaged == 0 } }

    /// The last time that a backup ended well with this archive as its result.
    package var lastGood: Timestamp { max(created, confirmed ?? created) }
}

/// What all backups in a folder have in common; a run that would switch silently is refused.
package struct BackupPin: Hashable, Sendable {
    /// True when all keychains of the user are backed up to the folder.
    package var isOfAll: Bool
    package var mode: ArchiveMode
    /// What opens the archives, sorted: public keys, `inspect:` with a public key, `passphrase`.
    package var keys: [String]
    /// What each series is of: the ID of a keychain's file, in hexadecimal, or the path of a file of items.
    package var subjects: [String: String]

    /// Describes what a run is going to do.
    package init(isOfAll: Bool, mode: ArchiveMode, keys: [String], subjects: [String: String]) {
        self.isOfAll = isOfAll
        self.mode = mode
        self.keys = keys.sorted()
        self.subjects = subjects
    }

    /// The first difference between what the folder is for and what a run is going to do; nil if there is none.
    ///
    /// Where all keychains are backed up, a new keychain is no difference.
    package func difference(from run: BackupPin) -> Difference? {
        if mode != run.mode { return .mode(was: mode) }
        if keys != run.keys {
            return .keys(
                lost: keys.filter { !run.keys.contains($0) }.count, added: run.keys.filter { !keys.contains($0) }.count)
        }
        // Of all keychains, one that was replaced fails for itself.
        if isOfAll, run.isOfAll { return nil }
        for (series, subject) in run.subjects.sorted(by: { $0.key < $1.key }) {
            if let known = subjects[series], known != subject { return .replaced(series: series) }
            if subjects[series] == nil, !isOfAll { return .otherKeychain(was: subjects.keys.sorted()) }
        }
        if isOfAll, !run.isOfAll { return .oneOfAll }
        return nil
    }

    /// What a run would switch.
    package enum Difference: Hashable, Sendable {
        case mode(was: ArchiveMode)
        case keys(lost: Int, added: Int)
        /// Another keychain than the one that the folder is for.
        case otherKeychain(was: [String])
        /// A keychain that has the name of the one before, and is another.
        case replaced(series: String)
        /// One keychain where all of them were backed up.
        case oneOfAll
    }

    /// What the folder is for after a run that may switch.
    func following(_ run: BackupPin) -> BackupPin {
        BackupPin(
            isOfAll: run.isOfAll, mode: run.mode, keys: run.keys,
            subjects: run.isOfAll || isOfAll == run.isOfAll && subjects.keys == run.subjects.keys
                ? subjects.merging(run.subjects) { $1 } : run.subjects)
    }
}
