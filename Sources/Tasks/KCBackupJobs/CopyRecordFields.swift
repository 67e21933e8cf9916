internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel

/// The lines of the records in their `StateFile`, each beginning with `to`; `copy` has the times when the archive was made and
/// the copy was read back, or a hyphen, and the checksum and the name of the archive; `file` the size of the copy, its
/// SHA-256 and the ID of the archive; `is` what is wrong with it.
///
/// ```
/// to nas:backups
/// tried 2026-11-21T03:00:07.120000Z
/// good 2026-11-21T03:00:07.120000Z
/// copy 2026-11-21T03:00:00.250000Z 2026-11-21T03:00:07.120000Z 4be0… login-KC-BXI34FJM-20261121T030000Z.kcb
/// file 91230 93b8… f1c0…
/// is missing
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
            fields.add("untold", record.untold.map(RunRecord.oneLine))
            if record.lost > 0 { fields.add("lost", String(record.lost)) }
            if record.isUnlisted { fields.add("unlisted", "") }
            fields.add("passed", record.passed.sorted().map(\.string))
            for copy in record.copies { copy.add(to: &fields) }
        }
        return fields
    }

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
        let (own, parts) = Self.parts(of: group, beginningWith: Copy.line)
        func values(_ name: String) -> [String] { own.filter { $0.name.exact == name.exact }.map(\.value) }
        guard let to = values("to").first, let tried = values("tried").first.flatMap(Timestamp.init) else { return nil }
        self.init(to: to, tried: tried)
        good = values("good").first.flatMap(Timestamp.init)
        gone = values("gone")
        untold = values("untold")
        lost = values("lost").first.flatMap { Int($0) } ?? 0
        isUnlisted = !values("unlisted").isEmpty
        passed = Set(values("passed").map(\.exact))
        if let failed = values("failed").first {
            guard let failed = Failed(failed, hints: values("hint")) else { return nil }
            self.failed = failed
        }
        for part in parts {
            guard let copy = Copy(part) else { return nil }
            copies.append(copy)
        }
    }
}

extension CopyRecord.Copy {
    fileprivate static let line = "copy"

    fileprivate func add(to fields: inout StateFields) {
        let verified = verified?.description ?? "-"
        fields.add(Self.line, "\(created) \(verified) \(checksum.digest.hex) \(name.fileName)")
        fields.add("file", "\(size) \(digest.hex) \(Hexadecimal.encode(archiveID))")
        fields.add("is", (isThere ? [] : ["missing"]) + (isDoubtful ? ["doubtful"] : []))
        if let counts {
            var line: [UInt8] = []
            counts.encode(into: &line)
            fields.add("items", String(decoding: line, as: UTF8.self))
        }
        fields.add("key", keys)
    }

    fileprivate init?(_ fields: [StateFields.Field]) {
        func values(_ name: String) -> [String] { fields.filter { $0.name.exact == name.exact }.map(\.value) }
        guard let parts = values(Self.line).first?.exact.split(separator: " ", maxSplits: 3), parts.count == 4,
            let created = Timestamp(parts[0]), let checksum = SHA256Digest(hex: parts[2]),
            let name = ArchiveName(parts[3]),
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
            name: name, checksum: ArchiveChecksum(checksum), created: created, verified: Timestamp(parts[1]),
            archiveID: archiveID, size: size, digest: digest, keys: values("key"), counts: counts)
        isThere = !values("is").contains { $0.exact == "missing" }
        isDoubtful = values("is").contains { $0.exact == "doubtful" }
    }
}
