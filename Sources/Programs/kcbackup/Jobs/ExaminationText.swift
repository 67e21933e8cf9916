internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCRecoveryKits
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Describes the findings of `doctor`, as text and in JSON.
struct ExaminationText {
    private let count: Int
    private let problems: [(job: String?, explanation: Explanation)]
    private let warnings: [(job: String?, message: String)]
    private let notes: [(job: String?, message: String)]

    /// - Parameter session: that of the checks.
    init(_ report: Examination.Report, in session: Session) {
        count = report.count
        problems = report.problems.map { ($0.job, session.explanation(of: $0)) }
        warnings = report.warnings.compactMap { job, warning in session.words(warning).map { (job: job, message: $0) } }
        notes = report.notes.map { ($0.job, session.words($0.note)) }
    }

    /// Prints the findings.
    func tell(_ session: Session) throws -> ExitStatus {
        try session.result(
            [
                "checked": .number(count),
                "problems": .list(
                    problems.map { problem in
                        problem.explanation.jsonBody.adding([("job", problem.job.map { .text($0) })])
                    }),
                "warnings": .list(
                    warnings.map { warning in
                        .members([("job", warning.job.map { .text($0) }), ("message", .text(warning.message))])
                    }),
            ],
            session.prose(
                problems.flatMap { problem in
                    let told = problem.job.map { problem.explanation.about(job: $0) } ?? problem.explanation
                    return [told.message + "\n"] + told.hints.map { "  \($0)\n" }
                }))
        for warning in warnings {
            session.warn("\(warning.job.map { "job \(quoted($0)): " } ?? "")\(warning.message)")
        }
        for note in notes { session.note("\(note.job.map { "job \(quoted($0)): " } ?? "")\(note.message)") }
        if problems.isEmpty {
            session.note(
                "\(count) checks, no problem"
                    + (warnings.isEmpty ? "" : ", \(counted(warnings.count, "warning"))"))
        }
        return problems.first?.explanation.status ?? .ok
    }

    fileprivate static let desktopJob =
        "'kcbackup schedule add desk \(OptionName.keychain.spelling) \(DesktopKeyring.all.name) "
        + "\(OptionName.to.spelling) FOLDER -r age1…' makes one for the desktop keyring"
}

extension Session {
    /// Returns a problem as records keep it.
    func recorded(_ finding: Examination.Finding) -> CopyRecord.Failed { CopyRecord.Failed(explanation(of: finding)) }

    /// Explains a problem as the run of its job does.
    fileprivate func explanation(of finding: Examination.Finding) -> Explanation {
        subject = Failure.Subject(file: finding.folder, job: finding.job)
        let explanation = explanation(of: finding.problem).unattended
        return finding.hasFailedRun ? explanation.suffixed("; its last run failed because of that") : explanation
    }

    private func explanation(of problem: Examination.Problem) -> Explanation {
        switch problem {
        case .failed(let error): return failure(of: error).explanation
        case .store(let error, let name, let isOneOfSeveral):
            subject.store = name
            let isOfPasscode = isOneOfSeveral && error is PasscodeNeeded
            return (isOfPasscode ? failure(of: error, for: .backup) : failure(of: error)).explanation
        case .noJob(let desktopHasItems):
            return Explanation(
                .notFound, "no job backs anything up",
                hint: desktopHasItems
                    ? ExaminationText.desktopJob : "'kcbackup schedule add' makes one; see its help for examples")
        case .inNoJob(let keychain):
            return Explanation(
                .notFound, "keychain \(quoted(keychain)) is in no job",
                hint: "add it to one, or make that one back up all of them with '\(OptionName.all.spelling)'")
        case .gone(let gone): return Refusal.keychainGone(gone).explanation
        case .clockBehind(let folder, let archive, let created):
            return Explanation(
                .refused,
                "the clock says \(calendar.moment(now)), and \(quoted("\(folder)/\(archive)")) is of "
                    + calendar.moment(created),
                hint: "if the clock is wrong, set it: 'timedatectl' shows it",
                "if it was fast when that archive was made, move the archive out of its folder, and 'kcbackup list "
                    + "\(OptionName.rebuild.spelling) \(shellWord(folder))' forgets it")
        case .endless(let began):
            return Explanation(
                .busy, "its run of \(calendar.moment(began)) has not ended, and no other can begin",
                hint: BackupState.JobState.overdueHint)
        case .killed(let job, let began):
            return Explanation(
                .io, "its last run, of \(calendar.moment(began)), was killed",
                hint: "'kcbackup run \(job) -v' finishes what it left")
        case .lastRun(let record):
            return Explanation(record.status, "\(record.failureWords): \(record.message)", hints: record.hints)
        }
    }

    /// A warning in words; nil if there is nothing to say.
    fileprivate func words(_ warning: Examination.Warning) -> String? {
        switch warning {
        case .wasLocked(let record, let job):
            "its last run failed, for a reason that is gone: \(record.message); 'kcbackup run \(job) -v' runs it now"
        case .partsLeft(let parts):
            "\(quoted(parts[0].text))\(parts.count == 1 ? "" : " and \(parts.count - 1) more") is left of a copy that was "
                + "broken off; the next run removes it"
        case .timerNotEnabled(let command): "its timer is installed, and not enabled: '\(command)' starts it"
        case .nothingStarts(let job): "nothing that kcbackup can see starts it: see \(job.startingWords)"
        case .pathNotEnabled(let command):
            "its path unit is installed, and not enabled, so that no change starts it: '\(command)' starts it"
        case .pathStopped(let unit, let hasFailed, let command):
            "its path unit \(quoted(unit)) \(hasFailed ? "has failed" : "does not run"), so that no change starts it: "
                + "'\(command)' starts it again"
        case .nothingWatches(let job):
            "no path unit of systemd starts it after a change: see \(job.startingWords)"
        case .changeNotSeen(let changed, let job):
            "something has changed since its last run, at \(calendar.moment(changed)), and started none: 'kcbackup run "
                + "\(job) -v' runs it now"
        case .desktopInNoJob: "the desktop keyring is in no job: \(ExaminationText.desktopJob)"
        case .desktopNotFound(let job):
            "it has no backup of the desktop keyring, which did not run when the job did: "
                + "'kcbackup run \(job)' while you are logged in makes one"
        case .copies(let names):
            "keychains \(names.map(quoted).joined(separator: ", ")) are copies of one file, and only their names tell "
                + "their backups apart: 'kcbackup restore' of an archive into a new keychain makes one of its own"
        case .lostWithChip(let keychain): EncryptedArchives.warning(keychain)
        case .untriedKit(let kit): kit.doubt(at: now)
        case .keyringGone(let path): "oo7 has converted keyring \(quoted(path)), and its own file of it is gone"
        case .twoKeyrings(let old, let new, let isOldInUse): words(old, new, isOldInUse: isOldInUse)
        case .damagedKeyring(let path, let failure):
            "keyring \(quoted(path)) is damaged, or of an unknown kind: \(failure.keyringWords)"
        case .unreadableKeyring(let path, let failure):
            "keyring \(quoted(path)) cannot be read: \(whyUnread(failure))"
        case .noSandbox(let support):
            "files of other programs are read in a sandbox, and \(support.lack): '\(OptionName.withoutSandbox.spelling)' "
                + "reads a file without one: only for a file that you trust"
        case .appKeyring(let keyring, let state): AppKeyrings.warning(keyring, state)
        case .unswept(let folder, let list):
            "a killed run may have left a file in \(quoted(folder)), which cannot be removed now: once that folder is there, "
                + "any command removes it; if the folder is gone for good, 'rm \(shellWord(list))'"
        case .inClear(let file):
            "\(quoted(file.path.shown)) holds \(file.kind.words): \(file.remedy(in: machine.home))"
        case .moreInClear(let count): "\(count) more files of the home hold secrets in the clear"
        }
    }

    fileprivate func words(_ note: Examination.Note) -> String {
        switch note {
        case .sandbox: "files of other programs are read in a sandbox of Landlock and filters of system calls"
        case .triedKit(let kit, let checked):
            "recovery kit \(kit.fingerprint) was tried \(age(checked, at: now)) ago"
        case .starterUnknown: "no timer of systemd starts it, and what cron starts cannot be seen here"
        case .unconvertedKeyrings(let folder):
            "the keyrings in \(quoted(folder)) are those of GNOME Keyring; where oo7 takes its place it converts them, "
                + "once: make an archive before such an upgrade, 'kcbackup create \(OptionName.keychain.spelling) "
                + "\(shellWord("file:" + folder)) keyrings.kcb'"
        case .twoKeyrings(let old, let new):
            "\(title(old)): \(listed(words(old, new))); the one that is not in use was not changed after the conversion"
        case .convertedWallet(let path):
            "oo7 has converted wallet \(quoted(path)), and leaves out entries that it cannot convert: 'kcbackup inspect "
                + "\(shellWord(path))' lists what the wallet has"
        }
    }
}

// Two files of one keyring.
extension Session {
    /// The warning, whose paths and commands have lines of their own, since each of them fills one.
    private func words(_ old: Examination.Keyring, _ new: Examination.Keyring, isOldInUse: Bool?) -> String {
        let compare = "'kcbackup diff \(shellWord(old.path)) \(shellWord(new.path))' compares them"
        let lines: [String]
        if let isOldInUse {
            let (used, other) = isOldInUse ? (old, new) : (new, old)
            let merge =
                "'kcbackup import \(shellWord(other.path)) \(OptionName.into.spelling) "
                + "\(shellWord("secret-service:" + used.outline.label))' adds what the other one has; move that one away then"
            let title = "\(title(old)), of which the \(isOldInUse ? "first" : "second") is in use:"
            lines = [title] + words(old, new) + [compare, merge]
        } else {
            lines = ["\(title(old)), and it cannot be seen which one is in use:"] + words(old, new) + [compare]
        }
        return lines.joined(separator: "\n  ")
    }

    private func title(_ old: Examination.Keyring) -> String { "keyring \(quoted(old.outline.label)) has two files" }

    private func words(_ old: Examination.Keyring, _ new: Examination.Keyring) -> [String] {
        [(old, "GNOME Keyring"), (new, "oo7")].map { keyring, program in
            "\(quoted(keyring.path)) of \(program) (\(counted(keyring.outline.itemCount, "item")), changed "
                + "\(calendar.moment(keyring.modified)))"
        }
    }
}

extension HomeContents.Clear {
    /// The command that mends it.
    fileprivate func remedy(in home: String) -> String {
        let place: String = shellWord("\(home)/\(path.text)")
        let name: String = shellWord(path.text.string)
        return switch kind {
        case .privateKey: "'ssh-keygen -p -f \(place)' sets one"
        case .passwords:
            "'kcbackup import \(place) \(OptionName.removeFromFile.spelling)' moves them into a keychain"
        case .secret:
            "'kcbackup item add \(OptionName.service.spelling) \(name) "
                + "\(OptionName.secretFile.spelling) \(place)' keeps it in a keychain, and 'kcbackup exec "
                + "\(OptionName.withFile.spelling)' hands it to a program; then remove the file"
        }
    }
}

extension HomeContents.Clear.Kind {
    /// The contents of a file, to follow "holds ".
    fileprivate var words: String {
        switch self {
        case .privateKey: "a private key without a passphrase"
        case .passwords: "passwords in the clear"
        case .secret: "a secret in the clear"
        }
    }
}
