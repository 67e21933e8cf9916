internal import Glibc
package import KCByteStreams

/// The text that `/bin/sh -c` runs: a command that the user wrote, or a script of this program.
///
/// Text from a file, an item or an option cannot become part of a script of this program: it is a `StaticString`, and
/// such text is an argument, `"$1"` and so on.
package struct ShellScript: Sendable {
    private let text: String
    private let arguments: [String]

    /// A script of this program with its arguments.
    package init(_ script: StaticString, _ arguments: [String] = []) {
        text = script.description
        self.arguments = arguments
    }

    /// A command that the user wrote, as in `cmd:COMMAND` or `--on-failure COMMAND`.
    package init(ofUser command: String) {
        text = command
        arguments = []
    }

    fileprivate var words: [String] { ["/bin/sh", "-c", text, "sh"] + arguments }
}

/// Runs scripts with `/bin/sh -c`.
package enum ShellCommand {
    /// Why a command returned no output.
    package enum Failure: Error, Hashable, Sendable {
        /// The command could not be started, with this `errno`.
        case notStarted(Int32)
        /// The command exited with a nonzero status; 128 and above indicate a signal.
        case failed(status: Int32)
        /// The command printed more than this many bytes.
        case tooLong(limit: Int)
        /// Its output could not be read, or a signal asked the process to stop.
        case stream(StreamFailure)
    }

    /// Why a command that returns no output failed.
    package enum RunFailure: Error, Hashable, Sendable {
        /// The command could not be started, with this `errno`.
        case notStarted(Int32)
        /// The command exited with a nonzero status; 128 and above indicate a signal.
        case failed(status: Int32)
        /// The command did not finish in time and was terminated.
        case timedOut
        /// A signal asked the process to stop, and the command was terminated.
        case interrupted
    }

    /// Runs `script` to completion and returns its output.
    ///
    /// The command inherits standard error, standard input if that is a terminal, and no other descriptors.
    ///
    /// - Parameter limit: the maximum size of the output in bytes.
    package static func output(
        of script: ShellScript, environment: [String: String], limit: Int
    ) throws(Failure) -> SecretBytes {
        let process: ChildProcess
        var reading: OpenFile?
        do throws(ChildProcess.StartFailure) {
            let pipe = try ChildProcess.pipe()
            // Unless it is a terminal, standard input may be the secret of `fd:0`, or the file that is being imported.
            // On a terminal, the command may ask the user, which another process group could not.
            let streams = ChildProcess.Streams(input: isatty(0) == 1 ? 0 : nil, output: pipe.writing.descriptor)
            process = try ChildProcess(shell, script.words, environment, streams, isGroup: false)
            reading = pipe.reading
        } catch {
            throw .notStarted(error.code)
        }
        var output = SecretBytes(capacity: 4096)
        var trouble: Failure?
        do throws(StreamFailure) {
            var before = -1
            while let reading, output.count != before, output.count <= limit {
                before = output.count
                try Descriptor(number: reading.descriptor).read(upTo: min(4096, limit + 1 - before), into: &output)
            }
        } catch {
            trouble = .stream(error)
        }
        // A command that keeps writing then gets an error. If reading failed, the command is also sent SIGTERM, in case
        // it writes nothing.
        reading = nil
        if trouble != nil { process.terminate() }
        let status = process.wait()
        if let trouble { throw trouble }
        if output.count > limit { throw .tooLong(limit: limit) }
        guard status == 0 else { throw .failed(status: status) }
        return output
    }

    /// Runs `script` in its own process group, without input and with its output discarded.
    ///
    /// An interruption that was requested earlier does not stop it: a command that reports an interrupted run must
    /// still run.
    ///
    /// - Parameter timeLimit: the time after which the group is terminated, first with SIGTERM and then with SIGKILL.
    package static func run(
        _ script: ShellScript, environment: [String: String], timeLimit: Duration
    ) throws(RunFailure) {
        try Interruption.afterwards { () throws(RunFailure) in try runNow(script, environment, timeLimit) }
    }

    private static func runNow(
        _ script: ShellScript, _ environment: [String: String], _ timeLimit: Duration
    ) throws(RunFailure) {
        let clock = ContinuousClock()
        let deadline = clock.now + timeLimit
        let status: Int32?
        do throws(ChildProcess.StartFailure) {
            let process = try ChildProcess(
                shell, script.words, environment, ChildProcess.Streams(), isGroup: true)
            status = try process.wait { clock.now >= deadline || Interruption.isRequested }
        } catch {
            throw .notStarted(error.code)
        }
        guard let status else { throw Interruption.isRequested ? .interrupted : .timedOut }
        guard status == 0 else { throw .failed(status: status) }
    }

    private static let shell = "/bin/sh"
}
