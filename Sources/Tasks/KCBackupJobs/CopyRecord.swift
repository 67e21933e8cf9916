package import KCBackupArchive
package import KCBackupCatalogue
package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The known state of a job's copies in one folder of a remote.
package struct CopyRecord: Hashable, Sendable {
    /// The newest archive of a series that was copied.
    package struct Newest: Hashable, Sendable {
        package let name: ArchiveName
        /// The checksum of the file when it was copied: a rekey makes another file of the archive here.
        package let checksum: ArchiveChecksum
        /// When the archive was made.
        package let created: Timestamp
        /// When the copy was last read back and compared.
        package var verified: Timestamp
        /// 32 bytes, unique to the archive.
        package let archiveID: [UInt8]
        /// The size of the copy in bytes, as it was read back.
        package let size: UInt64
        /// The SHA-256 of the copy, as it was read back.
        package let digest: SHA256Digest
        /// The keys that open the copy, as in `CatalogueEntry.File`; empty if they were not known.
        package let keys: [String]
        /// The items in it; nil if that was not known.
        package let counts: ItemCounts?

        /// Describes a copy that has just been read back.
        package init(
            _ entry: CatalogueEntry, named name: ArchiveName, size: UInt64, digest: SHA256Digest, verified: Timestamp
        ) {
            self.init(
                name: name, checksum: entry.file.checksum, created: entry.created, verified: verified,
                archiveID: entry.archiveID, size: size, digest: digest, keys: entry.file.keys,
                counts: entry.content?.counts)
        }

        fileprivate init(
            name: ArchiveName, checksum: ArchiveChecksum, created: Timestamp, verified: Timestamp,
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
    /// The newest copies, by the series of their archives.
    package var newest: [ExactText: Newest] = [:]
    /// The copies to read back again whenever they are there, since they were not what they should be, or that could not be
    /// told; others may be newer.
    package var doubtful: [Newest] = []
    /// The archives of the folder that were copied and, as far as is known, are still there, by their names.
    package var copied: Set<ExactText> = []
    /// The archives that need not be there: they are older than the newest one of the first try, or their copies were
    /// gone when they were not the newest.
    package var passed: Set<ExactText> = []
    /// The newest copies that the last run found to be gone.
    package var gone: [String] = []
    /// The number of copies that there were, if the last run found none of them; 0 otherwise.
    package var lost = 0

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

    /// When the newest copies were last read back and compared: the oldest of these times.
    package var verified: Timestamp? { newest.values.map(\.verified).min() }

    /// When the oldest archive was made of which a copy is there, as far as is known.
    package var oldest: Timestamp? { copied.compactMap { ArchiveName($0.string)?.time }.min() }

    /// Refuses a folder that has none of the copies that it held: its disk may not be mounted, or another one may be.
    ///
    /// Nothing is noted of a folder that is refused, so that it is refused until a copy is there again.
    ///
    /// - Parameter files: the names of the files in the folder.
    /// - Throws: `JobFailure.copiesGone` if there were some, and none of them is among the files.
    package func requireCopies(among files: Set<ExactText>, of job: String) throws(JobFailure) {
        let known = copied.union(newest.values.map(\.name.fileName.exact))
        if known.isEmpty || !known.isDisjoint(with: files) { return }
        throw .copiesGone(job: job, to: to, copies: known.count)
    }

    /// True if an archive is still to be copied: no run has copied it, or its copy turned out to be another file.
    package func misses(_ entry: CatalogueEntry) -> Bool {
        let name = entry.name.exact
        return !copied.contains(name) && !passed.contains(name)
    }
}

/// The lines of the records in their `StateFile`, each beginning with `to`; `file` has the size of the copy, its SHA-256
/// and the ID of the archive. After the newest copies come the doubtful ones, with `doubtful` in place of `newest`.
///
/// ```
/// to nas:backups
/// tried 2026-11-21T03:00:07.120000Z
/// good 2026-11-21T03:00:07.120000Z
/// copied login-KC-BXI34FJM-20261121T030000Z.kcb
/// newest 2026-11-21T03:00:00.250000Z 2026-11-21T03:00:07.120000Z 4be0… login-KC-BXI34FJM-20261121T030000Z.kcb
/// file 91230 93b8… f1c0…
/// items {"genp":400,"inet":12,"cert":0,"keys":0}
/// key age1…
/// ```
extension CopyRecord {
    package static func fields(_ records: [CopyRecord]) -> StateFields {
        var fields = StateFields()
        for record in records {
            fields.add("to", record.to)
            fields.add("tried", record.tried.description)
            if let failed = record.failed {
                fields.add("failed", "\(failed.outcome.code) \(RunRecord.oneLine(failed.message))")
                fields.add("hint", failed.hints.map(RunRecord.oneLine))
            }
            fields.add("good", record.good?.description)
            fields.add("gone", record.gone.map(RunRecord.oneLine))
            if record.lost > 0 { fields.add("lost", String(record.lost)) }
            fields.add("passed", record.passed.sorted().map(\.string))
            fields.add("copied", record.copied.sorted().map(\.string))
            for (_, newest) in record.newest.sorted(by: { $0.key < $1.key }) {
                newest.add(as: newestName, to: &fields)
            }
            for copy in record.doubtful { copy.add(as: doubtfulName, to: &fields) }
        }
        return fields
    }

    private static let newestName = "newest"
    private static let doubtfulName = "doubtful"

    /// Parses what `fields` returns; nil for anything else.
    package static func records(_ fields: StateFields) -> [CopyRecord]? {
        let (before, groups) = parts(of: fields.fields, beginningWith: "to")
        guard before.isEmpty else { return nil }
        var records: [CopyRecord] = []
        for group in groups {
            guard let record = CopyRecord(group) else { return nil }
            records.append(record)
        }
        guard self.fields(records) == fields else { return nil }
        return records
    }

    /// The lines before the first with a name, and those from each line with that name on.
    private static func parts(
        of fields: [StateFields.Field], beginningWith name: String
    ) -> (before: [StateFields.Field], parts: [[StateFields.Field]]) {
        let starts = fields.indices.filter { fields[$0].name.exact == name.exact }
        let ends = starts.dropFirst() + [fields.endIndex]
        return (
            Array(fields[..<(starts.first ?? fields.endIndex)]),
            zip(starts, ends).map { Array(fields[$0..<$1]) }
        )
    }

    private init?(_ group: [StateFields.Field]) {
        let (rest, doubtfulParts) = Self.parts(of: group, beginningWith: Self.doubtfulName)
        let (own, newestParts) = Self.parts(of: rest, beginningWith: Self.newestName)
        func values(_ name: String) -> [String] { own.filter { $0.name.exact == name.exact }.map(\.value) }
        guard let to = values("to").first, let tried = values("tried").first.flatMap(Timestamp.init) else { return nil }
        self.init(to: to, tried: tried)
        good = values("good").first.flatMap(Timestamp.init)
        gone = values("gone")
        lost = values("lost").first.flatMap { Int($0) } ?? 0
        passed = Set(values("passed").map(\.exact))
        copied = Set(values("copied").map(\.exact))
        if let failed = values("failed").first {
            guard let failed = Failed(failed, hints: values("hint")) else { return nil }
            self.failed = failed
        }
        for part in newestParts {
            guard let copied = Newest(part, as: Self.newestName) else { return nil }
            newest[copied.name.series.exact] = copied
        }
        for part in doubtfulParts {
            guard let copied = Newest(part, as: Self.doubtfulName) else { return nil }
            doubtful.append(copied)
        }
    }
}

extension CopyRecord.Newest {
    fileprivate func add(as line: String, to fields: inout StateFields) {
        fields.add(line, "\(created) \(verified) \(checksum.digest.hex) \(name.fileName)")
        fields.add("file", "\(size) \(digest.hex) \(Hexadecimal.encode(archiveID))")
        if let counts {
            var line: [UInt8] = []
            counts.encode(into: &line)
            fields.add("items", String(decoding: line, as: UTF8.self))
        }
        fields.add("key", keys)
    }

    fileprivate init?(_ fields: [StateFields.Field], as line: String) {
        func values(_ name: String) -> [String] { fields.filter { $0.name.exact == name.exact }.map(\.value) }
        guard let parts = values(line).first?.exact.split(separator: " ", maxSplits: 3), parts.count == 4,
            let created = Timestamp(parts[0]), let verified = Timestamp(parts[1]),
            let checksum = SHA256Digest(hex: parts[2]), let name = ArchiveName(parts[3]),
            let file = values("file").first?.exact.split(separator: " "), file.count == 3,
            let size = UInt64(file[0]), let digest = SHA256Digest(hex: file[1]),
            let archiveID = Hexadecimal.decode(file[2])
        else { return nil }
        var counts: ItemCounts?
        if let line = values("items").first {
            do throws(MalformedLine) {
                var scanner = CanonicalScanner()
                let bytes = Array(line.utf8)
                counts = try ItemCounts(&scanner, in: bytes.span)
                try scanner.end(in: bytes.span)
            } catch {
                return nil
            }
        }
        self.init(
            name: name, checksum: ArchiveChecksum(checksum), created: created, verified: verified,
            archiveID: archiveID, size: size, digest: digest, keys: values("key"), counts: counts)
    }
}
