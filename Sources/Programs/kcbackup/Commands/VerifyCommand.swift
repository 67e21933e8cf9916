internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import KeychainModel

/// `kcbackup verify`: reads an archive to its last byte; changes nothing.
struct VerifyCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read an archive to its last byte and prove that it would restore.",
        discussion: """
            Checks the container, checksums, signature and every record, and opens every secret that can be opened \
            here. An inspect key opens the metadata alone; then only that is read, and said. Of an unencrypted archive, \
            what needs a passcode is opened with --archive-passcode alone.

            EXAMPLES:
              kcbackup verify laptop.kcb
              kcbackup verify laptop.kcb -i restore-key.txt
              kcbackup verify laptop.kcb --passphrase file:passphrase --json
            """)

    @Argument(help: "The archive.", completion: .file(extensions: ["kcb"]))
    var archive: String

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let file = try opening.open(archive, in: session)
        let outline = try ArchiveOutline(file)
        let proven = try opening.prove(file, at: archive, in: session)
        try archivePasscode.open(proven, isNeeded: false, path: archive, in: session)
        let readsAll = proven.opened.opensSecrets
        let progress = Progress(
            "verifying items", in: session, reading: proven.opened, 1, metadata: readsAll ? 0 : 1)
        guard readsAll else {
            // An inspect key: what it opens is verified, and the rest is reported as unverified.
            let contents = try proven.survey(step: progress.step) { _ in }.contents
            progress.finish()
            try printResult(outline, proven, contents, nil, in: session)
            // The exit status alone must not suggest that everything was verified.
            return .incomplete
        }
        let report = try proven.verify { progress.step() }
        progress.finish()
        for item in report.broken { session.warn("damaged before the archive was made: \(item.words)") }
        try printResult(outline, proven, report.contents, report, in: session)
        return report.broken.isEmpty ? .ok : .incomplete
    }

    private func printResult(
        _ outline: ArchiveOutline, _ proven: ProvenArchive, _ contents: ArchiveContents, _ report: VerifyReport?,
        in session: Session
    ) throws {
        let json = JSONValue.members([
            ("archive", outline.json(archive)), ("verified", .flag(report != nil)),
            ("metadataVerified", true), ("origin", proven.origin.json), ("contents", contents.json),
            ("opened", report.map { .number($0.opened) }),
            ("sealedElsewhere", report.map { .number($0.sealedElsewhere) }),
            ("notOpened", report.map { .number($0.notOpened) }),
            ("broken", report.map { .list($0.broken.map { .item($0) }) }),
        ])
        try session.result(json, lines(proven, contents, report))
    }

    private func lines(_ proven: ProvenArchive, _ contents: ArchiveContents, _ report: VerifyReport?) -> [String] {
        var lines = ["\(displayed(archive)): genuine, \(counted(contents.counts.total, "item"))\n"]
        lines.append("origin: \(proven.origin.words)\n")
        if let report {
            if report.opened > 0 { lines.append("\(counted(report.opened, "item")) opened\n") }
            if report.sealedElsewhere > 0 {
                lines.append("\(counted(report.sealedElsewhere, "item")) sealed for the device that made the archive\n")
            }
            if report.notOpened > 0 {
                lines.append(
                    "\(counted(report.notOpened, "item")) not opened: their keys are locked, or on another device\n")
            }
            if !report.broken.isEmpty {
                lines.append(
                    "\(counted(report.broken.count, "item")) with a broken seal, damaged before the archive was made\n")
            }
        } else {
            lines.append("the key opens the metadata alone: secrets were not verified\n")
        }
        if !contents.isComplete {
            lines.append("\(counted(contents.damaged, "item")) could not be read when the archive was made\n")
        }
        return lines
    }
}
