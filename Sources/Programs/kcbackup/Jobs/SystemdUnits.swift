internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCReportText

/// The systemd service and timer of a job.
struct SystemdUnits {
    private let job: Job
    private let program: String
    private let isOfSystem: Bool
    private let failureUnit: String?
    private let credentialsAreEncrypted: Bool
    private let data: String
    private let user: String?
    /// The folder with the keys of gpg, if it is not the usual one.
    private let gpgFolder: String?

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
        gpgFolder = session.world.environment["GNUPGHOME"].flatMap { $0.isEmpty ? nil : session.absolute($0) }
        user = isOfSystem ? session.world.environment["USER"] : nil
    }

    private var name: String { Self.name(of: job.name) }

    private static func name(of job: String) -> String { "kcbackup-\(job)" }

    /// Returns the service and the timer that starts it.
    ///
    /// - Throws: `UsageProblem.unwritable` for a path with a control character, which would end a line.
    func files() throws(UsageProblem) -> [File] {
        do throws(Quoted.Failure) {
            return [File(name: "\(name).service", text: try service()), File(name: "\(name).timer", text: timer)]
        } catch {
            throw .unwritable(error, isCrontab: false)
        }
    }

    /// Returns the folder in which the units are installed.
    func folder(in session: Session) -> String {
        isOfSystem ? "/etc/systemd/system" : Self.userFolder(in: session)
    }

    private static func userFolder(in session: Session) -> String {
        let home = session.world.home
        let configuration = session.world.environment["XDG_CONFIG_HOME"].flatMap { $0.exact.hasPrefix("/") ? $0 : nil }
        return (configuration ?? home + "/.config") + "/systemd/user"
    }

    /// Returns the paths of the service and the timer that may have been installed for the user.
    static func userPaths(of job: String, in session: Session) -> (service: String, timer: String) {
        let stem = "\(userFolder(in: session))/\(name(of: job))"
        return (stem + ".service", stem + ".timer")
    }

    /// The shell command that starts the timer.
    var startCommand: String {
        let manager = isOfSystem ? "systemctl" : "systemctl --user"
        return "\(manager) daemon-reload && \(manager) enable --now \(name).timer"
    }

    private func service() throws(Quoted.Failure) -> String {
        var unit = ["[Unit]", "Description=kcbackup: job \(job.name)"]
        if let failureUnit { unit.append("OnFailure=\(try Quoted.unitWord(failureUnit))") }
        var service = ["", "[Service]", "Type=oneshot"]
        if let user { service.append("User=\(try Quoted.unitValue(user))") }
        service.append("Environment=XDG_DATA_HOME=\(try Quoted.unitWord(Path.split(data).folder))")
        let setting = credentialsAreEncrypted ? "LoadCredentialEncrypted" : "LoadCredential"
        for name in credentials {
            let name = try Quoted.unitValue(name)
            service.append("\(setting)=\(name):\(isOfSystem ? "/etc" : "%E")/kcbackup/\(name)")
        }
        service.append("ExecStart=\(try Quoted.unitWord(program)) run \(job.name)")
        service += ["Nice=10", "IOSchedulingClass=idle"] + Self.settings
        if isSandboxed {
            service += Self.sandbox
            // A session bus is a socket.
            service.append("RestrictAddressFamilies=\(job.isOfDesktop ? "AF_UNIX" : "none")")
            if isOfSystem {
                service += Self.systemSandbox
                if !isInTemporaryFolder { service.append("PrivateTmp=yes") }
                var places: [String] = []
                for place in [CatalogueFile.place(of: data)] + writtenFolders.map({ "-" + $0 }) {
                    places.append(try Quoted.unitWord(place))
                }
                service.append("ReadWritePaths=\(places.joined(separator: " "))")
            }
        } else if let keys = gpgFolder {
            service.append("Environment=GNUPGHOME=\(try Quoted.unitWord(keys))")
        }
        return (unit + service).map { $0 + "\n" }.joined()
    }

    /// False if the job starts other programs, which may need anything: setgid rights to send mail, memory for compiled
    /// code, a device, a socket, a folder of their own.
    var isSandboxed: Bool { !job.startsPrograms }

    /// The folders outside the data folder that the job writes to; they may not exist yet.
    ///
    /// systemd ignores a path with a `..` in it.
    private var writtenFolders: [String] {
        guard let keychain = job.keychain, keychain.exact.hasPrefix("/") else { return [job.place] }
        // SQLite makes files next to that of a keychain.
        return [job.place, CatalogueFile.place(of: Path.split(keychain).folder)]
    }

    private var timer: String {
        """
        [Unit]
        Description=kcbackup: when job \(job.name) runs

        [Timer]
        OnCalendar=\(job.calendar)
        Persistent=true
        RandomizedDelaySec=10m

        [Install]
        WantedBy=timers.target

        """
    }

    /// True if a private temporary folder would hide a file or folder of the job.
    private var isInTemporaryFolder: Bool {
        (job.arguments + [data]).contains { word in
            ["/tmp/", "/var/tmp/"].contains { word.exact.hasPrefix($0) || word.exact.hasPrefix("file:" + $0) }
        }
    }

    /// The names of the credentials that the job reads.
    private var credentials: [String] {
        job.create.compactMap { $0.exact.removingPrefix("cred:") }
    }

    // Settings of every job.
    private static let settings = ["UMask=0077", "LimitCORE=0", "LimitMEMLOCK=16M", "KeyringMode=shared"]
    // Restrictions that a user's service manager can apply without privileges.
    private static let sandbox = [
        "NoNewPrivileges=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes", "RestrictNamespaces=yes", "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @resources", "SystemCallErrorNumber=EPERM",
    ]
    private static let systemSandbox = [
        "CapabilityBoundingSet=", "AmbientCapabilities=", "ProtectSystem=strict", "ProtectHome=read-only",
        "PrivateDevices=yes", "ProtectClock=yes",
        "ProtectControlGroups=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
        "ProtectKernelTunables=yes", "ProtectProc=invisible", "ProcSubset=pid", "RemoveIPC=yes",
        "PrivateNetwork=yes", "IPAddressDeny=any",
    ]
}

extension Job {
    /// True if the job backs up the desktop keyring, which is reached over the session bus of its user.
    var isOfDesktop: Bool { DesktopKeyring(keychain) != nil }

    /// True if the job starts other programs: the commands that it was given, and gpg for a store of pass.
    var startsPrograms: Bool {
        if onSuccess != nil || onFailure != nil || create.contains(where: { $0.exact.hasPrefix("cmd:") }) {
            return true
        }
        guard let path = keychain.flatMap(FileOfItems.path) else { return false }
        // What is not there now may be a store, on another disk.
        return Path.isFile(path + "/.gpg-id") || !(Path.isFile(path) || Path.isFolder(path))
    }

    /// Returns the crontab(5) line that runs the job.
    ///
    /// - Throws: `UsageProblem` (`malformed` for a time that cron cannot express, `unwritable` for a path).
    func crontabLine(in session: Session) throws(UsageProblem) -> String {
        guard let when = Self.cronTimes[time] else {
            throw .malformed(.at, form: "one that a line of a crontab can have: hourly, daily, weekly or monthly")
        }
        // Absolute paths, since cron's environment is minimal and its home folder may be another one.
        let data = Path.split(session.absolute(session.world.dataFolder.path)).folder
        do throws(Quoted.Failure) {
            let variable = "XDG_DATA_HOME=" + (try Quoted.crontabCommand([data]))
            return "\(when) \(variable) \(try Quoted.crontabCommand([session.world.program, "run", name]))"
        } catch {
            throw .unwritable(error, isCrontab: true)
        }
    }

    /// The times that a line of a crontab can have.
    static let cronTimes = [
        "hourly": "17 * * * *", "daily": "17 3 * * *", "weekly": "17 3 * * 1", "monthly": "17 3 1 * *",
    ]

    /// The same times for a timer; by itself, systemd would use midnight, when many machines may be off.
    private static let timerTimes = [
        "hourly": "*-*-* *:17:00", "daily": "*-*-* 03:17:00", "weekly": "Mon *-*-* 03:17:00",
        "monthly": "*-*-01 03:17:00",
    ]

    /// When a timer starts the job.
    fileprivate var calendar: String { Self.timerTimes[time] ?? time }
}
