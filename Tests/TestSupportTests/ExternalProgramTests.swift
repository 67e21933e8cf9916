import Foundation
import TestSupport
import Testing

@Suite("Programs that the tests start")
struct ExternalProgramTests {
    @Test("A program gets its input, folder and environment, and nothing else that is open")
    func start() throws {
        let folder = try TemporaryFolder()
        let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let outcome = try ExternalProgram.run(
            "bash", ["-c", "cat; pwd; echo $NAME; ls /proc/self/fd | wc -l; echo wrong >&2; exit 3"],
            input: Array("in\n".utf8), environment: ["NAME": "value", "PATH": "/usr/bin:/bin"], in: folder.path)
        try file.close()
        // Three streams, and the folder that ls reads.
        #expect(outcome.text == "in\n\(folder.path)\nvalue\n4\n")
        #expect(outcome.errorText == "wrong\n")
        #expect(outcome.status == 3)
    }

    @Test("A program that is killed ends with the signal's number")
    func killed() throws {
        #expect(try ExternalProgram.run("bash", ["-c", "kill -KILL $$"]).status == 9)
    }

    @Test("What a program leaves running is ended with it")
    func leftBehind() throws {
        let outcome = try ExternalProgram.run("bash", ["-c", "sleep 1000 & echo $!"])
        let process = try #require(pid_t(outcome.text.trimmingCharacters(in: .newlines)))
        // One that was killed may stay in the table until its parent looks.
        let wait = #"until [[ ! -e /proc/$0 || $(</proc/$0/stat) == *") Z "* ]]; do :; done"#
        #expect(try ExternalProgram.run("bash", ["-c", wait, "\(process)"], seconds: 60).status == 0)
    }

    @Test("A program that hangs is ended with its children, and the error says what it was and what it said")
    func overdue() throws {
        let error = #expect(throws: ExternalProgram.Overdue.self) {
            try ExternalProgram.run("bash", ["-c", "echo begun; sleep 1000; exit 0"], seconds: 1)
        }
        let words = try #require(error).description
        #expect(words.contains("sleep 1000") && words.hasSuffix("within 1 s; it said: begun\n"), "\(words)")
    }

    @Test("A program that is not there is an error")
    func missing() {
        #expect(throws: CocoaError.self) { try ExternalProgram.run("no-such-program", []) }
        #expect(throws: POSIXError(.ENOENT)) { try ExternalProgram.run("/no/such/program", []) }
    }
}
