internal import KCAsking
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

// The jobs of `KCBackupJobs`, with the options, the environment and the words of this program.

extension Jobs {
    /// The jobs in this world's data folder.
    init(_ machine: Machine) {
        self.init(in: machine.dataFolder, of: LocalDevice(machine))
    }
}

extension Job {
    /// Refuses a job whose archives cannot be made for its keys and the recovery kits of this device.
    ///
    /// - Throws: as `ArchiveKeyRequest.recipients`.
    func requireKeys(in session: Session) throws { _ = try backup.keys?.recipients(in: session.unattended) }

    /// Warns of units that an earlier job of this name has left, and that start this one as if it were that.
    func warnOfUnits(in session: Session) {
        do {
            let surroundings = session.surroundings
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
            session.warn(Failure(error, session.subjects).explanation.message)
        }
    }

    /// Warns of units of the system that are as they were before the job was changed: only root can replace them.
    func warnOfSystemUnits(since old: Job, in session: Session) {
        guard let path = outdatedSystemService(since: old, in: session.surroundings) else { return }
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

extension Session {
    /// Where jobs are run, and by which program.
    var surroundings: JobSurroundings {
        let root = machine.systemRoot.exact.removingSuffix("/") ?? machine.systemRoot
        return JobSurroundings(
            program: machine.program, data: absolute(machine.dataFolder.path), home: machine.home,
            configuration: machine.environment["XDG_CONFIG_HOME"].flatMap { $0.exact.hasPrefix("/") ? $0 : nil },
            variables: variables, programs: programFolders(areShared: false),
            sharedPrograms: programFolders(areShared: true), user: machine.environment["USER"], system: root + "/etc")
    }

    /// The folders of `PATH` that can be written in a unit or a crontab, without repetition.
    ///
    /// - Parameter areShared: true for those that other users can write to, false for the others.
    private func programFolders(areShared: Bool) -> [String] {
        var folders: [String] = []
        for folder in (machine.environment["PATH"] ?? "").exact.split(separator: ":")
        where folder.exact.hasPrefix("/") && !folder.exact.hasControlCharacter && !folder.exact.contains("\\")
            && !folders.contains(where: { $0.exact == folder.exact }) && Self.isTrusted(folder) != areShared
        {
            folders.append(folder)
        }
        return folders
    }

    /// False for a folder in which another user could put a program: a job would start it with the secrets that it has.
    private static func isTrusted(_ folder: String) -> Bool {
        do throws(FileFailure) {
            try PrivateFolder.require(folder)
            return true
        } catch {
            return false
        }
    }

    /// Where gpg and rclone have their files, if not at their usual places.
    private var variables: [(name: String, path: String)] {
        func path(_ name: String) -> String? {
            machine.environment[name].flatMap { $0.isEmpty ? nil : absolute($0) }
        }
        // It decides where rclone looks first, and may be set in shells alone. What is not there yet, rclone makes there.
        let configuration = path("XDG_CONFIG_HOME").map { folder in
            absolute(machine.foundRcloneConfiguration ?? folder + "/rclone/rclone.conf")
        }
        let found = [
            ("GNUPGHOME", path("GNUPGHOME")), ("RCLONE_CONFIG", path("RCLONE_CONFIG") ?? configuration),
        ]
        return found.compactMap { name, path in path.map { (name, $0) } }
    }
}

extension JobStarter {
    /// Looks for what starts a job; changes nothing.
    init(of job: Job, in session: Session) {
        self.init(of: job, in: session.surroundings) { Self.crontab(in: session) }
    }

    /// Returns the user's crontab, which is empty without cron; nil if it cannot be read.
    static func crontab(in session: Session) -> String? {
        // crontab(1) fails if there is no crontab, and says so in the language of the user.
        let script = ShellScript(
            """
            command -v crontab > /dev/null || exit 0
            text=$(LC_ALL=C crontab -l 2>&1) && printf '%s\\n' "$text" && exit
            case $text in *'no crontab for'*) ;; *) exit 1 ;; esac
            """)
        do throws(ShellCommand.Failure) {
            let text = try ShellCommand.output(of: script, environment: session.machine.environment, limit: 1 << 20)
            return text.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        } catch {
            return nil
        }
    }
}

extension Session {
    /// Checks that the secret of a job can be read from where it comes from.
    func checkSource(_ source: SecretSource) throws {
        // Credentials are available only in the unit that runs the job.
        if case .credential = source, machine.environment["CREDENTIALS_DIRECTORY"] == nil { return }
        _ = try secrets.new(WantedSecret(.passphraseOfNewArchive, .passphrase, from: source))
    }
}
