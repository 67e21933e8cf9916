import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What doctor says of what is installed to start a job", .waitsForPrograms)
struct InstalledStartTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let words = ["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-failure", "tell ada"]
        #expect(home.run(words).status == .ok)
        try home.write("own/tell", "", mode: 0o700)
    }

    private func run(_ line: String, crontab: String = "") throws -> TestHome.Outcome {
        try home.write("crontab", crontab)
        try home.write("bin/crontab", "#!/bin/sh\ncat \(home.path("crontab"))\n", mode: 0o700)
        let folders = [home.path("own"), home.path("bin"), "/usr/bin", "/bin"]
        return home.run(
            line.split(separator: " ").map(String.init), environment: ["PATH": folders.joined(separator: ":")])
    }

    @Test("A unit whose program was moved is a problem, and so is one in a folder that others can write to")
    func movedProgram() throws {
        try home.write("opt/kcbackup", "", mode: 0o700)
        #expect(try run("schedule install x").status == .ok)
        let unit = home.home + "/.config/systemd/user/kcbackup-x.service"
        let text = try String(contentsOfFile: unit, encoding: .utf8)
            .replacing(/ExecStart=.* run x/, with: "ExecStart=\(home.path("opt/kcbackup")) run x")
        try text.write(toFile: unit, atomically: false, encoding: .utf8)
        let whole = try run("doctor")
        #expect(whole.status == .ok, "\(whole.text)")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home.path("opt"))
        let shared = try run("doctor")
        #expect(shared.status == .refused && shared.text.contains("and others can replace it"), "\(shared.text)")
        try FileManager.default.removeItem(atPath: home.path("opt"))
        let gone = try run("doctor")
        #expect(
            gone.status == .notFound
                && gone.text.contains("starts '\(home.path("opt/kcbackup"))', which does not exist"), "\(gone.text)")
    }

    @Test("An old line of cron, without the folders of the job's programs, is a problem; a new one is none")
    func oldCrontab() throws {
        let path = try #require(run("schedule show x --crontab").text.firstMatch(of: /PATH=\S+/)).0
        let line = try run("doctor", crontab: "17 3 * * * \(path) kcbackup run x")
        #expect(line.status == .ok, "\(line.text)")
        let found = try run("doctor", crontab: "17 3 * * * kcbackup run x")
        #expect(
            found.status == .notFound
                && found.text.contains("the crontab does not find 'tell', which is in '\(home.path("own"))'")
                && found.text.contains("'kcbackup schedule show x --crontab' prints a new line"), "\(found.text)")
    }
}
