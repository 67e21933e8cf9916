package import KCBackupArchive
package import KCBackupCatalogue
package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// The known state of a job's copies in one folder of a remote.
package struct CopyRecord: Hashable, Sendable {
    /// A copy of an archive.
    package struct Copy: Hashable, Sendable {
        package let name: ArchiveName
        /// The checksum of the file when it was copied: a rekey makes another file of the archive here.
        package let checksum: ArchiveChecksum
        /// When the archive was made.
        package let created: Timestamp
        /// When the copy was last read back and compared; nil if it never was, since that is not allowed.
        package var verified: Timestamp?
        /// 32 bytes, unique to the archive.
        package let archiveID: [UInt8]
        /// The size of the copy in bytes.
        package let size: UInt64
        /// The SHA-256 of the copy.
        package let digest: SHA256Digest
        /// The keys that open the copy, as in `CatalogueEntry.File`; empty if they were not known.
        package let keys: [String]
        /// The items in it; nil if that was not known.
        package let counts: ItemCounts?
        /// True if it was there when a run last looked.
        package var isThere = true
        /// True if it was not what it should be, and was not read back since.
        package var isDoubtful = false

        /// Describes a copy that has just been made or compared.
        package init(
            _ entry: CatalogueEntry, named name: ArchiveName, size: UInt64, digest: SHA256Digest, verified: Timestamp?
        ) {
            self.init(
                name: name, checksum: entry.file.checksum, created: entry.created, verified: verified,
                archiveID: entry.archiveID, size: size, digest: digest, keys: entry.file.keys,
                counts: entry.content?.counts)
        }

        init(
            name: ArchiveName, checksum: ArchiveChecksum, created: Timestamp, verified: Timestamp?,
            archiveID: [UInt8], size: UInt64, digest: SHA256Digest, keys: [String], counts: ItemCounts?
        ) {
            self.name = name
            self.checksum = checksum
            self.created = created
            self.verified = verified
            self.archiveID = archiveID
            self.size = size
            self.digest = digest
            self.keys = keys
            self.counts = counts
        }

        /// The name of its file.
        package var file: ExactText { name.fileName.exact }
        /// True if it is there, as far as is known, and nothing speaks against it.
        package var isGood: Bool { isThere && !isDoubtful }
    }

    /// Why a try failed.
    package struct Failed: Hashable, Sendable {
        package let outcome: RunOutcome
        package let message: String
        package let hints: [String]

        /// Creates a description of a failure.
        package init(_ outcome: RunOutcome, message: String, hints: [String]) {
            self.outcome = outcome
            self.message = message
            self.hints = hints
        }

        /// Parses a line with the number of a status and a message; nil for anything else.
        init?(_ line: String, hints: [String]) {
            let parts = line.exact.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let code = Int32(parts[0]) else { return nil }
            self.init(RunOutcome(code: code), message: parts[1], hints: hints)
        }
    }

    /// The folder, as `REMOTE:PATH` or an absolute path.
    package let to: String
    /// When a run last tried to copy.
    package var tried: Timestamp
    /// Why it failed; nil if it did not.
    package var failed: Failed?
    /// When all archives that were due were last there.
    package var good: Timestamp?
    /// The copies, in the order in which their archives were made, also of archives that are not here anymore.
    package var copies: [Copy] = []
    /// The archives that need not be there: they are older than the newest one of the first try, or a rule of the remote may
    /// have removed their copies.
    package var passed: Set<ExactText> = []
    /// The newest copies that the last run found to be gone.
    package var gone: [String] = []
    /// The copies that no rule by age removed, and of which no run has said so at its end.
    package var untold: [String] = []
    /// The number of copies that there were, if the last run found none of them; 0 otherwise.
    package var lost = 0
    /// True if the credentials may not list the folder, and never could since its first copy.
    package var isUnlisted = false

    /// Creates the record of a first try.
    ///
    /// - Parameter entries: the complete archives of the folder then, in the order in which they were made.
    package init(to: String, tried: Timestamp, knowing entries: [CatalogueEntry] = []) {
        self.to = to
        self.tried = tried
        for entries in Dictionary(grouping: entries, by: \.series.exact).values {
            passed.formUnion(Set(entries.map(\.name.exact)).subtracting(CopyPlan.newest(of: entries)))
        }
    }

    /// The newest copy of each series of archives, whether it is there or not.
    package var newest: [ExactText: Copy] {
        Dictionary(copies.map { ($0.name.series.exact, $0) }) { _, last in last }
    }

    /// The copies that are there, and whole, as far as is known; none of a folder that has lost all.
    package var there: [Copy] { lost > 0 ? [] : copies.filter(\.isGood) }

    /// The number of copies that were there, are gone, and could not be made again.
    package var missing: Int { lost > 0 ? copies.count : copies.count { !$0.isThere } }

    /// The number of copies that are there, and are other files than they should be.
    package var damaged: Int { lost > 0 ? 0 : copies.count { $0.isThere && $0.isDoubtful } }

    /// The number of copies that were never read back.
    package var unread: Int { there.count { $0.verified == nil } }

    /// When the copy was read back that was not for the longest time; nil if one never was, or there is none.
    package var verified: Timestamp? {
        let times = there.map(\.verified)
        return times.contains(nil) ? nil : times.compactMap { $0 }.min()
    }

    /// When the oldest archive was made of which a copy is there.
    package var oldest: Timestamp? { there.map(\.created).min() }

    /// True if the copy that was made last was read back.
    var couldRead: Bool { copies.last?.verified != nil }

    /// True if credentials that may not list the folder are meant, since they never could.
    package var mayBeUnlisted: Bool { isUnlisted || copies.isEmpty }

    /// Refuses a folder that has none of the copies that it held: its disk may not be mounted, or another one may be.
    ///
    /// Nothing is noted of a folder that is refused, so that it is refused until a copy is there again.
    ///
    /// - Parameter files: the names of the files in the folder.
    /// - Throws: `JobFailure.copiesGone` if there were some, and none of them is among the files.
    package func requireCopies(among files: Set<ExactText>, of job: String) throws(JobFailure) {
        let known = Set(copies.map(\.file))
        if known.isEmpty || !known.isDisjoint(with: files) { return }
        throw .copiesGone(job: job, to: to, copies: known.count)
    }

    /// The archives that are not to be copied anymore; all others were never copied, or their copies are gone or other files.
    package var settled: Set<ExactText> {
        let good = Set(copies.filter(\.isGood).map(\.file)).union(passed)
        // No rule removes the newest archives here until it is known where their copies are.
        return lost == 0 ? good : good.subtracting(newest.values.map(\.file))
    }
}
