internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

// The jobs of `KCBackupJobs`, in the words of this program.

extension Job {
    /// Refuses a job whose archives cannot be made for its keys and the recovery kits of this device.
    ///
    /// - Throws: `Failure`, which has what `ArchiveKeyRequest.recipients` throws.
    func requireKeys(in session: Session) throws {
        let unattended = session.unattended
        do {
            _ = try backup.keys?.recipients(in: unattended.context)
        } catch {
            throw unattended.failure(of: error)
        }
    }

    /// Warns of units that an earlier job of this name has left, and that start this one as if it were that.
    func warnOfUnits(in session: Session) {
        do {
            let surroundings = session.machine.surroundings
            if let path = try InstalledUnits.systemPaths(of: name, in: surroundings).first {
                session.warn(
                    "the system's units of an earlier job \(quoted(name)) are installed, and start this one: "
                        + "\(quoted(path)); \(systemUnitsWords)")
            }
            guard let installed = try InstalledUnits(of: name, in: surroundings),
                try installed.units(of: self, insteadOf: self, in: surroundings) == nil
            else { return }
            session.warn(
                "the units of an earlier job \(quoted(name)) are installed, and do not fit this one: "
                    + "'kcbackup schedule install \(name)' replaces them")
        } catch {
            session.warn(session.failure(of: error).explanation.message)
        }
    }

    /// Warns of units of the system that are as they were before the job was changed: only root can replace them.
    func warnOfSystemUnits(since old: Job, in session: Session) {
        guard let path = outdatedSystemService(since: old, in: session.machine.surroundings) else { return }
        session.warn(
            "the system's units of job \(quoted(name)) are as before: \(quoted(path)); \(systemUnitsWords)")
    }

    private var systemUnitsWords: String {
        "'kcbackup schedule show \(name) \(OptionName.system.spelling)' prints those that take their place"
    }

    /// The commands that let the job run by itself.
    var startingWords: String {
        let timer = "'kcbackup schedule install \(name)' (systemd)"
        return isOfCron ? "\(timer) or 'kcbackup schedule show \(name) --crontab' (cron)" : timer
    }
}

extension RunRecord {
    /// How the run ended; a number that only a newer version knows is a failure without a name.
    var status: ExitStatus {
        get { ExitStatus(rawValue: outcome.code) ?? .internal }
        set { outcome = RunOutcome(code: newValue.code) }
    }
}

extension CopyRecord.Failed {
    /// How the try ended.
    var status: ExitStatus { ExitStatus(rawValue: outcome.code) ?? .internal }
}
