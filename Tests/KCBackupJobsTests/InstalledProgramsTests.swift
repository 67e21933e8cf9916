import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("What is installed to start a job, and the programs that it finds")
struct InstalledProgramsTests {
    private let folder: TemporaryFolder
    private let job: Job

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bin", "own"] { try Path.makeFolder(folder.path(name)) }
        for path in ["bin/kcbackup", "own/tell-ada"] { try folder.write(path, []) }
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

    private func finding(in surroundings: JobSurroundings) -> JobFinding? {
        do throws(JobFinding) {
            try job.checkPrograms(in: surroundings)
            return nil
        } catch {
            return error
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
        func notFound(isShared: Bool) -> JobFinding {
            .programNotFound(
                "tell-ada", folder: folder.path("own"), isShared: isShared, job: "x", service: path, isOfSystem: false)
        }
        #expect(finding(in: here) == notFound(isShared: false))
        #expect(finding(in: surroundings([], shared: ["own"])) == notFound(isShared: true))
        #expect(finding(in: surroundings([])) == nil, "the shell does not find it either")
        try install(old + "\nEnvironmentFile=/etc/default/backup\n")
        #expect(finding(in: here) == nil)
    }

    @Test("A service whose program is gone, or that others can replace, is found")
    func unsafeProgram() throws {
        let here = surroundings(["own"])
        let program = folder.path("bin/kcbackup")
        let units = SystemdUnits(of: job, in: here)
        let path = SystemdUnits.userPaths(of: "x", in: here).service
        try Path.makeFolder(units.folder)
        try PrivateFile.replace(path, try units.files()[0].text.utf8.span)
        func expect(_ failure: FileFailure?) throws {
            let found = failure.map {
                JobFinding.unsafeProgram(program, $0, job: "x", service: path, isOfSystem: false)
            }
            #expect(finding(in: here) == found)
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
}
