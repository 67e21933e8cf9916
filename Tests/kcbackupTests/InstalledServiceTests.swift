import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What doctor says of what is installed to start a job", .waitsForPrograms)
struct InstalledServiceTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let words = ["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-failure", "tell ada"]
        #expect(home.run(words).status == .ok)
        try home.write("own/tell", "", mode: 0o700)
    }

    private func run(_ line: String) throws -> TestHome.Outcome {
        try home.write("bin/crontab", "#!/bin/sh\n", mode: 0o700)
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
}
