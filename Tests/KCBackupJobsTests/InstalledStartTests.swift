import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("What is installed to start a job, and the programs that it finds")
struct InstalledStartTests {
    private let folder: TemporaryFolder
    private let job: Job

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bin", "own", "shared", "etc/cron.d"] { try Path.makeFolder(folder.path(name)) }
        for path in ["bin/kcbackup", "own/tell-ada", "shared/tell-bob"] { try folder.write(path, []) }
        var job = Job.example()
        job.onFailure = "tell-ada 'no backup'"
        self.job = job
    }

    private func surroundings(_ programs: [String], shared: [String] = []) -> JobSurroundings {
        JobSurroundings(
            program: folder.path("bin/kcbackup"), data: folder.path("data/kcbackup"), home: folder.path("home"),
            programs: programs.map { folder.path($0) } + ["/usr/bin", "/bin"],
            sharedPrograms: shared.map { folder.path($0) }, user: "ada", system: folder.path("etc"))
    }

    private func finding(
        _ job: Job? = nil, in surroundings: JobSurroundings, crontab: String = ""
    ) -> JobFinding? {
        do throws(JobFinding) {
            try (job ?? self.job).checkPrograms(in: surroundings) { crontab }
            return nil
        } catch {
            return error
        }
    }

    private func notFound(_ start: InstalledStart) -> JobFinding {
        .programNotFound("tell-ada", folder: folder.path("own"), isShared: false, job: "x", start)
    }

    @Test("A line of cron without the folder of a program is found, unless a shell or the crontab sets it")
    func crontab() throws {
        let here = surroundings(["own"])
        let program = folder.path("bin/kcbackup")
        #expect(finding(in: here, crontab: try job.crontabLine(in: here)) == nil)
        let old = "17 3 * * * XDG_DATA_HOME=$HOME/.local/share \(program) run x"
        #expect(finding(in: here, crontab: old) == notFound(.crontab(nil)))
        #expect(finding(in: here, crontab: "17 3 * * * \(program) run y") == nil)
        #expect(finding(in: surroundings([]), crontab: old) == nil, "the shell does not find it either")
        #expect(finding(in: here, crontab: "PATH = \"\(folder.path("own")):/bin\"\n\(old)") == nil)
        for shell in [". ~/.profile; kcbackup run x", "PATH=$HOME/bin:$PATH \(program) run x"] {
            #expect(finding(in: here, crontab: "@daily \(shell)") == nil, "\(shell)")
        }
        var other = job
        other.onFailure = nil
        #expect(finding(other, in: here, crontab: old) == nil)
    }

    @Test("A crontab of the system is read as one, with the users of its lines")
    func systemCrontab() throws {
        let here = surroundings(["own"])
        let path = folder.path("etc/cron.d/backup")
        let program = folder.path("bin/kcbackup")
        for (user, isFound) in [("ada", true), ("bob", false)] {
            try folder.write("etc/cron.d/backup", Array("17 3 * * *\t\(user) \(program) run x\n".utf8))
            #expect((finding(in: here) == notFound(.crontab(path))) == isFound, "\(user)")
        }
    }

    @Test("A service without the folder of a program is found, and one that 'schedule install' writes now is not")
    func service() throws {
        let here = surroundings(["own"])
        let units = SystemdUnits(of: job, in: here)
        let path = SystemdUnits.userPaths(of: "x", in: here).service
        let text = try units.files()[0].text
        try Path.makeFolder(units.folder)
        func install(_ text: String) throws { try PrivateFile.replace(path, text.utf8.span) }
        try install(text)
        #expect(finding(in: here) == nil)
        let lines = text.split(separator: "\n")
        let old = lines.filter { !$0.hasPrefix(SystemdUnits.pathSetting) }.joined(separator: "\n")
        try install(old)
        #expect(finding(in: here) == notFound(.service(path, isOfSystem: false)))
        try install(old + "\nEnvironmentFile=/etc/default/backup\n")
        #expect(finding(in: here) == nil)
    }

    @Test("A service or a line of cron whose program is gone, or that others can replace, is found")
    func unsafeProgram() throws {
        let here = surroundings(["own"])
        let program = folder.path("bin/kcbackup")
        let units = SystemdUnits(of: job, in: here)
        let path = SystemdUnits.userPaths(of: "x", in: here).service
        try Path.makeFolder(units.folder)
        try PrivateFile.replace(path, try units.files()[0].text.utf8.span)
        func expect(_ failure: FileFailure?) throws {
            func found(_ start: InstalledStart) -> JobFinding? {
                failure.map { .unsafeProgram(program, $0, job: "x", start) }
            }
            #expect(finding(in: here) == found(.service(path, isOfSystem: false)))
            try Path.move(path, to: path + ".away")
            #expect(finding(in: here, crontab: try job.crontabLine(in: here)) == found(.crontab(nil)))
            try Path.move(path + ".away", to: path)
        }
        func setMode(_ name: String, _ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
        }
        try expect(nil)
        try setMode("bin", 0o777)
        try expect(FileFailure(folder.path("bin"), .sharedFolder(mode: 0o777)))
        try setMode("bin", 0o755)
        try setMode("bin/kcbackup", 0o775)
        try expect(FileFailure(program, .exposed(mode: 0o775)))
        try Path.remove(program)
        try expect(FileFailure(program, .notFound))
    }

    @Test("A program that is only in a folder that others can write to is named as such")
    func shared() throws {
        var job = job
        job.onFailure = "tell-bob"
        let here = surroundings(["own"], shared: ["shared"])
        #expect(
            finding(job, in: here, crontab: try job.crontabLine(in: here))
                == .programNotFound(
                    "tell-bob", folder: folder.path("shared"), isShared: true, job: "x", .crontab(nil)))
    }
}
