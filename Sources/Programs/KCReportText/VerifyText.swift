package import KCBackupArchive
package import KCBackupEngine
internal import KCKeychainModel

/// Describes an archive that `verify` opened.
package struct VerifyText {
    let outline: ArchiveOutline
    let path: String
    let proven: ProvenArchive
    let contents: ArchiveContents
    /// Nil if the key opens only the metadata.
    let report: VerifyReport?
    /// Nil if there was no trial restore.
    let drill: DrillReport?
    /// The way to make secrets readable that were not opened, although this device made the archive.
    let remedy: String

    /// Creates a description; the properties describe the parameters.
    package init(
        outline: ArchiveOutline, path: String, proven: ProvenArchive, contents: ArchiveContents,
        report: VerifyReport?, drill: DrillReport?, remedy: String
    ) {
        self.outline = outline
        self.path = path
        self.proven = proven
        self.contents = contents
        self.report = report
        self.drill = drill
        self.remedy = remedy
    }

    /// The JSON object of `verify`.
    package var json: JSONValue {
        .members([
            ("archive", outline.json(path)), ("verified", .flag(report != nil)), ("outsideVerified", true),
            ("metadataVerified", true), ("origin", proven.origin.json), ("contents", contents.json),
            ("opened", report.map { .number($0.opened) }),
            ("sealedElsewhere", report.map { .number($0.sealedElsewhere) }),
            ("notOpened", report.map { .number($0.notOpened) }),
            ("broken", report.map { .list($0.broken.map { .item($0) }) }), ("drill", drill?.json),
        ])
    }

    /// The lines of the result.
    package var lines: [String] {
        var lines = ["\(displayed(path)): genuine, \(counted(contents.counts.total, "item"))\n"]
        lines.append("origin: \(proven.origin.words)\n")
        if let report {
            if report.opened > 0 { lines.append("\(counted(report.opened, "item")) opened\n") }
            if report.sealedElsewhere > 0 {
                lines.append("\(counted(report.sealedElsewhere, "item")) sealed for the device that made the archive\n")
            }
            if report.notOpened > 0 {
                let reason =
                    proven.isFromThisDevice
                    ? remedy
                    : "only device \(outline.header.device) can"
                lines.append("\(counted(report.notOpened, "item")) not opened: \(reason)\n")
            }
            if !report.broken.isEmpty {
                lines.append(
                    "\(counted(report.broken.count, "item")) with a broken seal, damaged before the archive was made\n")
            }
        } else {
            lines.append("the key opens the metadata alone: secrets were not verified\n")
        }
        if !contents.isComplete {
            lines.append(lackingWords(contents.damaged) + "\n")
        }
        if let drill { lines.append(drill.line) }
        return lines
    }
}
