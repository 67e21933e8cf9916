// Fence: reads from the pipes of a child process.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams

/// A program that is run to its end without a shell: no text of its arguments is interpreted.
///
/// ```swift
/// let program = ChildProgram(path: "/usr/bin/rclone", arguments: ["version"], environment: [:])
/// let ending = try program.run { piece in output.append(piece) }
/// print(ending.status, ending.messages)
/// ```
package struct ChildProgram: Sendable {
    /// The path of the program, without a search.
    package let path: String
    /// Its arguments, without its name.
    package let arguments: [String]
    /// All of its environment.
    package let environment: [String: String]

    /// The bytes that it reads from standard input.
    package let input: [UInt8]

    /// How a program ended.
    package struct Ending: Hashable, Sendable {
        /// The exit status; 128 and above indicate a signal.
        package let status: Int32
        /// The end of what it wrote to standard error.
        package let messages: String
    }

    /// Why there is no ending.
    package enum Failure: Error, Hashable, Sendable {
        /// The program could not be started, with this `errno`.
        case notStarted(Int32)
    }

    // In bytes; enough for the last messages of any program.
    private static let messageLimit = 16_384

    // In bytes; what every pipe takes at once, so that nothing waits for the program to read.
    private static let inputLimit = 4_096

    /// Creates a call of a program.
    ///
    /// - Parameter input: what it reads, at most 4,096 bytes.
    package init(path: String, arguments: [String], environment: [String: String], input: [UInt8] = []) {
        precondition(input.count <= Self.inputLimit, "an input fits into a pipe")
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }

    /// Runs it, and passes on its output in pieces.
    ///
    /// The program runs in a process group of its own, which is ended if `receive` throws, or if a signal asks this
    /// process to stop. If this process is killed, the kernel kills the program too, though not what that has started.
    ///
    /// - Throws: `Failure`, `StreamFailure` (`interrupted`, `system`), and what `receive` throws.
    package func run(_ receive: (borrowing Span<UInt8>) throws -> Void) throws -> Ending {
        let process: ChildProcess
        let output: OpenFile
        let messages: OpenFile
        let source = try Self.source(of: input)
        do throws(ChildProcess.StartFailure) {
            let (outputs, errors) = (try ChildProcess.pipe(), try ChildProcess.pipe())
            process = try ChildProcess(
                path, [path] + arguments, environment,
                ChildProcess.Streams(
                    input: source?.descriptor, output: outputs.writing.descriptor, messages: errors.writing.descriptor),
                isGroup: true, isBound: true)
            (output, messages) = (outputs.reading, errors.reading)
        } catch {
            throw Failure.notStarted(error.code)
        }
        var said: [UInt8] = []
        do {
            try Self.read(from: output, receive, and: messages) { piece in
                said.append(contentsOf: piece.indices.map { piece[$0] })
                if said.count > 2 * Self.messageLimit { said.removeFirst(said.count - Self.messageLimit) }
            }
        } catch {
            process.end()
            throw error
        }
        let status: Int32?
        do throws(ChildProcess.StartFailure) {
            status = try process.wait { Interruption.isRequested }
        } catch {
            throw Failure.notStarted(error.code)
        }
        guard let status else { throw StreamFailure(.reading, .interrupted) }
        return Ending(status: status, messages: String(decoding: said.suffix(Self.messageLimit), as: UTF8.self))
    }

    /// A pipe from which this can be read; nil for nothing.
    private static func source(of input: [UInt8]) throws -> OpenFile? {
        if input.isEmpty { return nil }
        do {
            let ends = try ChildProcess.pipe()
            try ends.writing.write(input.span)
            return ends.reading
        } catch let failure as ChildProcess.StartFailure {
            throw Failure.notStarted(failure.code)
        }
    }

    /// Reads two pipes to their ends, whichever has something.
    private static func read(
        from first: OpenFile, _ take: (borrowing Span<UInt8>) throws -> Void, and second: OpenFile,
        _ takeSecond: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        var pipes = [first, second].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        // The output of programs may be secret, such as the configuration of rclone.
        var buffer = SecretBytes(capacity: 65_536)
        // A closed pipe is taken out with a negative descriptor, which poll(2) ignores.
        while pipes.contains(where: { $0.fd >= 0 }) {
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            // A signal may come before the call, so it ends after a while.
            guard unsafe poll(&pipes, 2, 100) >= 0 || errno == EINTR else {
                throw StreamFailure(.reading, .system(errno))
            }
            for index in pipes.indices where pipes[index].fd >= 0 && pipes[index].revents != 0 {
                buffer.removeAll()
                try Descriptor(number: pipes[index].fd).read(upTo: 65_536, into: &buffer)
                if buffer.isEmpty {
                    pipes[index].fd = -1
                } else {
                    try buffer.withBytes { index == 0 ? try take($0) : try takeSecond($0) }
                }
            }
        }
    }
}
