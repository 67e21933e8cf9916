package import KCBackupArchive
package import KCByteStreams
package import KCKeychainModel

/// An archive in a backup folder, as recorded in the catalogue.
package struct CatalogueEntry: Hashable, Sendable {
    /// The progress of creating or removing an archive.
    package enum State: String, CaseIterable, Sendable {
        /// The archive is about to be given its name.
        case writing
        case complete
        /// The archive is in the folder's trash.
        case trashed
    }

    /// The identity of an archive in a folder: a copy of the archive under another name is another one.
    package struct ID: Hashable, Sendable {
        package let name: ExactText
        package let archiveID: [UInt8]
    }

    /// The file name, within the folder.
    package let name: String
    /// 32 bytes, unique to this archive.
    package let archiveID: [UInt8]
    /// When the archive was made, by the clock of the device that made it.
    package let created: Timestamp
    /// The name shared by all archives of one keychain: the first part of their file names.
    package let series: String
    package let mode: ArchiveMode
    package internal(set) var file: File
    /// The file that a rekey is about to put in the place of `file`.
    package internal(set) var nextFile: File?
    /// The contents of the archive; nil until they are read, if the catalogue was rebuilt and reading takes a key.
    ///
    /// If they are known, so is the keychain: the series is not only what the name of the file says.
    package internal(set) var content: Content?
    package var state: State
    /// When the archive was last read to its last byte and found intact.
    package var verified: Timestamp { didSet { foundDamaged = nil } }
    /// When the archive last passed a trial restore.
    package var drilled: Timestamp?
    /// When a backup last found nothing changed since this archive.
    package var confirmed: Timestamp?
    /// When the archive was moved to the trash.
    package var trashed: Removal?
    /// When the archive was read and found damaged; nil once it has been found intact again.
    ///
    /// If the size is unchanged, only reading the whole file reveals damage.
    package internal(set) var foundDamaged: Timestamp?

    /// The file of an archive, which a rekey replaces by another one.
    package struct File: Hashable, Sendable {
        /// The keys that open the file, as in `BackupPin`; empty if they are not known anymore.
        package let keys: [String]
        /// The size in bytes.
        package let size: UInt64
        /// The checksum that distinguishes the file from all others, also from one of the same archive with other keys.
        package let checksum: ArchiveChecksum

        /// Creates a description of a file.
        package init(keys: [String], size: UInt64, checksum: ArchiveChecksum) {
            self.keys = keys
            self.size = size
            self.checksum = checksum
        }
    }

    /// A summary of the contents of an archive.
    package struct Content: Hashable, Sendable {
        package let counts: ItemCounts
        /// The number of items in each access group.
        package let groups: [ExactText: Int]
        /// The number of items that could not be read when the archive was made.
        package let damaged: Int
        /// See `FinishedArchive.fingerprint`.
        package let fingerprint: [UInt8]
        /// The state of the store when it last had these contents (`StoreState.digest`); nil if it has none.
        package internal(set) var state: [UInt8]?

        /// Creates a description of an archive's contents.
        package init(
            counts: ItemCounts, groups: [ExactText: Int], damaged: Int, fingerprint: [UInt8], state: [UInt8]? = nil
        ) {
            self.counts = counts
            self.groups = groups
            self.damaged = damaged
            self.fingerprint = fingerprint
            self.state = state
        }
    }

    /// Creates an entry.
    package init(
        name: String, archiveID: [UInt8], created: Timestamp, series: String, mode: ArchiveMode, file: File,
        content: Content?, state: State, verified: Timestamp
    ) {
        self.name = name
        self.archiveID = archiveID
        self.created = created
        self.series = series
        self.mode = mode
        self.file = file
        self.content = content
        self.state = state
        self.verified = verified
    }

    /// The identity of the archive in its folder.
    package var id: ID { ID(name: name.exact, archiveID: archiveID) }

    /// False if some items could not be read when the archive was made; nil if that is unknown.
    package var isComplete: Bool? { content.map { $0.damaged == 0 } }

    /// True if nothing is known to be missing from it, or damaged in it.
    package var isGood: Bool { isComplete != false && foundDamaged == nil }

    /// The last time that a successful backup created or confirmed this archive.
    package var lastGood: Timestamp { max(created, confirmed ?? created) }

    /// The same, of the times that are not in the future; nil if all are.
    package func lastGood(at now: Timestamp) -> Timestamp? {
        [created, confirmed].compactMap(\.self).filter { $0 <= Self.latest(at: now) }.max()
    }

    /// The latest time that is trusted: one in the future is not, except from a clock that was slightly fast.
    package static func latest(at now: Timestamp) -> Timestamp { now.advanced(byMicroseconds: 3_600_000_000) }
}

/// The common properties of all backups in a folder; a run that would change them is refused unless the user allows it.
package struct BackupPin: Hashable, Sendable {
    /// True if the folder is used to back up all keychains of the user.
    package var isOfAll: Bool
    package var mode: ArchiveMode
    /// The keys that open the archives, sorted: public keys, `inspect:` with a public key, `passphrase`.
    package var keys: [String]
    /// The keys that come and go without a switch, since the device itself keeps their list; known for a run alone.
    package var kits: Set<ExactText> = []
    /// The series whose keychain was moved, with no copy left at the recorded place; not stored.
    package var moved: Set<ExactText> = []
    /// The subject of each series: that of a keychain as `KeychainSubject.text`, the path of a file of items, or
    /// `unknownSubject`.
    package var subjects: [ExactText: String]

    /// The subject of a series of which only the names of archives tell, since the catalogue was rebuilt.
    static let unknownSubject = ""

    /// Creates the pin for a run.
    package init(
        isOfAll: Bool, mode: ArchiveMode, keys: [String], kits: Set<ExactText> = [], subjects: [ExactText: String],
        moved: Set<ExactText> = []
    ) {
        self.isOfAll = isOfAll
        self.mode = mode
        self.keys = keys.sorted()
        self.kits = kits
        self.subjects = subjects
        self.moved = moved
    }

    /// Returns the first difference between what the folder is used for and what a run would do; nil if there is none.
    ///
    /// If all keychains are backed up, a new keychain is not a difference.
    package func difference(from run: BackupPin) -> Difference? {
        if mode != run.mode { return .mode(was: mode) }
        let was = keys.filter { !run.kits.contains($0.exact) }
        let now = run.keys.filter { !run.kits.contains($0.exact) }
        if was != now {
            return .keys(lost: was.filter { !now.contains($0) }.count, added: now.filter { !was.contains($0) }.count)
        }
        // In a run over all keychains, a replaced keychain fails on its own, not the whole run.
        if isOfAll, run.isOfAll { return nil }
        for (series, subject) in run.subjects.sorted(by: { $0.key < $1.key }) {
            if !run.moved.contains(series),
                let difference = Self.difference(of: subject, in: series, from: subjects[series])
            {
                return difference
            }
            if subjects[series] == nil, !isOfAll { return .otherKeychain(was: subjects.keys.sorted().map(\.string)) }
        }
        if isOfAll, !run.isOfAll { return .oneOfAll }
        return nil
    }

    /// How the subject of a series, which was not moved, differs from the known one; nil if it does not.
    ///
    /// - Parameter known: its subject so far; nil for none.
    package static func difference(of subject: String, in series: ExactText, from known: String?) -> Difference? {
        guard differs(subject, from: known) else { return nil }
        if let now = KeychainSubject(subject), let was = known.flatMap({ KeychainSubject($0) }),
            now.isElsewhere(than: was)
        {
            return .copied(series: series.string, place: was.place)
        }
        return .replaced(series: series.string)
    }

    /// True if a series is known to have been of another subject.
    ///
    /// - Parameter known: its subject so far; nil for none.
    package static func differs(_ subject: String, from known: String?) -> Bool {
        guard let known, known.exact != unknownSubject.exact else { return false }
        return known.exact != subject.exact
    }

    /// The switch that a run would make.
    package enum Difference: Hashable, Sendable {
        case mode(was: ArchiveMode)
        case keys(lost: Int, added: Int)
        /// A keychain other than the one that the folder is used for.
        case otherKeychain(was: [String])
        /// A keychain with the same name as the previous one, but another ID.
        case replaced(series: String)
        /// A keychain with the same ID as the previous one, which is still at its place: one is a copy of the other.
        ///
        /// The place is nil in the data folder.
        case copied(series: String, place: String?)
        /// A single keychain, in a folder used for all of them.
        case oneOfAll
    }

    /// Returns the pin of the folder after a run that may switch.
    func following(_ run: BackupPin) -> BackupPin {
        BackupPin(
            isOfAll: run.isOfAll, mode: run.mode, keys: run.keys,
            subjects: run.isOfAll || isOfAll == run.isOfAll && subjects.keys == run.subjects.keys
                ? subjects.merging(run.subjects) { $1 } : run.subjects)
    }
}
