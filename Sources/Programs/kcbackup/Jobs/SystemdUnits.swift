internal import ByteStreams
internal import Console
internal import LocalKeychains

/// The systemd service and timer of a job.
struct SystemdUnits {
    private let job: Job
    private let program: String
    private let isOfSystem: Bool
    private let failureUnit: String?
    private let credentialsAreEncrypted: Bool
    private let data: String
    private let user: String?

    /// A unit file.
    struct File {
        let name: String
        let text: String
    }

    /// Creates the units of a job.
    ///
    /// - Parameters:
    ///   - isOfSystem: true for the system's service manager, false for the user's.
    ///   - failureUnit: the unit to start when the job fails.
    ///   - credentialsAreEncrypted: true for credentials encrypted with `systemd-creds encrypt`.
    init(
        of job: Job, in session: Session, isOfSystem: Bool = false, failureUnit: String? = nil,
        credentialsAreEncrypted: Bool = false
    ) {
        self.job = job
        self.isOfSystem = isOfSystem
        self.failureUnit = failureUnit
        self.credentialsAreEncrypted = credentialsAreEncrypted
        program = session.world.program
        data = session.absolute(session.world.dataFolder.path)
        user = isOfSystem ? session.world.environment["USER"] : nil
    }

    private var name: String { "kcbackup-\(job.name)" }

    /// The service and the timer that starts it.
    var files: [File] {
        [File(name: "\(name).service", text: service), File(name: "\(name).timer", text: timer)]
    }

    /// Returns the folder in which the units are installed.
    func folder(in session: Session) -> String {
        if isOfSystem { return "/etc/systemd/system" }
        let home = session.world.home
        let configuration = session.world.environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (configuration ?? home + "/.config") + "/systemd/user"
    }

    /// Returns the paths of units that may have been installed for the user.
    func installedPaths(in session: Session) -> [String] {
        files.map { "\(folder(in: session))/\($0.name)" }
    }

    /// The shell command that starts the timer.
    var startCommand: String {
        let manager = isOfSystem ? "systemctl" : "systemctl --user"
        return "\(manager) daemon-reload && \(manager) enable --now \(name).timer"
    }

    private var service: String {
        var unit = ["[Unit]", "Description=kcbackup: job \(job.name)"]
        if let failureUnit { unit.append("OnFailure=\(Self.quoted(failureUnit))") }
        var service = ["", "[Service]", "Type=oneshot"]
        if let user { service.append("User=\(user)") }
        service.append("Environment=XDG_DATA_HOME=\(Self.quoted(Path.split(data).folder))")
        for name in credentials {
            service.append(
                "LoadCredential\(credentialsAreEncrypted ? "Encrypted" : "")=\(name):\(isOfSystem ? "/etc" : "%E")/kcbackup/\(name)"
            )
        }
        service.append("ExecStart=\(Self.quoted(program)) run \(job.name)")
        service += ["Nice=10", "IOSchedulingClass=idle"] + Self.sandbox
        // A command of the job may use the network or change its priority.
        if !callsCommands {
            service += ["RestrictAddressFamilies=none", "SystemCallFilter=~@privileged @resources"]
        }
        if isOfSystem {
            service += Self.systemSandbox
            if !callsCommands { service += ["PrivateNetwork=yes", "IPAddressDeny=any"] }
            service.append("ReadWritePaths=\(Self.quoted(data)) \(Self.quoted(job.folder))")
        }
        return (unit + service).map { $0 + "\n" }.joined()
    }

    private var timer: String {
        """
        [Unit]
        Description=kcbackup: when job \(job.name) runs

        [Timer]
        OnCalendar=\(job.time)
        Persistent=true
        RandomizedDelaySec=10m

        [Install]
        WantedBy=timers.target

        """
    }

    /// True if the job starts other programs.
    private var callsCommands: Bool {
        job.onSuccess != nil || job.onFailure != nil || job.create.contains { $0.hasPrefix("cmd:") }
    }

    /// The names of the credentials that the job reads.
    private var credentials: [String] {
        job.create.compactMap { $0.hasPrefix("cred:") ? String($0.dropFirst(5)) : nil }
    }

    // Settings that every service manager can apply without privileges of its own.
    private static let sandbox = [
        "UMask=0077", "LimitCORE=0", "LimitMEMLOCK=16M", "KeyringMode=shared", "NoNewPrivileges=yes",
        "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
        "RestrictNamespaces=yes", "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
    ]
    private static let systemSandbox = [
        "CapabilityBoundingSet=", "AmbientCapabilities=", "ProtectSystem=strict", "ProtectHome=read-only",
        "PrivateTmp=yes", "PrivateDevices=yes", "ProtectClock=yes",
        "ProtectControlGroups=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
        "ProtectKernelTunables=yes", "ProtectProc=invisible", "ProcSubset=pid", "RemoveIPC=yes",
    ]

    /// Quotes a word for a unit file, escaping what systemd would expand or split.
    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$")
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@".contains($0) }
        return isPlain ? text : "\"\(escaped)\""
    }
}

extension Job {
    /// Returns the crontab(5) line that runs the job.
    ///
    /// - Throws: `UsageProblem.malformed` for a time that cron cannot express.
    func crontabLine(in session: Session) throws(UsageProblem) -> String {
        guard let when = Self.cronTimes[time] else {
            throw .malformed(.at, form: "one that a line of a crontab can have: hourly, daily, weekly or monthly")
        }
        // Absolute paths, since cron's environment is minimal and its home folder may be another one.
        let data = Path.split(session.absolute(session.world.dataFolder.path)).folder
        let words = ["XDG_DATA_HOME=" + Self.shellQuoted(data), Self.shellQuoted(session.world.program), "run", name]
        return "\(when) \(words.joined(separator: " ").replacing("%", with: "\\%"))"
    }

    /// The times that a line of a crontab can have.
    static let cronTimes = [
        "hourly": "17 * * * *", "daily": "17 3 * * *", "weekly": "17 3 * * 1", "monthly": "17 3 1 * *",
    ]

    private static func shellQuoted(_ text: String) -> String {
        if text.allSatisfy({ $0.isLetter || $0.isNumber || "/._-+:@".contains($0) }) { return text }
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
