import CKCTestSupport
import Foundation
import Synchronization
import Testing

/// Runs other programs and collects their output.
package enum ExternalProgram {
    /// The result of a finished program.
    package struct Outcome: Sendable {
        /// The exit status.
        package let status: Int32
        /// Standard output.
        package let output: [UInt8]
        /// Standard error.
        package let errorOutput: [UInt8]
        /// Standard output as text.
        package var text: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text.
        package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
    }

    /// Held while a program is started, and while something in this process has descriptors that it would inherit.
    static let spawning = Mutex(())

    /// The path of `name` as found through `PATH`, or nil.
    package static func locate(_ name: String) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Programs that were built for tests derive keys at the lowest costs with this variable; any other ignores it.
    static let lowestCosts = "KCBACKUP_LOWEST_COSTS=1"

    /// The environment of the tests, in a language that every machine has.
    private static let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LC_") }
        .merging(["LC_ALL": "C.UTF-8"]) { $1 }

    /// Runs `name` (a path, or a name to find in `PATH`) to its end, and kills the processes that it left running.
    ///
    /// Standard input and output are files, so that no amount of data can block.
    ///
    /// - Parameter limit: the time limit in seconds; far more than needed, so that only a program that hangs is killed.
    /// - Throws: ``Overdue`` if the program takes longer; `CocoaError` or `POSIXError` if it cannot be started;
    ///   ``WaitsForPrograms/Missing`` in a test that may not wait.
    package static func run(
        _ name: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String]? = nil,
        in folder: String? = nil, seconds limit: Int32 = 600
    ) throws -> Outcome {
        try WaitsForPrograms.check()
        guard let executable = name.contains("/") ? name : locate(name) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        let scratch = try TemporaryFolder()
        let streams = ["in", "out", "err"].map(scratch.path)
        try scratch.write("in", input)
        try scratch.write("out", [])
        try scratch.write("err", [])
        let words = (environment ?? inherited).map { "\($0)=\($1)" } + [lowestCosts]
        var process: pid_t = 0
        let failure = spawning.withLock { _ in
            unsafe withCStrings([executable] + arguments) { arguments in
                unsafe withCStrings(words) { environment in
                    unsafe withCStrings(streams) { streams in
                        let streams = unsafe streams.map { unsafe UnsafePointer($0) }
                        return unsafe ctest_spawn(&process, executable, arguments, environment, folder, streams)
                    }
                }
            }
        }
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL) }
        let ended = ctest_wait(process, limit * 1000)
        let waitFailure = errno
        // The process ID is not reused until the process is reaped, so no other process can be hit.
        kill(-process, SIGKILL)
        var seconds = 0.0
        let status = unsafe ctest_reap(process, &seconds)
        note(seconds)
        if ended < 0 { throw POSIXError(POSIXErrorCode(rawValue: waitFailure) ?? .EINVAL) }
        guard ended == 1 else {
            let said = String(decoding: try scratch.read("out") + scratch.read("err"), as: UTF8.self)
            throw Overdue(command: [name] + arguments, seconds: limit, said: said)
        }
        return Outcome(
            status: status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f, output: try scratch.read("out"),
            errorOutput: try scratch.read("err"))
    }

    /// Notes for `.ci/run-tests` how much processor time a program took, and for which test.
    private static func note(_ seconds: Double) {
        guard let path = ProcessInfo.processInfo.environment["PROGRAM_TIMES"], let test = Test.current,
            let file = unsafe fopen(path, "a")
        else { return }
        unsafe fputs("\(seconds) \(test.id)\n", file)
        unsafe fclose(file)
    }

    /// A program that exceeded its time limit and was killed.
    package struct Overdue: Error, CustomStringConvertible {
        let command: [String]
        let seconds: Int32
        let said: String

        /// The command and its output.
        package var description: String { "\(command) did not end within \(seconds) s; it said: \(said)" }
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
    ) rethrows -> Result {
        let copies = unsafe strings.map { unsafe strdup($0) }
        defer { unsafe copies.forEach { unsafe free($0) } }
        return try unsafe body(copies + [nil])
    }
}

extension ExternalProgram {
    /// The path of a Python that has a module, that of `make judges` first; nil if there is none.
    package static func python(with module: String) -> String? {
        [Project.path(".build/judges/bin/python3"), "/usr/bin/python3"].first { python in
            do {
                return try run(python, ["-c", "import \(module)"]).status == 0
            } catch {
                return false
            }
        }
    }

    /// The path of a program of this package, which is beside the test binary.
    ///
    /// - Throws: `CocoaError` (`fileNoSuchFile`) if it was not built.
    package static func built(_ name: String) throws -> String {
        let tests = CommandLine.arguments.first { $0.contains(".xctest") } ?? "/proc/self/exe"
        let folder = URL(filePath: tests).resolvingSymlinksInPath().deletingLastPathComponent()
        let program = folder.appending(path: name).path
        if FileManager.default.isExecutableFile(atPath: program) { return program }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: program])
    }
}
