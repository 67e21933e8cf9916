import KCByteStreams
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("What starts a job")
struct JobStarterTests {
    private let folder: TemporaryFolder
    private let job = Job.example()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var surroundings: JobSurroundings {
        JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path("home"),
            system: folder.path("etc"))
    }

    private func starter(crontab: String? = "") -> JobStarter {
        JobStarter(of: job, in: surroundings) { crontab }
    }

    private func write(_ path: String, _ text: String) throws {
        try Path.makeFolder(Path.split(folder.path(path)).folder)
        try folder.write(path, Array(text.utf8))
    }

    @Test("A line of a unit, a crontab or a script is recognized by the job that it runs")
    func starters() {
        for line in [
            "ExecStart=/usr/bin/kcbackup run nightly", "17 3 * * * XDG_DATA_HOME=/x '/opt/kcbackup' run nightly",
            "kcbackup run -v nightly >/dev/null", "@daily kcbackup run \"nightly\"",
        ] {
            #expect(JobStarter.starts("nightly", "[Service]\n\(line)\n"), "\(line)")
        }
        for line in [
            "# 17 3 * * * kcbackup run nightly", "kcbackup run nightly2", "kcbackup schedule show nightly",
            "nightly kcbackup run", "other run nightly", "",
        ] {
            #expect(!JobStarter.starts("nightly", line), "\(line)")
        }
    }

    @Test("A line of the user's crontab or of a file of cron starts a job, and one of another job does not")
    func cron() throws {
        #expect(starter() == .nothing)
        #expect(starter(crontab: "0 3 * * * kcbackup run x") == .found)
        #expect(starter(crontab: "0 3 * * * kcbackup run y") == .nothing)
        #expect(starter(crontab: nil) == .unknown)
        try write("etc/cron.daily/backup", "#!/bin/sh\nkcbackup run x\n")
        #expect(starter(crontab: nil) == .found)
    }

    @Test("Installed units start a job once its timer is enabled, by the user or for all users")
    func timers() throws {
        let units = SystemdUnits(of: job, in: surroundings)
        #expect(units.folder == folder.path("home/.config/systemd/user"))
        for file in try units.files() { try write("home/.config/systemd/user/\(file.name)", file.text) }
        #expect(starter() == .notEnabled(command: units.startCommand))
        #expect(starter(crontab: nil) == .notEnabled(command: units.startCommand))
        try write("etc/systemd/user/timers.target.wants/kcbackup-x.timer", "")
        #expect(starter() == .found)
    }

    @Test("What starts a job of this name for another user does not start this one")
    func ofOthers() throws {
        let ada = JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path("home"), user: "ada",
            system: folder.path("etc"))
        func starter() -> JobStarter { JobStarter(of: job, in: ada) { "" } }
        let run = "ExecStart=/usr/bin/kcbackup run x\n"
        for (name, text) in [("kcbackup-x", "[Service]\nUser=bob\n" + run), ("kcbackup-root", "[Service]\n" + run)] {
            try write("etc/systemd/system/\(name).service", text)
            try write("etc/systemd/system/timers.target.wants/\(name).timer", "")
            #expect(starter() == .nothing)
        }
        try write("etc/cron.d/backup", "PATH=/bin\n17 3 * * * bob kcbackup run x\n@daily\tbob kcbackup run x\n")
        try write("etc/cron.daily/backup", "#!/bin/sh\nkcbackup run x\n")
        #expect(starter() == .nothing)
        try write("etc/crontab", "17 3 * * * ada kcbackup run x\n")
        #expect(starter() == .found)
    }

    @Test("A system unit with the user's name starts a job")
    func ofSystem() throws {
        let ada = JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path("home"), user: "ada",
            system: folder.path("etc"))
        for file in try SystemdUnits(of: job, in: ada, isOfSystem: true).files() {
            try write("etc/systemd/system/\(file.name)", file.text)
        }
        try write("etc/systemd/system/timers.target.wants/kcbackup-x.timer", "")
        #expect(JobStarter(of: job, in: ada) { "" } == .found)
    }
}
