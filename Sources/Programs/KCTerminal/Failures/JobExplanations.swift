package import KCBackupJobs
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCReportText
internal import KCStoreTasks

/// Explains a problem with a job.
package func explainJob(_ problem: JobFailure) -> Explanation {
    switch problem {
    case .invalidName:
        Explanation(
            .usage, "that cannot be the name of a job", hint: "a name has 1 to 40 letters, digits, '-' and '_'")
    case .notFound(let name):
        Explanation(
            .notFound, "there is no job \(quoted(name))", hint: "'kcbackup schedule list' shows the jobs"
        ).naming(job: name)
    case .exists(let name):
        Explanation(
            .exists, "there is a job \(quoted(name)) already",
            hint: "'kcbackup schedule edit \(shellWord(name))' changes it",
            "'kcbackup schedule remove \(shellWord(name))' removes it; its backups stay"
        ).naming(job: name)
    case .damaged(let job, let path):
        Explanation(
            .damaged,
            "the file of job \(quoted(job)) is damaged, or was edited by hand" + (path.map { ": \(quoted($0))" } ?? ""),
            hint: "'kcbackup schedule remove \(shellWord(job))', then add it again"
        ).naming(job: job)
    case .recordDamaged(let job, let path):
        Explanation(
            .damaged, "the record of the last run of job \(quoted(job)) is damaged: \(quoted(path))",
            hint: "'kcbackup run \(shellWord(job)) -v' runs the job, and writes a new one"
        ).naming(job: job)
    case .otherDevice(let job, let device):
        Explanation(
            .refused, "job \(quoted(job)) was added on device \(device), and this is another one",
            hint: "'kcbackup schedule remove \(shellWord(job))', then add it again",
            "'kcbackup device show' shows this device"
        ).naming(job: job)
    case .folderElsewhere(let job, let folder, let was, let now):
        Explanation(
            .refused,
            "\(quoted(folder)) leads to \(quoted(now)), and led to \(quoted(was)) when job \(quoted(job)) was added",
            hint:
                "if it is meant to, 'kcbackup run \(shellWord(job)) \(OptionName.change.spelling)' uses it from now on; "
                + "if not, mend the link"
        ).naming(job: job)
    case .noBackups(let job, let folder):
        Explanation(
            .notFound, "job \(quoted(job)) had backups, and none of them is known in \(quoted(folder))",
            hint: "is the disk mounted?",
            "if they are there, 'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' enters them",
            "if they were removed on purpose, 'kcbackup run \(shellWord(job)) \(OptionName.change.spelling)' starts over"
        ).naming(job: job)
    case .copiesGone(let job, let to, let copies):
        Explanation(
            .notCopied,
            "\(quoted(to)) has lost \(copies == 1 ? "the copy" : "all \(copies) copies") that it held: is the disk mounted?",
            hint:
                "if they were removed on purpose, 'kcbackup run \(shellWord(job)) \(OptionName.change.spelling)' starts "
                + "over there")
    case .copiesLost(let to, let copies, let last, let missing):
        Explanation(
            .notCopied,
            "\(counted(copies, "copy", plural: "copies")) \(copies == 1 ? "was" : "were") gone, the newest of them "
                + "\(quoted(last)), and "
                + (missing == 0
                    ? "\(copies == 1 ? "is" : "are") there again"
                    : "\(missing == copies ? "" : "\(missing) of them ")cannot be made again: the archive is not here anymore"),
            hint: "a rule that removes by age takes the oldest first, and none of the last week: find out who did, and "
                + "read the others back with 'kcbackup verify \(shellWord(to))'")
    case .notCopiedYet(let archive): Explanation(.notCopied, "\(quoted(archive)) is not there yet")
    case .incompleteCopy(let archive):
        Explanation(
            .incomplete, "\(quoted(archive)) is there, and lacks what was left out, or not readable, when it was made")
    case .receiptNumberLost(let path):
        Explanation(
            .damaged, "the number of the last receipt cannot be read from \(quoted(path))",
            hint:
                "remove that file: receipts are numbered from 1 again, and 'kcbackup fleet status' says 'replayed' of "
                + "this machine as long as it reads those of today")
    case .otherFormat(let job):
        Explanation(
            .limit, "another version of kcbackup added job \(quoted(job))",
            hint: "use that version, or 'kcbackup schedule remove \(shellWord(job))', and add it again"
        ).naming(job: job)
    case .severalLines: Explanation(.usage, "a word of the job has a line feed")
    case .notOfCron:
        UsageProblem.malformed(.at, form: "one that a line of a crontab can have: hourly, daily, weekly or monthly")
            .explanation
    case .changesNotOfCron(let job):
        Explanation(
            .usage, "job \(quoted(job)) runs after changes, which systemd sees and cron does not",
            hint: "'kcbackup schedule install \(shellWord(job))' writes the units",
            "for cron, 'kcbackup schedule edit \(shellWord(job)) \(OptionName.remove.spelling) on-change "
                + "\(OptionName.at.spelling) hourly' runs it each hour instead"
        ).naming(job: job)
    case .needsUnit(let job, let credential):
        Explanation(
            .usage,
            "job \(quoted(job)) reads the credential \(quoted(credential)), which systemd gives to a unit and cron does not",
            hint: "'kcbackup schedule install \(shellWord(job))' writes the units",
            "for cron, 'kcbackup schedule edit \(shellWord(job))' changes an option: 'file:PATH' in place of "
                + quoted("cred:\(credential)")
        ).naming(job: job)
    case .unsafeVariable(let name, let path, let failure): explainUnsafe(name, path, failure)
    case .unwritable(let failure, let isCrontab): UsageProblem.unwritable(failure, isCrontab: isCrontab).explanation
    }
}

/// Explains why a variable is not taken over into a unit or a line of a crontab.
private func explainUnsafe(_ name: String, _ path: String, _ failure: FileFailure) -> Explanation {
    let leads = "the job's \(name) would be \(quoted(path))"
    guard case .sharedFolder(let mode) = failure.problem else { return explainFile(failure).prefixed("\(leads): ") }
    return Explanation(
        .refused,
        "\(leads), and others can change what is in the folder \(quoted(failure.path)) (mode \(String(mode, radix: 8)))",
        hint: "if the folder is yours alone, run 'chmod go-w \(shellWord(failure.path))'",
        "otherwise keep the files where only you can write, and set \(name) to that place")
}

/// The hint on replacing the service of a job.
private func replacing(serviceOf job: String, isOfSystem: Bool) -> String {
    "'kcbackup schedule install \(shellWord(job))\(isOfSystem ? " \(OptionName.system.spelling)" : "")' replaces it"
}

/// Explains why a program that is to run a job does not, or should not.
private func explainUnsafe(
    _ program: String, _ failure: FileFailure, _ job: String, _ service: String, _ isOfSystem: Bool
) -> Explanation {
    let replacing = replacing(serviceOf: job, isOfSystem: isOfSystem)
    let starts = "\(quoted(service)) starts \(quoted(program))"
    switch failure.problem {
    case .notFound, .notRegular:
        return Explanation(.notFound, "\(starts), which does not exist", hint: replacing)
    case .exposed(let mode), .sharedFolder(let mode):
        return Explanation(
            .refused,
            "\(starts), and others can replace it: the mode of \(quoted(failure.path)) is \(String(mode, radix: 8))",
            hints: [
                // A folder such as /tmp is meant for others.
                mode & 0o1000 != 0
                    ? nil : "if it is what you installed, 'chmod go-w \(shellWord(failure.path))' is enough",
                "otherwise install it where only root and you can write; then \(replacing)",
            ].compactMap { $0 })
    default: return explainFile(failure).prefixed("\(starts): ")
    }
}

/// Explains what will make a job fail.
package func explainFinding(_ finding: JobFinding) -> Explanation {
    switch finding {
    case .notDrilled(let folder, let since, let archive, let needsKey):
        Explanation(
            .stale, "no backup in \(quoted(folder)) has had a trial restore since \(since)",
            hint: "'kcbackup verify \(OptionName.drill.spelling) \(shellWord(archive))\(needsKey ? " -i FILE" : "")'")
    case .noLinger:
        Explanation(
            .refused, "the user's timers stop at logout", hint: "run 'loginctl enable-linger'")
    case .littleRoom(let folder, let free, let wanted):
        Explanation(
            .io, "\(byteCount(free)) are left in \(quoted(folder)), and the next archive may take \(byteCount(wanted))",
            hint: "make room, or keep fewer archives: 'kcbackup prune'")
    case .identityBesideArchives(let path):
        Explanation(
            .refused, "\(quoted(path)) is an identity file, and lies beside the archives",
            hint: "keep it where someone who steals the archives will not find it: 'mv \(shellWord(path)) …'")
    case .noCredential(let name, let path, let isEncrypted):
        Explanation(
            .notFound, "\(quoted(path)) does not exist, and systemd does not start the job without that credential",
            hint: isEncrypted
                ? "make it with 'systemd-creds encrypt --name=\(shellWord(name)) - \(shellWord(path))': type the secret, "
                    + "Ctrl-D"
                : "make it with '(umask 077; cat > \(shellWord(path)))': type the secret, Enter, Ctrl-D")
    case .otherService(let job, let path, let isOfSystem):
        Explanation(
            .refused,
            "\(quoted(path)) was written for a job with other options, and keeps job \(quoted(job)) from what it needs",
            hint: replacing(serviceOf: job, isOfSystem: isOfSystem)
        ).naming(job: job)
    case .unsafeProgram(let program, let failure, let job, let service, let isOfSystem):
        explainUnsafe(program, failure, job, service, isOfSystem)
    case .programNotFound(let program, let folder, let isShared, let job, let service, let isOfSystem):
        Explanation(
            .notFound, "\(quoted(service)) does not find \(quoted(program)), which is in \(quoted(folder))",
            hints: (isShared
                ? [
                    "others can put programs into that folder, so that no job looks there: keep it elsewhere, or run "
                        + "'chmod go-w \(shellWord(folder))'"
                ] : [])
                + [replacing(serviceOf: job, isOfSystem: isOfSystem)])
    case .filesMissing(let job, let missing):
        Explanation(
            .incomplete,
            "\(counted(missing.count, "file")) would be in no archive\(missing.count == 1 ? ": " : "; first, ")"
                + "\(quoted(missing.first)): \(missing.reason.words)",
            hints: missing.canBeAccepted ? [acceptingMissing(job: job, path: missing.first)] : [])
    }
}

extension HomeFilesMissing.Reason {
    fileprivate var words: String {
        switch self {
        case .unread(let problem): problem.words
        case .left(let reason): reason.words
        }
    }
}
