package import KCBackupArchive
package import KCBackupCatalogue
package import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// What is known about a job's copies in one folder of a remote.
package struct CopyRecord: Hashable, Sendable {
    /// The newest archive of a series that was copied.
    package struct Newest: Hashable, Sendable {
        package let name: ArchiveName
        /// What the file was when it was copied: a rekey makes another file of the archive here.
        package let checksum: ArchiveChecksum
        /// When the archive was made.
        package let created: Timestamp
        /// When the copy was last read back and compared.
        package var verified: Timestamp

        /// Creates a description of a copy.
        package init(name: ArchiveName, checksum: ArchiveChecksum, created: Timestamp, verified: Timestamp) {
            self.name = name
            self.checksum = checksum
            self.created = created
            self.verified = verified
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
    }

    /// The folder, as `REMOTE:PATH`.
    package let to: String
    /// When a run last tried to copy.
    package var tried: Timestamp
    /// Why it failed; nil if it did not.
    package var failed: Failed?
    /// When all archives that were due were last there.
    package var good: Timestamp?
    /// The newest copies, by the series of their archives.
    package var newest: [ExactText: Newest] = [:]

    /// Creates the record of a first try.
    package init(to: String, tried: Timestamp) {
        self.to = to
        self.tried = tried
    }

    /// When the newest copies were last read back and compared: the oldest of these times.
    package var verified: Timestamp? { newest.values.map(\.verified).min() }
}

/// The lines of the records in their `StateFile`, each beginning with `to`.
///
/// ```
/// to nas:backups
/// tried 2026-11-21T03:00:07.120000Z
/// good 2026-11-21T03:00:07.120000Z
/// newest 2026-11-21T03:00:00.250000Z 2026-11-21T03:00:07.120000Z 4be0… login-KC-BXI34FJM-20261121T030000Z.kcb
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
            for (_, newest) in record.newest.sorted(by: { $0.key < $1.key }) {
                fields.add(
                    "newest",
                    "\(newest.created) \(newest.verified) \(newest.checksum.digest.hex) \(newest.name.fileName)")
            }
        }
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    package static func records(_ fields: StateFields) -> [CopyRecord]? {
        var groups: [[StateFields.Field]] = []
        for field in fields.fields {
            if field.name.exact == "to" {
                groups.append([field])
            } else if groups.isEmpty {
                return nil
            } else {
                groups[groups.count - 1].append(field)
            }
        }
        var records: [CopyRecord] = []
        for group in groups {
            guard let record = CopyRecord(group) else { return nil }
            records.append(record)
        }
        guard self.fields(records) == fields else { return nil }
        return records
    }

    private init?(_ group: [StateFields.Field]) {
        func values(_ name: String) -> [String] { group.filter { $0.name.exact == name.exact }.map(\.value) }
        guard let to = values("to").first, let tried = values("tried").first.flatMap(Timestamp.init) else { return nil }
        self.init(to: to, tried: tried)
        good = values("good").first.flatMap(Timestamp.init)
        if let failed = values("failed").first {
            let parts = failed.exact.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let code = Int32(parts[0]) else { return nil }
            self.failed = Failed(RunOutcome(code: code), message: parts[1], hints: values("hint"))
        }
        for line in values("newest") {
            guard let copied = Newest(line) else { return nil }
            newest[copied.name.series.exact] = copied
        }
    }
}

extension CopyRecord.Newest {
    fileprivate init?(_ line: String) {
        let parts = line.exact.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let created = Timestamp(parts[0]), let verified = Timestamp(parts[1]),
            let digest = SHA256Digest(hex: parts[2]), let name = ArchiveName(parts[3])
        else { return nil }
        self.init(name: name, checksum: ArchiveChecksum(digest), created: created, verified: verified)
    }
}
