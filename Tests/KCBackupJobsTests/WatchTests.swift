import Foundation
import KCBackupTasks
import KCByteStreams
import KCKeychainModel
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("Jobs that run after changes")
struct WatchTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var surroundings: JobSurroundings {
        JobSurroundings(
            program: "/usr/bin/kcbackup", data: folder.path("data/kcbackup"), home: folder.path("home"), user: "ada",
            system: folder.path("etc"))
    }

    private var dataFolder: DataFolder { DataFolder(path: folder.path("data/kcbackup")) }

    private func job(_ stores: BackupRequest.Stores = .named("login"), at time: String? = nil) -> Job {
        var job = Job.example { $0.stores = stores }
        (job.time, job.onChange) = (time, true)
        return job
    }

    private func install(_ job: Job) throws {
        let units = SystemdUnits(of: job, in: surroundings)
        try Path.makeFolder(units.folder)
        for file in try units.files() {
            try PrivateFile.replace("\(units.folder)/\(file.name)", file.text.utf8.span)
        }
    }

    @Test("Changes start a service of their own by a path unit, beside the timer of a job with a time")
    func units() throws {
        let units = SystemdUnits(of: job(), in: surroundings)
        let files = try units.files()
        #expect(files.map(\.name) == ["kcbackup-x.changed.service", "kcbackup-x.changed.path"])
        #expect(files[0].text.contains("\nExecStart=/usr/bin/kcbackup run x --when-changed 30s\n"))
        #expect(files[0].text.contains("\nStartLimitIntervalSec=0\n"))
        #expect(files[1].text.contains("\nWants=kcbackup-x.changed.service\n"))
        #expect(units.startCommand.hasSuffix("enable --now kcbackup-x.changed.path"))
        let both = SystemdUnits(of: job(at: "daily"), in: surroundings)
        #expect(
            try both.files().map(\.name) == ["kcbackup-x.service", "kcbackup-x.timer"] + files.map(\.name))
        #expect(try !both.files()[0].text.contains("when-changed"))
        #expect(both.startCommand.hasSuffix("enable --now kcbackup-x.timer kcbackup-x.changed.path"))
    }

    @Test("A path unit watches the file of a keychain or of another program, or the folders with all files")
    func paths() throws {
        func paths(_ stores: BackupRequest.Stores) throws -> [String] {
            try SystemdUnits(of: job(stores), in: surroundings).files()[1].text.split(separator: "\n")
                .compactMap { $0.hasPrefix("PathModified=") ? String($0.dropFirst(13)) : nil }
        }
        let keychains = folder.path("data/kcbackup/keychains")
        #expect(try paths(.named("login")) == [keychains + "/login.keychain"])
        #expect(try paths(.everyKeychain) == [keychains])
        #expect(try paths(.named("/srv/100% a.keychain")) == ["/srv/100%% a.keychain"])
        #expect(try paths(.named("file:/srv/a.kdbx")) == ["/srv/a.kdbx"])
        let keyrings = ["keyrings", "keyrings/v1", "kwalletd"].map { folder.path("data/\($0)") }
        for name in ["secret-service:", "secret-service:Work"] { #expect(try paths(.named(name)) == keyrings) }
        try Path.makeFolder(folder.path("store"))
        for stores in [BackupRequest.Stores.home, .named("file:\(folder.path("store"))")] {
            #expect(WatchedFiles(of: job(stores), in: dataFolder) == nil, "\(stores)")
        }
    }

    @Test("Marks tell a change in the file and another file in its place from a program that only opens it")
    func marks() throws {
        try Path.makeFolder(dataFolder.keychains)
        let path = dataFolder.keychains + "/login.keychain"
        let all = try #require(WatchedFiles(of: job(.everyKeychain), in: dataFolder))
        #expect(try all.areMissing)
        try folder.write("data/kcbackup/keychains/login.keychain", [1])
        let one = try #require(WatchedFiles(of: job(), in: dataFolder))
        func marks() throws -> [WatchedFiles.Marks] { try [one.marks(), all.marks()] }
        let first = try marks()
        let opened = try #require(FileHandle(forUpdatingAtPath: path))
        _ = try opened.readToEnd()
        try opened.close()
        try folder.write("data/kcbackup/keychains/login.keychain.lock", [])
        #expect(try marks() == first)
        try folder.write("data/kcbackup/keychains/login.keychain", [1, 2])
        let second = try marks()
        #expect(second != first)
        try folder.write("other", [1, 2])
        #expect(unsafe rename(folder.path("other"), path) == 0)
        #expect(try marks() != second)
        try folder.write("data/kcbackup/keychains/work.keychain", [1])
        #expect(try all.marks().texts.count == 2 && one.marks().texts.count == 1)
        try Path.remove(path)
        #expect(try one.marks().texts.isEmpty)
    }

    @Test("A change so recent that the next one may have the same time is not recorded as seen")
    func settled() throws {
        try Path.makeFolder(dataFolder.keychains)
        try folder.write("data/kcbackup/keychains/login.keychain", [1])
        let marks = try #require(WatchedFiles(of: job(), in: dataFolder)).marks()
        let changed = try #require(marks.newest)
        #expect(!marks.isSettled(at: changed.advanced(byMicroseconds: 500_000)))
        for later in [2_000_000, -2_000_000] as [Int64] {
            #expect(marks.isSettled(at: changed.advanced(byMicroseconds: later)))
        }
        var record = RunRecord(began: .reference)
        #expect(!record.hasSeen(marks))
        record.seen = marks.texts
        #expect(RunRecord(record.fields) == record && !record.hasSeen(marks))
        record.ended = .reference
        #expect(record.hasSeen(marks))
        record.outcome = RunOutcome(code: 143)
        #expect(!record.hasSeen(marks))
        (record.outcome, record.seen) = (.good, [])
        #expect(RunRecord(record.fields) == record && !record.hasSeen(marks))
    }

    @Test("Cron sees no changes")
    func cron() {
        for time in [nil, "daily"] {
            let job = job(at: time)
            #expect(!job.isOfCron)
            #expect(throws: JobFailure.changesNotOfCron(job: "x")) { try job.crontabLine(in: surroundings) }
        }
    }

    @Test("A path unit that is missing, not enabled, stopped or failed is told from one that watches")
    func watch() throws {
        let job = job()
        func watch(_ state: String?) -> JobWatch { JobWatch(of: job, in: surroundings) { _, _ in state } }
        #expect(watch(nil) == .nothing)
        try install(job)
        let path = SystemdUnits.userPaths(of: "x", in: surroundings).path
        let command = "systemctl --user daemon-reload && systemctl --user enable --now kcbackup-x.changed.path"
        #expect(watch(nil) == .notEnabled(command: command))
        let wants = Path.split(path).folder + "/paths.target.wants"
        try Path.makeFolder(wants)
        try FileManager.default.createSymbolicLink(
            atPath: wants + "/kcbackup-x.changed.path", withDestinationPath: path)
        for state in ["active", "activating", nil] { #expect(watch(state) == .found) }
        let restart = "systemctl --user restart kcbackup-x.changed.path"
        for (state, hasFailed) in [("failed", true), ("inactive", false)] {
            #expect(
                watch(state) == .stopped(unit: "kcbackup-x.changed.path", hasFailed: hasFailed, command: restart))
        }
        // Timers and lines of cron are another matter.
        #expect(JobStarter(of: job, in: surroundings) { "" } == .nothing)
    }

    @Test("An edited job gets the units that it needs now, and loses the others")
    func edited() throws {
        var old = job()
        old.time = "daily"
        try install(old)
        var timed = old
        timed.onChange = false
        let paths = SystemdUnits.userPaths(of: "x", in: surroundings)
        var installed = try #require(try InstalledUnits(of: "x", in: surroundings))
        let units = try #require(try installed.units(of: timed, insteadOf: old, in: surroundings))
        #expect(try installed.startersGone(with: units) == ["kcbackup-x.changed.path"])
        struct Refused: Error {}
        #expect(throws: Refused.self) { try installed.replace(with: units, notRestored: { _ in }) { throw Refused() } }
        #expect(try paths.all.allSatisfy { try Path.exists($0) })
        try installed.replace(with: units, notRestored: { _ in }) {}
        #expect(try paths.all.map { try Path.exists($0) } == [true, true, false, false])
        installed = try #require(try InstalledUnits(of: "x", in: surroundings))
        let changed = job()
        let others = try #require(try installed.units(of: changed, insteadOf: timed, in: surroundings))
        #expect(try installed.startersGone(with: others) == ["kcbackup-x.timer"])
        try installed.replace(with: others, notRestored: { _ in }) {}
        #expect(try paths.all.map { try Path.exists($0) } == [false, false, true, true])
    }
}
