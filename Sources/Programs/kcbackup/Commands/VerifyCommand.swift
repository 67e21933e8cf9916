internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import LocalKeychains
internal import KeychainModel

/// `kcbackup verify`: reads an archive to its last byte; changes nothing.
struct VerifyCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read archives to their last byte and prove that they would restore.",
        discussion: """
            Checks the container, checksums, signature and every record, and opens every secret that can be opened \
            here. An inspect key opens the metadata alone; then only that is read, and said. Of an unencrypted archive, \
            what needs a passcode is opened with --archive-passcode alone.

            Without a key the outside is proved: container, checksums and signature. What was not seen is said, and the \
            exit code is 3, unless --outside asked for just that.

            Each archive is verified, also after another failed. A passphrase that is asked for is tried for the next ones \
            as well. The exit code is that of the first that failed.

            EXAMPLES:
              kcbackup verify laptop.kcb
              kcbackup verify laptop.kcb -i restore-key.txt
              kcbackup verify laptop.kcb --passphrase file:passphrase --json
              kcbackup verify --outside backups/*.kcb
            """)

    @OptionGroup
    var archives: ArchiveArguments

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if archivePasscode.archivePasscode == .unknown { throw SecretProblem.notASource(.archivePasscode) }
        if archives.outside, archivePasscode.archivePasscode != nil {
            throw UsageProblem.together(.outside, .archivePasscode)
        }
        let passcode = KeptSecret()
        return try archives.forEach(in: session) { archive, opener in
            let file = try archives.opening.open(archive, in: session)
            guard !archives.outside, opener.canOpen(file) else { return try verifyOutside(file, archive, session) }
            let outline = try ArchiveOutline(file)
            let proven = try opener.prove(file, at: archive)
            try archivePasscode.open(proven, isNeeded: false, path: archive, keptIn: passcode, in: session)
            let result = Result(outline: outline, path: archive, proven: proven)
            return try verify(result, session)
        }
    }

    /// Proves what can be proved without a key.
    private func verifyOutside(_ file: ArchiveFile, _ archive: String, _ session: Session) throws -> ExitStatus {
        let proven = try ProvenOutside(file, local: LocalDevice(session.world).identity())
        try session.result(
            .members([
                ("archive", proven.outline.json(archive)), ("verified", false), ("outsideVerified", true),
                ("metadataVerified", false), ("origin", proven.origin.json),
            ]),
            [
                "\(displayed(archive)): genuine as far as can be seen without a key: container, checksums, signature\n",
                "origin: \(proven.origin.words)\n",
                "not seen: \(archives.outside ? ArchiveOutline.inside : proven.outline.notSeen)\n",
            ])
        return archives.outside ? .ok : .incomplete
    }

    private func verify(_ result: Result, _ session: Session) throws -> ExitStatus {
        let proven = result.proven
        let readsAll = proven.opened.opensSecrets
        let progress = Progress(
            "verifying items", in: session, reading: proven.opened, 1, metadata: readsAll ? 0 : 1)
        guard readsAll else {
            // An inspect key: what it opens is verified, and the rest is reported as unverified.
            let contents = try proven.survey(step: progress.step) { _ in }.contents
            progress.finish()
            try result.print(contents, nil, in: session)
            // The exit status alone must not suggest that everything was verified.
            return .incomplete
        }
        let report = try proven.verify { progress.step() }
        progress.finish()
        for item in report.broken { session.warn("damaged before the archive was made: \(item.words)") }
        try result.print(report.contents, report, in: session)
        return report.broken.isEmpty ? .ok : .incomplete
    }
}

/// What is said of an archive that was opened.
private struct Result {
    let outline: ArchiveOutline
    let path: String
    let proven: ProvenArchive

    /// - Parameter report: nil where the key opens the metadata alone.
    func print(_ contents: ArchiveContents, _ report: VerifyReport?, in session: Session) throws {
        let json = JSONValue.members([
            ("archive", outline.json(path)), ("verified", .flag(report != nil)), ("outsideVerified", true),
            ("metadataVerified", true), ("origin", proven.origin.json), ("contents", contents.json),
            ("opened", report.map { .number($0.opened) }),
            ("sealedElsewhere", report.map { .number($0.sealedElsewhere) }),
            ("notOpened", report.map { .number($0.notOpened) }),
            ("broken", report.map { .list($0.broken.map { .item($0) }) }),
        ])
        try session.result(json, lines(contents, report))
    }

    private func lines(_ contents: ArchiveContents, _ report: VerifyReport?) -> [String] {
        var lines = ["\(displayed(path)): genuine, \(counted(contents.counts.total, "item"))\n"]
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
