import ByteStreams
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
}
