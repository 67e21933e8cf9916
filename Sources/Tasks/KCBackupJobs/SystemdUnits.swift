internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCLocalKeychains

/// The systemd units of a job: a service and a timer, and a service that a path unit starts after changes.
package struct SystemdUnits {
    private let job: Job
    private let surroundings: JobSurroundings
    private let isOfSystem: Bool
    private let failureUnit: String?
    private let credentialsAreEncrypted: Bool
    private let chip: String?

    /// A unit file.
    package struct File {
        package let name: String
        package let text: String
    }

    /// Creates the units of a job.
    ///
    /// - Parameters:
    ///   - isOfSystem: true for the system's service manager, false for the user's.
    ///   - failureUnit: the unit to start when the job fails.
    ///   - credentialsAreEncrypted: true for credentials encrypted with `systemd-creds encrypt`.
    ///   - chip: the device file of the chip that holds the device key; nil if a file holds it. A user's service manager
    ///     hides no devices.
    package init(
        of job: Job, in surroundings: JobSurroundings, isOfSystem: Bool = false, failureUnit: String? = nil,
        credentialsAreEncrypted: Bool = false, chip: String? = nil
    ) {
        self.job = job
        self.surroundings = surroundings
        self.isOfSystem = isOfSystem
        self.failureUnit = failureUnit
        self.credentialsAreEncrypted = credentialsAreEncrypted
        self.chip = chip
    }

    /// True for a name that a unit can have, with its kind (systemd.unit(5)).
    package static func isName(_ text: String) -> Bool {
        let kinds = [
            "service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer", "slice", "scope",
        ]
        let marks = Array(":-_.\\@".utf8)
        guard text.utf8.count <= 255, let kind = kinds.first(where: { text.exact.hasSuffix("." + $0) }) else {
            return false
        }
        let stem = text.utf8.dropLast(kind.utf8.count + 1)
        return !stem.isEmpty && stem.first != UInt8(ascii: "@")
            && stem.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: marks.contains(byte)
                }
            }
    }

    private var name: String { Self.name(of: job.name) }

    private static func name(of job: String) -> String { "kcbackup-\(job)" }

    /// Returns the services, each before the timer or the path unit that starts it.
    ///
    /// - Throws: `JobFailure`: `unwritable` for a path with a control character, which would end a line; `unsafeVariable`.
    package func files() throws(JobFailure) -> [File] {
        if job.startsPrograms { try surroundings.requireVariables() }
        do throws(Quoted.Failure) {
            return try texts()
        } catch {
            throw .unwritable(error, isCrontab: false)
        }
    }

    private func texts() throws(Quoted.Failure) -> [File] {
        var files: [File] = []
        if let calendar = job.calendar {
            files.append(File(name: "\(name).service", text: try service()))
            files.append(File(name: "\(name).timer", text: timer(calendar)))
        }
        if job.onChange {
            files.append(File(name: "\(Self.changed(name)).service", text: try service(afterChanges: true)))
            files.append(File(name: "\(Self.changed(name)).path", text: try pathUnit()))
        }
        return files
    }

    /// The folder in which the units are installed.
    package var folder: String {
        isOfSystem ? surroundings.system + "/systemd/system" : surroundings.userUnits
    }

    // No job can have a name with a dot.
    private static func changed(_ name: String) -> String { name + ".changed" }

    /// The paths of the units of a job in a folder.
    package struct Paths {
        package let service: String
        package let timer: String
        /// The path of the service that the path unit starts.
        package let changedService: String
        package let path: String

        fileprivate init(_ stem: String) {
            let changed = SystemdUnits.changed(stem)
            (service, timer) = (stem + ".service", stem + ".timer")
            (changedService, path) = (changed + ".service", changed + ".path")
        }

        package var all: [String] { [service, timer, changedService, path] }
        var services: [String] { [service, changedService] }
    }

    /// Returns the paths of the units that may have been installed for the user.
    package static func userPaths(of job: String, in surroundings: JobSurroundings) -> Paths {
        Paths("\(surroundings.userUnits)/\(name(of: job))")
    }

    /// Returns the paths of the units that may have been installed for the system.
    static func systemPaths(of job: String, in surroundings: JobSurroundings) -> Paths {
        Paths("\(surroundings.system)/systemd/system/\(name(of: job))")
    }

    private var manager: String { isOfSystem ? "systemctl" : "systemctl --user" }

    /// The shell command that starts the timer and the path unit.
    package var startCommand: String {
        let units = (job.calendar == nil ? [] : [name + ".timer"]) + (job.onChange ? [pathName] : [])
        return "\(manager) daemon-reload && \(manager) enable --now \(units.joined(separator: " "))"
    }

    /// The shell command that starts the path unit alone.
    var startOfPath: String { "\(manager) daemon-reload && \(manager) enable --now \(pathName)" }

    /// The name of the path unit.
    var pathName: String { Self.changed(name) + ".path" }

    private func service(afterChanges: Bool = false) throws(Quoted.Failure) -> String {
        var unit = ["[Unit]", "Description=kcbackup: job \(job.name)"]
        // Names of units are read without quotation marks, and keep the backslashes that escape their characters.
        if let failureUnit { unit.append("OnFailure=\(try Quoted.unitValue(failureUnit))") }
        // Programs that only read a keychain start it, too, as often as they do.
        if afterChanges { unit.append("StartLimitIntervalSec=0") }
        // Without it, a run that waits for something that never comes would keep all later ones from beginning.
        var service = ["", "[Service]", "Type=oneshot", "TimeoutStartSec=\(Job.longestRunInHours)h"]
        if isOfSystem, let user = surroundings.user { service.append("User=\(try Quoted.unitValue(user))") }
        service.append("Environment=XDG_DATA_HOME=\(try Quoted.unitWord(Path.split(surroundings.data).folder))")
        let setting = credentialsAreEncrypted ? "LoadCredentialEncrypted" : "LoadCredential"
        for name in job.credentials {
            let name = try Quoted.unitValue(name)
            service.append("\(setting)=\(name):\(isOfSystem ? "/etc" : "%E")/kcbackup/\(name)")
        }
        let option = afterChanges ? " --when-changed \(Job.quietTime)" : ""
        service.append("ExecStart=\(try Quoted.unitWord(surroundings.program)) run \(job.name)\(option)")
        service += ["Nice=10", "IOSchedulingClass=idle"] + Self.settings
        if isSandboxed {
            service += Self.sandbox
            // A session bus is a socket.
            service.append("RestrictAddressFamilies=\(job.isOfDesktop ? "AF_UNIX" : "none")")
            if isOfSystem {
                service += Self.systemSandbox
                service += chip.map(Self.access) ?? ["PrivateDevices=yes"]
                if !isInTemporaryFolder { service.append("PrivateTmp=yes") }
                var places: [String] = []
                for place in [CatalogueFile.place(of: surroundings.data)] + job.writtenFolders.map({ "-" + $0 }) {
                    places.append(try Quoted.unitWord(place))
                }
                service.append("ReadWritePaths=\(places.joined(separator: " "))")
            }
        } else {
            if let path = surroundings.path(beyond: Self.usualFolders) {
                service.append("\(Self.pathSetting)\(try Quoted.unitWord(path))")
            }
            for variable in surroundings.variables {
                service.append("Environment=\(variable.name)=\(try Quoted.unitWord(variable.path))")
            }
        }
        return (unit + service).map { $0 + "\n" }.joined()
    }

    /// False if the job starts other programs, which may need anything: setgid rights to send mail, memory for compiled
    /// code, a device, a socket, a folder of their own.
    package var isSandboxed: Bool { !job.startsPrograms }

    /// True if they would be written as others are; false for what cannot be written.
    func areSame(as other: SystemdUnits) -> Bool {
        do throws(Quoted.Failure) {
            let (own, others) = (try texts(), try other.texts())
            return own.map(\.name.exact) == others.map(\.name.exact)
                && own.map(\.text.exact) == others.map(\.text.exact)
        } catch {
            return false
        }
    }

    private func timer(_ calendar: String) -> String {
        """
        [Unit]
        Description=kcbackup: when job \(job.name) runs

        [Timer]
        OnCalendar=\(calendar)
        Persistent=true
        RandomizedDelaySec=10m

        [Install]
        WantedBy=timers.target

        """
    }

    /// The path unit, which also lets the service look when it begins: something may have changed before.
    private func pathUnit() throws(Quoted.Failure) -> String {
        var lines = [
            "[Unit]", "Description=kcbackup: what job \(job.name) backs up", "Wants=\(Self.changed(name)).service", "",
            "[Path]",
        ]
        for path in WatchedFiles(of: job, in: DataFolder(path: surroundings.data))?.paths ?? [] {
            // A program may keep the file open for weeks, so that only what it writes shows.
            lines.append("PathModified=\(try Quoted.unitValue(path))")
        }
        return (lines + ["", "[Install]", "WantedBy=paths.target"]).map { $0 + "\n" }.joined()
    }

    /// True if a private temporary folder would hide a file or folder of the job, also one to which a link leads.
    private var isInTemporaryFolder: Bool {
        let store = job.backup.storeFile ?? job.keychain
        let given = ([job.folder] + [store].compactMap(\.self) + job.backup.files).filter { $0.exact.hasPrefix("/") }
        let paths = given + [job.place, surroundings.data]
        return (paths + paths.map(CatalogueFile.place(of:))).contains { path in
            ["/tmp/", "/var/tmp/"].contains { path.exact.hasPrefix($0) }
        }
    }

    /// The beginning of the line that says where programs are looked for, which another shell may tell otherwise.
    static let pathSetting = "Environment=PATH="
    /// The folders in which systemd looks for programs if nothing is set (systemd.exec(5)).
    static let usualFolders = [
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
    ]
    // Settings of every job.
    private static let settings = ["UMask=0077", "LimitCORE=0", "LimitMEMLOCK=16M", "KeyringMode=shared"]
    // Restrictions that a user's service manager can apply without privileges.
    private static let sandbox = [
        "NoNewPrivileges=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes", "RestrictNamespaces=yes", "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @resources",
        // With these, the reader of other programs' files restricts itself further.
        "SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp setrlimit",
        "SystemCallErrorNumber=EPERM",
    ]
    // No device but the chip, which `PrivateDevices=` would hide. The group is that of tpm-udev.
    private static func access(_ path: String) -> [String] {
        ["DevicePolicy=closed", "DeviceAllow=\(path) rw", "SupplementaryGroups=tss"]
    }

    private static let systemSandbox = [
        "CapabilityBoundingSet=", "AmbientCapabilities=", "ProtectSystem=strict", "ProtectHome=read-only",
        "ProtectClock=yes",
        "ProtectControlGroups=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
        "ProtectKernelTunables=yes", "ProtectProc=invisible", "ProcSubset=pid", "RemoveIPC=yes",
        "PrivateNetwork=yes", "IPAddressDeny=any",
    ]
}
