internal import KCBackupJobs
internal import KCByteStreams
internal import KCConsole
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

// Jobs that run after changes.

extension Job {
    /// When it runs, in words.
    var timeWords: String { [time, onChange ? "after each change" : nil].compactMap { $0 }.joined(separator: ", ") }

    /// The marks of the files whose changes start the job, for the record of a run that begins now.
    ///
    /// - Throws: `FileFailure`.
    func marks(in session: Session) throws -> [String]? {
        guard onChange, let files = WatchedFiles(of: self, in: session.machine.dataFolder) else { return nil }
        let marks = try files.marks()
        return marks.isSettled(at: session.machine.clock()) ? marks.texts : nil
    }

    /// Refuses a job that cannot run after changes.
    ///
    /// - Throws: `UsageProblem`, `FileFailure`, `StreamFailure` (`interrupted`).
    func requireWatch(in session: Session) throws {
        if !onChange { return }
        guard let files = WatchedFiles(of: self, in: session.machine.dataFolder) else {
            throw UsageProblem.notWatched(self)
        }
        if fleet != nil, time == nil {
            throw UsageProblem(
                "'\(OptionName.fleet.spelling)' needs a time: a machine that writes no receipt counts as lost",
                hint: "'\(OptionName.at.spelling) daily' beside '\(OptionName.onChange.spelling)' runs it each day")
        }
        if try Self.hasCronAlone(session) { throw UsageProblem.changesNotOfCron }
        if try isOfDesktop && files.areMissing {
            session.warn(
                "no keyring of GNOME Keyring, oo7 or KWallet is there yet; changes in the database of another program "
                    + "start no run")
        }
    }

    /// True on a machine with cron and without systemd.
    private static func hasCronAlone(_ session: Session) throws -> Bool {
        let script = ShellScript("command -v systemctl > /dev/null || ! command -v crontab > /dev/null")
        do throws(ShellCommand.Failure) {
            _ = try ShellCommand.output(of: script, environment: session.machine.environment, limit: 4_096)
            return false
        } catch {
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            return true
        }
    }
}

extension UsageProblem {
    fileprivate static var changesNotOfCron: UsageProblem {
        UsageProblem(
            "'\(OptionName.onChange.spelling)' needs systemd, and this machine has cron alone, which sees no changes",
            hint: "'\(OptionName.at.spelling) hourly \(OptionName.ifChanged.spelling)' keeps an archive after each "
                + "hour with a change")
    }

    /// The job backs up what no path unit can watch.
    fileprivate static func notWatched(_ job: Job) -> UsageProblem {
        let subject =
            job.isOfHome
            ? "the files of a home" : job.keychain.map { "the files in \(quoted($0))" } ?? "that"
        return UsageProblem(
            "'\(OptionName.onChange.spelling)' is for keychains, the desktop keyring and single files, and cannot watch "
                + subject,
            hint: "use '\(OptionName.at.spelling) hourly \(OptionName.ifChanged.spelling)'")
    }

    /// The job does not run after changes.
    static func notAfterChanges(_ job: Job) -> UsageProblem {
        UsageProblem(
            "'\(OptionName.whenChanged.spelling)' is for jobs that run after changes, and \(quoted(job.name)) does not",
            hint: "'kcbackup schedule edit \(shellWord(job.name)) \(OptionName.onChange.spelling)' lets it")
    }
}
