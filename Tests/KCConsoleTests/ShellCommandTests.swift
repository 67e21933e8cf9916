import Glibc
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCConsole

@Suite("Shell commands")
struct ShellCommandTests {
    private let environment = ["PATH": "/usr/bin:/bin"]

    private func run(_ command: String, limit: Int = 100) throws(ShellCommand.Failure) -> [UInt8] {
        let output = try ShellCommand.output(
            of: ShellScript(ofUser: command), environment: environment, limit: limit)
        return output.withBytes { span in span.indices.map { span[$0] } }
    }

    @Test("The output of a command is returned byte for byte, and the environment is passed on")
    func output() throws {
        #expect(try run("printf 'a\\0b'") == [97, 0, 98])
        #expect(try run("printf %s \"$PATH\"") == Array("/usr/bin:/bin".utf8))
    }

    @Test("The arguments of a script are words, whatever they contain, and never a part of it")
    func arguments() throws {
        let words = ["'\u{301}; exit 9; '", "$(exit 9)", "`exit 9`", "a\r\nb", "", "-n"]
        let script = ShellScript("printf '%s|' \"$@\"", words)
        let output = try ShellCommand.output(of: script, environment: environment, limit: 1000)
        let bytes = output.withBytes { span in span.indices.map { span[$0] } }
        #expect(bytes == words.flatMap { Array($0.utf8) + Array("|".utf8) })
        #expect(throws: ShellCommand.Failure.notStarted(EINVAL)) {
            _ = try ShellCommand.output(of: ShellScript("true", ["a\0b"]), environment: environment, limit: 100).count
        }
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
        let path = try folder.write("group", [])
        var group: pid_t?
        // On a busy machine the shell may not even begin within the first limit.
        for limit in [Duration.milliseconds(300), .seconds(5), .seconds(60)] where group == nil {
            #expect(throws: ShellCommand.RunFailure.timedOut) {
                // The subshell would outlive the first shell, which waits for it.
                try ShellCommand.run(
                    ShellScript("echo $$ > \"$1\"; (sleep 600; true) & wait", [path]), environment: environment,
                    timeLimit: limit)
            }
            group = try pid_t(String(decoding: folder.read("group"), as: UTF8.self).dropLast())
        }
        let killed = try #require(group)
        // Until init reaps them, killed processes exist.
        let end = ContinuousClock.now + .seconds(60)
        while kill(-killed, 0) == 0, .now < end { _ = poll(nil, 0, 20) }
        #expect(kill(-killed, 0) != 0)
    }

    @Test("A command run without capturing output reads empty input, and its status is reported")
    func statuses() throws {
        try ShellCommand.run(ShellScript("! read line"), environment: environment, timeLimit: .seconds(60))
        #expect(throws: ShellCommand.RunFailure.failed(status: 3)) {
            try ShellCommand.run(ShellScript("exit 3"), environment: environment, timeLimit: .seconds(60))
        }
    }
}
