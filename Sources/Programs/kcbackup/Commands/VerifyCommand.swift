internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCConsole
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup verify`: reads an archive to its last byte; changes nothing except what catalogues record about it.
struct VerifyCommand: Verb {
    static let mainOptions: [OptionName] = [.drill, .outside, .identity]

    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read archives to their last byte and prove that they would restore.",
        discussion: """
            Checks the container, checksums, signature and every record, and opens every secret that can be opened \
            here. An inspect key opens only the metadata; then only that is read, and the output says so. An \
            unencrypted archive opens on the device that made it: secrets that need a passcode while its keychain is \
            unlocked, or with --archive-passcode.

            Without a key only the outside is verified: container, checksums and signature. The output says what was \
            not seen or not opened, and the exit code is then 3, unless --outside asked for just that.

            A folder means all archives in it except those in its trash. They are compared with its catalogue, and \
            nothing is asked: without a key their outside is verified, which is enough for a nightly run, and the exit \
            code is 0. Success is reported only on a terminal or with --verbose. A key that opens no more than the \
            outside of an archive makes the exit code 3.

            --sample verifies only a share of a folder, for example of one on a remote, where reading everything takes \
            long.

            --against compares a folder of a remote with a folder here: what is missing there is named, and where the \
            remote lists hashes, an archive whose hash matches is not fetched. That finds what was lost or replaced, \
            but only reading finds a remote that cannot deliver what it lists: --sample names the share that is always \
            read.

            --drill restores each archive into a temporary keychain that no one else can open, reads every item and \
            secret from it again, and compares them.

            Every archive is verified, even after one has failed. A typed passphrase is tried for the next archives \
            too. The exit code is that of the first failure.

            EXAMPLES:
              kcbackup verify laptop.kcb
              kcbackup verify laptop.kcb -i restore-key.txt
              kcbackup verify laptop.kcb --passphrase file:passphrase --json
              kcbackup verify --outside backups/*.kcb
              kcbackup verify ~/backups
              kcbackup verify --drill ~/backups -i restore-key.txt
              kcbackup verify --sample 5% nas:backups
              kcbackup verify nas:backups --against ~/backups --sample 5%
            """)

    @OptionGroup
    var archives: ArchiveArguments

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @Flag(name: OptionName.drill.name, help: "Do a trial restore of each, and compare every item and secret.")
    var drill = false

    @Option(
        name: OptionName.sample.name,
        help: ArgumentHelp(
            "Of a folder, verify the newest of each keychain and this share of the others, as in '5%'.",
            valueName: "percent"))
    var sample: String?

    @Option(
        name: OptionName.against.name,
        help: ArgumentHelp(
            "Of a folder of a remote, name what is missing there, and fetch only what its hashes do not prove.",
            valueName: "folder"),
        completion: .directory)
    var against: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if archives.outside, archivePasscode.archivePasscode != nil {
            throw UsageProblem.together(.outside, .archivePasscode)
        }
        if archives.outside, drill { throw UsageProblem.together(.outside, .drill) }
        try archives.check()
        let sample = try sample.map { try VerifySample($0) }
        let passcode = KeptSecret()
        let checked = CheckedFolders()
        // In a `defer`, so that checks are recorded even if the results cannot be written.
        defer { checked.note(in: session) }
        let subjects = try subjects(sample, in: session)
        let tally = Tally()
        let status = try archives.forEach(subjects, named: \.path, in: session) { subject, opener in
            let look = try subject.judged(in: session) { subject in
                try checked.noting(subject) {
                    let archive = try subject.open(archives.opening, in: session)
                    return try Look(command: self, subject: subject, archive: archive, session: session)
                        .verify(opener, passcode)
                }
            }
            guard let (status, found) = look else {
                tally.gone += 1
                return .ok
            }
            if let found, let known = subject.known { checked.append(found, in: known.folder) }
            if status == .ok { tally.whole += 1 } else { tally.partial += 1 }
            return status
        }
        if subjects.count > 1 { session.note(tally.words(of: subjects.count)) }
        return status
    }

    private func subjects(_ sample: VerifySample?, in session: Session) throws -> [VerifySubject] {
        if let against {
            guard archives.archives.count == 1, let remote = try session.machine.remote(archives.archives[0]) else {
                throw UsageProblem("'\(OptionName.against.spelling)' is for one folder of a remote")
            }
            if against.isEmpty { throw UsageProblem.empty(.against) }
            return try RemoteComparison(folder: against, session: session).subjects(remote, sample)
        }
        let found = VerifySubject.all(archives.archives, in: session)
        if sample != nil, !found.contains(where: \.isOfFolder) {
            throw UsageProblem.fileForFolder(archives.archives[0])
        }
        return sample?.choose(found, now: session.now) ?? found
    }

    /// The results for several archives.
    private final class Tally {
        var whole = 0
        var partial = 0
        /// Removed by another run since.
        var gone = 0

        func words(of count: Int) -> String {
            let failed = count - gone - whole - partial
            let parts = [(whole, "intact"), (partial, "incomplete"), (failed, "failed")].filter { $0.0 > 0 }
            return "\(counted(count - gone, "archive")): "
                + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        }
    }
}

/// A check of one archive.
private struct Look {
    let command: VerifyCommand
    let subject: VerifySubject
    let archive: NamedArchive
    let session: Session

    private var file: ArchiveFile { archive.file }

    typealias Found = (status: ExitStatus, checked: CheckedArchive?)

    private var path: String { subject.path }

    func verify(_ opener: ArchiveOpener, _ passcode: KeptSecret) throws -> Found {
        let isKeyed = file.header.mode == .unencrypted || command.archives.opening.hasKey
        let opens = subject.isOfFolder && !command.drill ? isKeyed : opener.canOpen(file) || command.drill
        guard opens, !command.archives.outside else {
            // When a folder is verified without a key, checking the outside suffices.
            return try verifyOutside(isEnough: command.archives.outside || subject.isOfFolder)
        }
        let outline = try ArchiveOutline(file)
        let proven: ProvenArchive
        do {
            proven = try opener.prove(archive, at: path)
        } catch let failure as ArchiveFailure where subject.isOfFolder && !command.drill && failure.isOfKey {
            // A key need not open all archives in a folder; verify what needs no key.
            session.warn(explainArchive(failure, path).message)
            return try verifyOutside(isEnough: false)
        }
        let trial = command.drill ? ArchiveDrill(proven: proven, path: path, session: session) : nil
        if let trial {
            try trial.openSecrets(command.archivePasscode, keptIn: passcode)
        } else if !subject.isOfFolder || proven.stored?.hasPasscode == true {
            if !subject.isOfFolder, command.archivePasscode.archivePasscode == nil { session.borrowKeys(for: proven) }
            try command.archivePasscode.open(proven, isNeeded: false, path: path, keptIn: passcode, in: session)
        }
        return try verify(proven, outline, trial)
    }

    /// Verifies everything that needs no key.
    private func verifyOutside(isEnough: Bool) throws -> Found {
        let proven = try archive.proveOutside(local: LocalDevice(session.machine).identity())
        let checked = try subject.compared(
            with: proven.outline, proven.origin, nil, isDrilled: false
        ) { preconditionFailure("nothing was read") }
        try tell(
            .members([
                ("archive", proven.outline.json(path)), ("verified", false), ("outsideVerified", true),
                ("metadataVerified", false), ("origin", proven.origin.json),
            ]),
            [
                "\(displayed(path)): genuine as far as can be seen without a key: container, checksums, signature\n",
                "origin: \(proven.origin.words)\n",
                "not seen: \(command.archives.outside ? ArchiveOutline.inside : proven.outline.notSeen)\n",
            ])
        return (isEnough ? .ok : .incomplete, checked)
    }

    private func verify(_ proven: ProvenArchive, _ outline: ArchiveOutline, _ trial: ArchiveDrill?) throws -> Found {
        let readsAll = proven.opened.opensSecrets || trial != nil
        let progress = Progress(
            "verifying items", in: session, reading: proven.opened, 1, metadata: readsAll ? 0 : 1)
        guard readsAll else {
            // With an inspect key, the metadata is verified, and the rest is reported as unverified.
            let contents = try proven.survey(step: progress.step) { _ in }.contents
            progress.finish()
            let checked = try compare(proven, outline, nil, isDrilled: false)
            try tell(
                VerifyText(
                    outline: outline, path: path, proven: proven, contents: contents, report: nil, drill: nil,
                    remedy: Self.remedy))
            // The exit status alone must not suggest that everything was verified.
            return (.incomplete, checked)
        }
        let report = try proven.verify(takesFingerprint: subject.known != nil) { progress.step() }
        progress.finish()
        session.warn(each: report.broken.map(\.words)) { _ in Remark("damaged before the archive was made") }
        let drill = try trial?.run()
        let isDrilled = drill?.failing.isEmpty == true
        let checked = try compare(proven, outline, report, isDrilled: isDrilled)
        try tell(
            VerifyText(
                outline: outline, path: path, proven: proven, contents: report.contents, report: report, drill: drill,
                remedy: Self.remedy))
        // Of a folder without a key, the outside is enough.
        let isSeen = report.notOpened == 0 || subject.isOfFolder && command.archivePasscode.archivePasscode == nil
        let isWhole = report.broken.isEmpty && report.contents.isComplete && isSeen && drill?.failing.isEmpty != false
        return (isWhole ? .ok : .incomplete, checked)
    }

    private func compare(
        _ proven: ProvenArchive, _ outline: ArchiveOutline, _ report: VerifyReport?, isDrilled: Bool
    ) throws -> CheckedArchive? {
        try subject.compared(
            with: outline, proven.origin, report, isDrilled: isDrilled
        ) { try proven.opened.source() }
    }

    private static let remedy = "unlock the keychain, or give '\(OptionName.archivePasscode.spelling) tty'"

    private func tell(_ text: VerifyText) throws {
        try tell(text.json, text.lines)
    }

    /// For a folder, intact archives are not reported unless requested, to keep nightly mail short.
    private func tell(_ json: JSONValue, _ lines: [String]) throws {
        let isNews = !subject.isOfFolder || session.world.terminal.showsOutput || session.style.isVerbose
        guard session.style.isJSON || isNews else { return }
        // Each of several archives takes one line.
        try session.result(
            json,
            session.prose(
                session.oneOfSeveral == nil || session.style.isVerbose
                    ? lines : [lines.map { $0.dropLast() }.joined(separator: "; ") + "\n"]))
    }
}
