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

    @Test("What a command prints comes back byte for byte, with its variables")
    func output() throws {
        #expect(try run("printf 'a\\0b'") == [97, 0, 98])
        #expect(try run("printf %s \"$PATH\"") == Array("/usr/bin:/bin".utf8))
    }

    @Test("A failure, a signal and too much output are no output")
    func failures() {
        #expect(throws: ShellCommand.Failure.failed(status: 3)) { try run("printf secret; exit 3") }
        #expect(throws: ShellCommand.Failure.failed(status: 137)) { try run("kill -9 $$") }
        #expect(throws: ShellCommand.Failure.tooLong(limit: 100)) { try run("printf %101s x") }
    }

    @Test("A command that gives nothing is ended in time, with what it started")
    func timeLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("group")
        #expect(throws: ShellCommand.RunFailure.timedOut) {
            // The second shell would outlive the first one, which waits for it.
            try ShellCommand.run(
                "echo $$ > '\(path)'; (sleep 600; true) & wait", environment: environment, timeLimit: .milliseconds(300)
            )
        }
        let group = try #require(pid_t(String(decoding: folder.read("group"), as: UTF8.self).dropLast()))
        // The kernel may take a moment to bury them, and they have no parent but init then.
        for _ in 0..<100 where kill(-group, 0) == 0 { _ = poll(nil, 0, 20) }
        #expect(kill(-group, 0) != 0)
    }

    @Test("A command that gives nothing reads nothing, and its status is told")
    func statuses() throws {
        try ShellCommand.run("! read line", environment: environment, timeLimit: .seconds(60))
        #expect(throws: ShellCommand.RunFailure.failed(status: 3)) {
            try ShellCommand.run("exit 3", environment: environment, timeLimit: .seconds(60))
        }
    }
}
