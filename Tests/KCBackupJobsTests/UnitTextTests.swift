import Foundation
import KCAsking
import KCBackupCatalogue
import KCBackupTasks
import KCByteStreams
import KCStoreTasks
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("Texts of units and of lines of cron")
struct UnitTextTests {
    private func surroundings(_ folder: String = "/home/ada", user: String? = "ada") -> JobSurroundings {
        JobSurroundings(
            program: "/usr/bin/kcbackup", data: "\(folder)/.local/share/kcbackup", home: folder, user: user)
    }

    private func job(
        _ stores: BackupRequest.Stores = .everyKeychain, passcode: SecretSource? = nil, at time: String = "daily",
        keys: ArchiveKeyRequest = ArchiveKeyRequest()
    ) -> Job {
        var job = Job.example(to: "/mnt/b") {
            $0.stores = stores
            $0.access.key = .passcode(passcode)
            $0.mode = .encrypted(keys)
        }
        job.time = time
        return job
    }

    private func service(_ job: Job, isOfSystem: Bool = false, isEncrypted: Bool = false) throws -> [Substring] {
        let units = SystemdUnits(
            of: job, in: surroundings(), isOfSystem: isOfSystem, failureUnit: "mail@%n.service",
            credentialsAreEncrypted: isEncrypted)
        return try units.files()[0].text.split(separator: "\n")
    }

    @Test("A job that reads a credential has no line for cron, which gives it none")
    func credentialWithoutUnit() throws {
        let job = job(passcode: .credential("door"))
        #expect(!job.isOfCron)
        #expect(throws: JobFailure.needsUnit(job: "x", credential: "door")) {
            try job.crontabLine(in: surroundings())
        }
    }

    @Test(
        "A time with a name is the same for cron and for a timer, and cron has no others",
        arguments: [
            ("hourly", "*-*-* *:17:00", "17 * * * * "), ("daily", "*-*-* 03:17:00", "17 3 * * * "),
            ("weekly", "Mon *-*-* 03:17:00", "17 3 * * 1 "), ("monthly", "*-*-01 03:17:00", "17 3 1 * * "),
        ])
    func times(name: String, timer: String, cron: String) throws {
        let job = job(at: name)
        #expect(job.isOfCron)
        #expect(try job.crontabLine(in: surroundings()).hasPrefix(cron))
        let files = try SystemdUnits(of: job, in: surroundings()).files()
        #expect(files.map(\.name) == ["kcbackup-x.service", "kcbackup-x.timer"])
        #expect(files[1].text.contains("\nOnCalendar=\(timer)\n"))
        let other = self.job(at: "Mon..Fri 12:00")
        #expect(!other.isOfCron)
        #expect(throws: JobFailure.notOfCron(time: "Mon..Fri 12:00")) { try other.crontabLine(in: surroundings()) }
        #expect(try SystemdUnits(of: other, in: surroundings()).files()[1].text.contains("OnCalendar=Mon..Fri 12:00\n"))
    }

    @Test("A name that systemd would ignore is no name of a unit")
    func unitNames() {
        for name in ["mail.service", "mail@ada.service", "a-b_c.d:e\\x2d.target", "0.timer"] {
            #expect(SystemdUnits.isName(name), "\(name)")
        }
        let long = String(repeating: "a", count: 248) + ".service"
        for name in [
            "", "a b.service", "mail", ".service", "@ada.service", "mail@%n.service", "é.service", "a.conf", long,
        ] {
            #expect(!SystemdUnits.isName(name), "\(name)")
        }
    }

    @Test("Only a system unit names its user and what it writes to")
    func manager() throws {
        let ofUser = try service(job())
        #expect(!ofUser.contains { $0.hasPrefix("User=") || $0.hasPrefix("ReadWritePaths=") })
        #expect(ofUser.contains("Environment=XDG_DATA_HOME=/home/ada/.local/share"))
        #expect(ofUser.contains("NoNewPrivileges=yes"))
        let ofSystem = try service(job(), isOfSystem: true)
        #expect(ofSystem.contains("User=ada"))
        #expect(ofSystem.contains { $0.hasPrefix("ReadWritePaths=") && $0.hasSuffix(" -/mnt/b") })
        #expect(ofSystem.contains("RestrictAddressFamilies=none"))
    }

    @Test("A system unit hides no temporary file or folder to which a link leads")
    func temporaryFolders() throws {
        #expect(try service(job(), isOfSystem: true).contains("PrivateTmp=yes"))
        var linked = job()
        linked.place = "/var/tmp/b"
        let folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "/tmp")
        let reading = job(passcode: .file("\(folder.path("link"))/passcode"))
        for other in [linked, reading] {
            #expect(try !service(other, isOfSystem: true).contains("PrivateTmp=yes"), "\(other)")
        }
    }

    @Test("Credentials are loaded by their names, and a job that starts programs has no sandbox")
    func credentials() throws {
        let job = self.job(.named("work"), passcode: .credential("work"))
        #expect(try service(job).contains("LoadCredential=work:%E/kcbackup/work"))
        #expect(
            try service(job, isOfSystem: true, isEncrypted: true)
                .contains("LoadCredentialEncrypted=work:/etc/kcbackup/work"))
        #expect(try !service(self.job(passcode: .command("pass"))).contains("NoNewPrivileges=yes"))
    }

    @Test("A job with a key that a plugin encrypts to has no sandbox, and its installed unit must have none")
    func pluginKeys() throws {
        let folder = try TemporaryFolder()
        let own = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
        let plugin = ScriptedPlugin.recipient()
        try folder.write("own", Array("# mine\n\(own)\n".utf8))
        try folder.write("both", Array("# mine\r\n\(own)\r\n\(plugin)\r\n".utf8))
        func starts(_ keys: ArchiveKeyRequest) -> Bool { job(keys: keys).startsPrograms }
        func starts(_ recipients: RecipientRequest) -> Bool { starts(ArchiveKeyRequest(restoring: recipients)) }
        func file(_ name: String) -> RecipientRequest { RecipientRequest(files: [folder.path(name)]) }
        #expect(!starts(RecipientRequest(keys: [own])) && !starts(file("own")) && !starts(file("missing")))
        #expect(starts(RecipientRequest(keys: [plugin])) && starts(ArchiveKeyRequest(inspecting: [plugin])))
        #expect(starts(file("both")))
        let withPlugin = job(keys: ArchiveKeyRequest(restoring: RecipientRequest(keys: [plugin])))
        let unit = try service(withPlugin)
        #expect(!unit.contains { $0.hasPrefix("NoNewPrivileges") || $0.hasPrefix("Restrict") })
        let here = surroundings(folder.path)
        let units = SystemdUnits(of: job(), in: here)
        try Path.makeFolder(units.folder)
        let path = SystemdUnits.userPaths(of: "x", in: here).service
        try PrivateFile.replace(path, try units.files()[0].text.utf8.span)
        #expect(throws: JobFinding.otherService(job: "x", path: path, isOfSystem: false)) {
            try withPlugin.checkServices(in: here)
        }
    }

    @Test("rclone finds the configuration that the job was added with, and gets the network")
    func remotes() throws {
        var job = job()
        job.copyTo = ["nas:backups"]
        let here = JobSurroundings(
            program: "/usr/bin/kcbackup", data: "/home/ada/.local/share/kcbackup", home: "/home/ada",
            variables: [("RCLONE_CONFIG", "/home/ada/my rclone.conf")])
        let text = try SystemdUnits(of: job, in: here).files()[0].text
        #expect(text.contains("\nEnvironment=RCLONE_CONFIG=\"/home/ada/my rclone.conf\"\n"))
        #expect(!text.contains("RestrictAddressFamilies"))
        #expect(try job.crontabLine(in: here).contains(" RCLONE_CONFIG='/home/ada/my rclone.conf' "))
    }

    @Test("Files of gpg and rclone where others can put their own are refused for a job that starts programs")
    func sharedVariables() throws {
        let folder = try TemporaryFolder()
        let shared = folder.path("shared")
        try Path.makeFolder(shared)
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: shared)
        var copied = job()
        copied.copyTo = ["nas:backups"]
        let remote = copied
        for (name, path) in [("GNUPGHOME", shared), ("RCLONE_CONFIG", shared + "/rclone.conf")] {
            let here = JobSurroundings(
                program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path,
                variables: [(name, path)])
            _ = try SystemdUnits(of: job(), in: here).files()
            let failure = JobFailure.unsafeVariable(name, path: path, FileFailure(shared, .sharedFolder(mode: 0o770)))
            #expect(throws: failure) { try SystemdUnits(of: remote, in: here).files() }
            #expect(throws: failure) { try remote.crontabLine(in: here) }
        }
    }

    @Test("A job finds the programs that it starts where the shell found them that printed its units and its line")
    func programs() throws {
        let folder = try TemporaryFolder()
        func here(_ folders: [String]) throws -> JobSurroundings {
            JobSurroundings(
                program: "/usr/bin/kcbackup", data: "/home/ada/.local/share/kcbackup", home: folder.path,
                programs: folders)
        }
        var job = job()
        let odd = ["/home/ada/my bin", "/usr/bin"]
        #expect(try !job.crontabLine(in: here(odd)).contains("PATH="))
        job.copyTo = ["nas:backups"]
        let line = try job.crontabLine(in: here(odd))
        #expect(line.hasSuffix(" PATH='/home/ada/my bin:/usr/bin' /usr/bin/kcbackup run x"), "\(line)")
        #expect(try !job.crontabLine(in: here(["/usr/bin", "/bin"])).contains("PATH="))
        let units = SystemdUnits(of: job, in: try here(odd))
        #expect(try units.files()[0].text.contains("\nEnvironment=PATH=\"/home/ada/my bin:/usr/bin\"\n"))
        let usual = SystemdUnits(of: job, in: try here(["/usr/local/bin", "/usr/bin", "/bin"]))
        #expect(try !usual.files()[0].text.contains("PATH="))
        // Units that another shell has made are those of the job.
        try Path.makeFolder(units.folder)
        for file in try units.files() {
            try PrivateFile.replace("\(units.folder)/\(file.name)", file.text.utf8.span)
        }
        let found = try #require(try InstalledUnits(of: "x", in: here(["/usr/bin"])))
        let made = try #require(try found.units(of: job, insteadOf: job, in: here(["/opt/bin"])))
        #expect(try made.files()[0].text.contains("\nEnvironment=PATH=/opt/bin\n"))
    }

    @Test("A path that would end a line of a unit or a crontab is refused")
    func controlCharacters() {
        let path = "/home/a\nb"
        #expect(throws: JobFailure.unwritable(.controlCharacter("\(path)/.local/share"), isCrontab: false)) {
            try SystemdUnits(of: job(), in: surroundings(path)).files()
        }
        #expect(throws: JobFailure.self) { try job().crontabLine(in: surroundings(path)) }
    }

    @Test("The units of an edited job keep their options, and units that were changed by hand are left alone")
    func installed() throws {
        let folder = try TemporaryFolder()
        let here = surroundings(folder.path)
        let old = job(.named("work"), passcode: .credential("work"))
        #expect(try InstalledUnits(of: "x", in: here) == nil)
        let failureUnit = #"mail@home-ada\x2dx.service"#
        let units = SystemdUnits(of: old, in: here, failureUnit: failureUnit, credentialsAreEncrypted: true)
        try Path.makeFolder(units.folder)
        for file in try units.files() {
            try PrivateFile.replace("\(units.folder)/\(file.name)", file.text.utf8.span)
        }
        let found = try #require(try InstalledUnits(of: "x", in: here))
        let new = job(.named("work"), passcode: .credential("work"), at: "hourly")
        let made = try #require(try found.units(of: new, insteadOf: old, in: here))
        let text = try made.files()[0].text
        #expect(text.contains("\nOnFailure=\(failureUnit)\n") && text.contains("\nLoadCredentialEncrypted=work:"))
        struct Refused: Error {}
        let timer = SystemdUnits.userPaths(of: "x", in: here).timer
        #expect(throws: Refused.self) {
            try found.replace(with: made, notRestored: { _ in }) { throw Refused() }
        }
        #expect(try contents(of: timer).contains("OnCalendar=*-*-* 03:17:00"))
        try found.replace(with: made, notRestored: { _ in }) {}
        #expect(try contents(of: timer).contains("OnCalendar=*-*-* *:17:00"))
        // These are those of another job than this one.
        #expect(try InstalledUnits(of: "x", in: here)?.units(of: new, insteadOf: old, in: here) == nil)
    }

    @Test("A service that is installed gives the job what it needs, and the files of its credentials are there")
    func services() throws {
        let folder = try TemporaryFolder()
        let here = JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path, user: "ada",
            system: folder.path("etc"))
        let sealed = job(passcode: .credential("100%"))
        try sealed.checkServices(in: here)
        func install(isOfSystem: Bool = false, isEncrypted: Bool = false) throws {
            let units = SystemdUnits(
                of: sealed, in: here, isOfSystem: isOfSystem, credentialsAreEncrypted: isEncrypted)
            try Path.makeFolder(units.folder)
            try PrivateFile.replace("\(units.folder)/kcbackup-x.service", try units.files()[0].text.utf8.span)
        }
        try install()
        let file = folder.path(".config/kcbackup/100%")
        #expect(throws: JobFinding.noCredential("100%", path: file, isEncrypted: false)) {
            try sealed.checkServices(in: here)
        }
        let service = SystemdUnits.userPaths(of: "x", in: here).service
        let other = JobFinding.otherService(job: "x", path: service, isOfSystem: false)
        // The credential is that of an earlier job.
        #expect(throws: other) { try job().checkServices(in: here) }
        try Path.makeFolder(folder.path(".config/kcbackup"))
        try folder.write(".config/kcbackup/100%", [])
        for fitting in [sealed, job()] { try fitting.checkServices(in: here) }
        var remote = sealed
        remote.fleet = "nas:fleet"
        for misfit in [remote, job(passcode: .credential("other"))] {
            #expect(throws: other) { try misfit.checkServices(in: here) }
        }
        try install(isOfSystem: true, isEncrypted: true)
        #expect(throws: JobFinding.noCredential("100%", path: "/etc/kcbackup/100%", isEncrypted: true)) {
            try sealed.checkServices(in: here)
        }
        // Settings elsewhere may be all that is missing.
        try Path.makeFolder(folder.path("etc/systemd/system/kcbackup-x.service.d"))
        try sealed.checkServices(in: here)
    }

    @Test("A service of the system that cannot write to the job's folder is found, and a change of the job names it")
    func folderOfSystemService() throws {
        let folder = try TemporaryFolder()
        let here = JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path, user: "ada",
            system: folder.path("etc"))
        let old = job()
        let later = job(at: "hourly")
        #expect(later.outdatedSystemService(since: old, in: here) == nil)
        #expect(try InstalledUnits.systemPaths(of: "x", in: here).isEmpty)
        let units = SystemdUnits(of: old, in: here, isOfSystem: true)
        try Path.makeFolder(units.folder)
        let path = "\(units.folder)/kcbackup-x.service"
        let text = try units.files()[0].text
        try PrivateFile.replace(path, text.utf8.span)
        try old.checkServices(in: here)
        var changed = old
        changed.place = "/mnt/c"
        let moved = changed
        #expect(throws: JobFinding.otherService(job: "x", path: path, isOfSystem: true)) {
            try moved.checkServices(in: here)
        }
        for new in [moved, later] { #expect(new.outdatedSystemService(since: old, in: here) == path) }
        #expect(try InstalledUnits.systemPaths(of: "x", in: here) == [path])
        // A field that no unit has changes none.
        changed = old
        changed.keep.last = 7
        #expect(changed.outdatedSystemService(since: old, in: here) == nil)
        // Changed by hand, it may write there.
        for more in [
            "ReadWritePaths=/srv \"-/mnt\"\n", "ReadWritePaths=%h\n", "ProtectSystem=full\n", "BindPaths=/mnt/c\n",
        ] {
            let other = text + more
            try PrivateFile.replace(path, other.utf8.span)
            try moved.checkServices(in: here)
        }
        // The service is that of another user.
        let bob = text.replacing("User=ada", with: "User=bob")
        try PrivateFile.replace(path, bob.utf8.span)
        #expect(moved.outdatedSystemService(since: old, in: here) == nil)
    }

    private func contents(of path: String) throws -> String {
        try PrivateFile.readPublic(path).withBytes { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }
}
