internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
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
        let request = VerifyRequest(
            keys: archives.opening.keys, passcode: archivePasscode.archivePasscode,
            depth: archives.outside ? .outside : drill ? .drill : .contents)
        let verification = Verification(request, in: session.context)
        // In a `defer`, so that checks are recorded even if the results cannot be written.
        defer { verification.record() }
        let found = try found(sample, in: session)
        let tally = Tally()
        let status = try session.forEach(found, named: \.path, endsAll: { verification.hasUnreadableKey }) { archive in
            let result = try verification.verify(archive)
            let status = try VerifyResult(result, of: archive, request, session).tell()
            switch (result, status) {
            case (.gone, _): tally.gone += 1
            case (_, .ok): tally.whole += 1
            default: tally.partial += 1
            }
            return status
        }
        if found.count > 1 { session.note(tally.words(of: found.count)) }
        return status
    }

    /// The archives that were named, and all archives in folders.
    private func found(_ sample: VerifySample?, in session: Session) throws -> [PlacedArchive] {
        let machine = session.machine
        if let against {
            guard archives.archives.count == 1, try machine.remote(archives.archives[0]) != nil else {
                throw UsageProblem("'\(OptionName.against.spelling)' is for one folder of a remote")
            }
            if against.isEmpty { throw UsageProblem.empty(.against) }
            return try machine.archivePlace(archives.archives[0]).archives(
                against: against, sample, in: session.context)
        }
        let found = PlacedArchive.all(at: archives.archives, in: session.context)
        if let sample {
            guard found.contains(where: \.isOfFolder) else { throw UsageProblem.fileForFolder(archives.archives[0]) }
            return sample.choose(found, now: session.now)
        }
        return found
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

/// The result of the check of one archive, in words.
private struct VerifyResult {
    private let result: VerifiedArchive
    private let archive: PlacedArchive
    private let request: VerifyRequest
    private let session: Session

    private var path: String { archive.path }

    private static let remedy = "unlock the keychain, or give '\(OptionName.archivePasscode.spelling) tty'"

    init(_ result: VerifiedArchive, of archive: PlacedArchive, _ request: VerifyRequest, _ session: Session) {
        (self.result, self.archive, self.request, self.session) = (result, archive, request, session)
    }

    /// Prints the result.
    ///
    /// - Throws: `Refusal` for one that was restored differently.
    func tell() throws -> ExitStatus {
        switch result {
        case .gone: return .ok
        case .outside(let proven, let isEnough):
            try tell(outside: proven)
            return isEnough ? .ok : .incomplete
        case .metadata(let contents, let proven, let outline):
            try tell(text(outline, proven, contents, nil, nil))
            // The exit status alone must not suggest that everything was verified.
            return .incomplete
        case .contents(let report, let proven, let outline, let drill):
            try tell(text(outline, proven, report.contents, report, drill))
            // Of a folder without a passcode, what opens without it is enough.
            let isSeen = report.notOpened == 0 || archive.isOfFolder && request.passcode == nil
            let isWhole =
                report.broken.isEmpty && report.contents.isComplete && isSeen && drill?.failing.isEmpty != false
            return isWhole ? .ok : .incomplete
        case .differs(let drill):
            let differing = counted(drill.differences.count + drill.surplus, "item")
            throw Refusal(
                .damaged, "\(differing) read back differ from the archive",
                hint: "this is a bug, or the disk or the memory of this machine is failing: try it on another machine")
        }
    }

    private func tell(outside proven: ProvenOutside) throws {
        try tell(
            .members([
                ("archive", proven.outline.json(path)), ("verified", false), ("outsideVerified", true),
                ("metadataVerified", false), ("origin", proven.origin.json),
            ]),
            [
                "\(displayed(path)): genuine as far as can be seen without a key: container, checksums, signature\n",
                "origin: \(proven.origin.words)\n",
                "not seen: \(request.depth == .outside ? ArchiveOutline.inside : proven.outline.notSeen)\n",
            ])
    }

    private func text(
        _ outline: ArchiveOutline, _ proven: ProvenArchive, _ contents: ArchiveContents, _ report: VerifyReport?,
        _ drill: DrillReport?
    ) -> VerifyText {
        VerifyText(
            outline: outline, path: path, proven: proven, contents: contents, report: report, drill: drill,
            remedy: Self.remedy)
    }

    private func tell(_ text: VerifyText) throws { try tell(text.json, text.lines) }

    /// For a folder, intact archives are not reported unless requested, to keep nightly mail short.
    private func tell(_ json: JSONValue, _ lines: [String]) throws {
        let isNews = !archive.isOfFolder || session.world.terminal.showsOutput || session.style.isVerbose
        guard session.style.isJSON || isNews else { return }
        // Each of several archives takes one line.
        try session.result(
            json,
            session.prose(
                session.oneOfSeveral == nil || session.style.isVerbose
                    ? lines : [lines.map { $0.dropLast() }.joined(separator: "; ") + "\n"]))
    }
}

extension VerifySample {
    /// Parses a share, as in '5%'.
    fileprivate init(_ text: String) throws(UsageProblem) {
        guard let match = text.wholeMatch(of: /(\d{1,3}(?:\.\d{1,3})?)%/.asciiOnlyDigits()),
            let percent = Double(match.1), percent > 0, percent <= 100
        else { throw .malformed(.sample, form: "a share above 0% and up to 100%, as in '5%'") }
        self.init(percent: percent)
    }
}
