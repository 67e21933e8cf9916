import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCConsole

@Suite("The place of companions, and who could have put them there")
struct CompanionProgramTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bin", "libexec"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("bin/kcbackup", [])
        try folder.write("libexec/read", [])
    }

    private func setMode(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    private func require(_ name: String = "libexec/read") throws(FileFailure) {
        try CompanionProgram.require(folder.path(name), of: folder.path("bin/kcbackup"))
    }

    @Test(
        "A companion is in libexec beside a folder named bin, else beside the program, and never in the working folder")
    func paths() {
        func path(_ program: String) -> String { CompanionProgram.path(of: "read", beside: program) }
        #expect(path("/usr/bin/kcbackup") == "/usr/libexec/kcbackup/read")
        #expect(path("/home/ada/build/kcbackup") == "/home/ada/build/read")
        #expect(path("/bin/kcbackup") == "/libexec/kcbackup/read")
        #expect(path("kcbackup") == "/usr/libexec/kcbackup/read")
    }

    @Test("A companion that others can change or replace is refused beside a program that they cannot")
    func replaceable() throws {
        try require()
        try setMode("libexec/read", 0o775)
        #expect(throws: FileFailure(folder.path("libexec/read"), .exposed(mode: 0o775))) { try require() }
        try setMode("libexec/read", 0o755)
        try setMode("libexec", 0o777)
        #expect(throws: FileFailure(folder.path("libexec"), .sharedFolder(mode: 0o777))) { try require() }
    }

    @Test("Beside a program that others can replace, a companion of its owner is run")
    func sharedProgram() throws {
        for name in ["bin", "libexec"] { try setMode(name, 0o775) }
        try require()
    }

    @Test("A folder and a missing file are no companion")
    func noFile() throws {
        #expect(throws: FileFailure(folder.path("libexec"), .notRegular)) { try require("libexec") }
        #expect(throws: FileFailure(folder.path("none"), .notFound)) { try require("none") }
    }
}
