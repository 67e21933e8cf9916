import ByteStreams
import Glibc
import TestSupport
import Testing

@testable import Console

@Suite("Shell commands")
struct ShellCommandTests {
    private let environment = ["PATH": "/usr/bin:/bin"]

    private func run(_ command: String, limit: Int = 100) throws(ShellCommand.Failure) -> [UInt8] {
        let output = try ShellCommand.output(of: command, environment: environment, limit: limit)
        return output.withBytes { span in span.indices.map { span[$0] } }
    }

    @Test("The output of a command is returned byte for byte, and the environment is passed on")
    func output() throws {
        #expect(try run("printf 'a\\0b'") == [97, 0, 98])
        #expect(try run("printf %s \"$PATH\"") == Array("/usr/bin:/bin".utf8))
    }

    @Test("A command that fails, is killed or prints too much yields no output")
    func failures() {
        #expect(throws: ShellCommand.Failure.failed(status: 3)) { try run("printf secret; exit 3") }
        #expect(throws: ShellCommand.Failure.failed(status: 137)) { try run("kill -9 $$") }
        #expect(throws: ShellCommand.Failure.tooLong(limit: 100)) { try run("printf %101s x") }
    }

    @Test("A command run without capturing output is killed on timeout, including its child processes")
    func timeLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("group")
        #expect(throws: ShellCommand.RunFailure.timedOut) {
            // The subshell would outlive the first shell, which waits for it.
            try ShellCommand.run(
                "echo $$ > '\(path)'; (sleep 600; true) & wait", environment: environment, timeLimit: .milliseconds(300)
            )
        }
        let group = try #require(pid_t(String(decoding: folder.read("group"), as: UTF8.self).dropLast()))
        // The kernel may take a moment to reap them, since their parent is init by then.
        for _ in 0..<100 where kill(-group, 0) == 0 { _ = poll(nil, 0, 20) }
        #expect(kill(-group, 0) != 0)
    }

    @Test("A command run without capturing output reads empty input, and its status is reported")
    func statuses() throws {
        try ShellCommand.run("! read line", environment: environment, timeLimit: .seconds(60))
        #expect(throws: ShellCommand.RunFailure.failed(status: 3)) {
            try ShellCommand.run("exit 3", environment: environment, timeLimit: .seconds(60))
        }
    }
}
