// Fence: waits for the pipes of a child process.
internal import CKCSystem
internal import Glibc
package import KCByteStreams

/// A program that this process talks with, through the standard input and output of the program.
///
/// The program runs in a process group of its own, which is ended when the talk is. If this process is killed, the
/// kernel kills the program too, though not what that has started. Both directions are watched at once, so neither side
/// waits for the other for ever because a pipe is full.
///
/// ```swift
/// let talk = try ChildDialogue("/usr/bin/cat", [], environment: [:], patience: .seconds(60))
/// try talk.write("hello\n".utf8.span)
/// try talk.read(into: &output)
/// talk.end(isDone: true)
/// ```
package final class ChildDialogue {
    private let process: ChildProcess
    /// The standard input of the program; nil once that has ended.
    private var input: OpenFile?
    private let output: OpenFile
    private let messages: OpenFile
    private let deadline: ContinuousClock.Instant?
    private var received = SecretBytes(capacity: 4_096)
    private var outputIsOver = false
    private var messagesAreOver = false
    private var said: [UInt8] = []
    private var hasEnded = false

    // In bytes: what the program may have written that nobody has read yet, and the end of its messages that is kept.
    private static let backlogLimit = 1 << 20
    private static let messageLimit = 4_096

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the path of the program, without a search.
    ///   - patience: how long the talk may take; nil for as long as it takes.
    ///   - descriptors: those that the program gets as 3, 4 and so on.
    /// - Throws: `ChildProgram.Failure`.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String], patience: Duration?,
        passing descriptors: [Int32] = []
    ) throws(ChildProgram.Failure) {
        do throws(ChildProcess.StartFailure) {
            let (inputs, outputs) = (try ChildProcess.pipe(), try ChildProcess.pipe())
            let errors = try ChildProcess.pipe()
            process = try ChildProcess(
                path, [path] + arguments, environment,
                ChildProcess.Streams(
                    input: inputs.reading.descriptor, output: outputs.writing.descriptor,
                    messages: errors.writing.descriptor, passed: descriptors),
                isGroup: true, isBound: true)
            (input, output, messages) = (inputs.writing, outputs.reading, errors.reading)
        } catch {
            throw .notStarted(error.code)
        }
        deadline = patience.map { ContinuousClock.now + $0 }
        // A program that does not read must not stop this one; `write` waits with `poll`.
        if let input { _ = fcntl(input.descriptor, F_SETFL, O_NONBLOCK) }
    }

    deinit { end(isDone: false) }

    /// The end of what the program has written to standard error.
    package var endOfMessages: String { String(decoding: said.suffix(Self.messageLimit), as: UTF8.self) }

    /// Sends all of `bytes`.
    ///
    /// - Throws: `StreamFailure`: `interrupted`, `limitExceeded` if the program writes on and on without reading, `system`
    ///   with `EPIPE` if it has ended, and with `ETIMEDOUT` if patience has.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        var offset = 0
        while offset < bytes.count {
            guard let number = input?.descriptor else { throw StreamFailure(.writing, .system(EPIPE)) }
            if try !wait(toWrite: true) { continue }
            let (count, code): (Int, Int32) = unsafe bytes.extracting(offset...).withUnsafeBufferPointer { buffer in
                let count = unsafe Glibc.write(number, buffer.baseAddress, buffer.count)
                return (count, errno)
            }
            if count >= 0 {
                offset += count
            } else if code != EAGAIN, code != EINTR {
                throw StreamFailure(.writing, .system(code))
            }
        }
    }

    /// Appends what the program writes next, at most as many bytes as `output` has room for; nothing once it has ended.
    ///
    /// - Throws: `StreamFailure`, as `write`.
    package func read(into span: inout OutputSpan<UInt8>) throws(StreamFailure) {
        while received.isEmpty, !outputIsOver { _ = try wait(toWrite: false) }
        let count = min(received.count, span.freeCapacity)
        received.withBytes { span.append(copying: $0.extracting(..<count)) }
        received.removeFirst(count)
    }

    /// Waits for a moment until the program has ended by itself, which it is about to do, and then ends its group.
    ///
    /// - Returns: the exit status; 128 and above indicate a signal; nil if the program did not end by itself.
    package func awaitEnd() -> Int32? {
        precondition(!hasEnded, "the program has ended")
        hasEnded = true
        input = nil
        let status = process.finish()
        takeRest()
        return status
    }

    /// Ends the program and its group.
    ///
    /// - Parameter isDone: true if the program is about to end by itself, which it then has a moment for.
    package func end(isDone: Bool) {
        if hasEnded { return }
        hasEnded = true
        input = nil
        if isDone { process.finish() } else { process.end() }
    }

    /// Waits for a moment, and takes what the program has written; true if it reads.
    private func wait(toWrite: Bool) throws(StreamFailure) -> Bool {
        let stage = toWrite ? StreamFailure.Stage.writing : .reading
        if Interruption.isRequested { throw StreamFailure(stage, .interrupted) }
        if let deadline, ContinuousClock.now >= deadline { throw StreamFailure(stage, .system(ETIMEDOUT)) }
        // A negative descriptor is ignored.
        var pipes = [
            pollfd(fd: outputIsOver ? -1 : output.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: messagesAreOver ? -1 : messages.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: toWrite ? input?.descriptor ?? -1 : -1, events: Int16(POLLOUT), revents: 0),
        ]
        // A signal may come before the call, so it ends after a while.
        guard unsafe poll(&pipes, 3, 100) >= 0 || errno == EINTR else { throw StreamFailure(stage, .system(errno)) }
        if pipes[0].revents != 0 {
            let before = received.count
            try Descriptor(number: output.descriptor).read(upTo: 65_536, into: &received)
            outputIsOver = received.count == before
            guard received.count <= Self.backlogLimit else {
                throw StreamFailure(.reading, .limitExceeded("unread output", found: nil, allowed: Self.backlogLimit))
            }
        }
        if pipes[1].revents != 0 { try takeMessages() }
        return pipes[2].revents != 0
    }

    /// Takes the messages that the program has left behind.
    private func takeRest() {
        do throws(StreamFailure) {
            while !messagesAreOver { try takeMessages() }
        } catch {
            // Without them, less is known of the end.
            messagesAreOver = true
        }
    }

    private func takeMessages() throws(StreamFailure) {
        var piece = SecretBytes(capacity: Self.messageLimit)
        try Descriptor(number: messages.descriptor).read(upTo: Self.messageLimit, into: &piece)
        messagesAreOver = piece.isEmpty
        said += piece.withBytes { [UInt8](copying: $0) }
        if said.count > 2 * Self.messageLimit { said.removeFirst(said.count - Self.messageLimit) }
    }
}
