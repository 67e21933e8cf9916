import Foundation
import KCTestSupport
import Testing

@Suite("External programs", .waitsForPrograms)
struct ExternalProgramTests {
    @Test("A program gets its input, folder and environment, and inherits no other descriptors")
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

    @Test("The status of a killed program is the number of the signal")
    func killed() throws {
        #expect(try ExternalProgram.run("bash", ["-c", "kill -KILL $$"]).status == 9)
    }

    @Test("Processes that a program leaves running are killed")
    func leftBehind() throws {
        let outcome = try ExternalProgram.run("bash", ["-c", "sleep 1000 & echo $!"])
        let process = try #require(pid_t(outcome.text.trimmingCharacters(in: .newlines)))
        // A killed process may stay in the process table until its parent reaps it.
        let wait = #"until [[ ! -e /proc/$0 || $(</proc/$0/stat) == *") Z "* ]]; do :; done"#
        #expect(try ExternalProgram.run("bash", ["-c", wait, "\(process)"], seconds: 60).status == 0)
    }

    @Test("A program that hangs is killed with its children, and the error contains the command and its output")
    func overdue() throws {
        var words = ""
        // On a busy machine the shell may not even begin within the first limit.
        for limit: Int32 in [1, 5, 60] {
            let error = #expect(throws: ExternalProgram.Overdue.self) {
                try ExternalProgram.run("bash", ["-c", "echo begun; sleep 1000; exit 0"], seconds: limit)
            }
            words = try #require(error).description
            if words.hasSuffix("within \(limit) s; it said: begun\n") { break }
        }
        #expect(words.contains("sleep 1000") && words.hasSuffix(" s; it said: begun\n"), "\(words)")
    }

    @Test("A program that is given no environment says what it says in any language of the user")
    func language() throws {
        #expect(try ExternalProgram.run("bash", ["-c", "echo $LC_ALL$LC_MESSAGES"]).text == "C.UTF-8\n")
    }

    @Test("A missing program is an error")
    func missing() {
        #expect(throws: CocoaError.self) { try ExternalProgram.run("no-such-program", []) }
        #expect(throws: POSIXError(.ENOENT)) { try ExternalProgram.run("/no/such/program", []) }
    }
}
