// Fence: starts, watches and ends child processes.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams

/// A child process.
struct ChildProcess {
    private let number: pid_t
    /// True if it leads a process group of its own.
    private let isGroup: Bool

    /// A process could not be started, with this `errno`.
    struct StartFailure: Error {
        let code: Int32
    }

    /// Where the standard streams of a process lead.
    struct Streams {
        /// Where its input comes from; nil for no input.
        var input: Int32?
        /// Where its output goes; nil to discard it.
        var output: Int32?
        /// Where its messages go; nil to inherit standard error.
        var messages: Int32?
        /// Descriptors that it gets besides, as 3, 4 and so on.
        var passed: [Int32] = []
    }

    /// Starts a program.
    ///
    /// The program inherits no other descriptors than these: one that the caller opened for `fd:N` holds another secret. SIGPIPE
    /// and SIGXFSZ, which this program ignores, have their default action in it, and no signal is blocked.
    ///
    /// - Parameters:
    ///   - path: the path of the program, without a search.
    ///   - words: its arguments, beginning with its name.
    ///   - isGroup: true to run it in a process group of its own, which cannot read from the terminal.
    ///   - isBound: true to have it killed when the thread that starts it ends, also if this program is killed.
    init(
        _ path: String, _ words: [String], _ environment: [String: String], _ streams: Streams, isGroup: Bool,
        isBound: Bool = false
    ) throws(StartFailure) {
        // C would truncate such a word.
        guard !([path] + words).contains(where: { $0.utf8.contains(0) }) else { throw StartFailure(code: EINVAL) }
        self.isGroup = isGroup
        let arguments = unsafe Self.strings(words)
        let variables = unsafe Self.strings(environment.map { "\($0.key)=\($0.value)" })
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var number: pid_t = 0
        let failure = unsafe path.withCString { path in
            unsafe arguments.withUnsafeBufferPointer { arguments in
                unsafe variables.withUnsafeBufferPointer { variables in
                    unsafe streams.passed.withUnsafeBufferPointer { passed in
                        var program = unsafe csystem_program(
                            path: path, arguments: arguments.baseAddress, environment: variables.baseAddress,
                            streams: (streams.input ?? -1, streams.output ?? -1, streams.messages ?? 2),
                            is_group: isGroup ? 1 : 0, is_bound: isBound ? 1 : 0, passed: passed.baseAddress,
                            passed_count: Int32(clamping: passed.count))
                        return unsafe csystem_start(&number, &program)
                    }
                }
            }
        }
        guard failure == 0 else { throw StartFailure(code: failure) }
        self.number = number
    }

    /// A pipe, whose ends children inherit only as their standard streams.
    static func pipe() throws(StartFailure) -> (reading: OpenFile, writing: OpenFile) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw StartFailure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (OpenFile(owning: ends[0], path: "a pipe"), OpenFile(owning: ends[1], path: "a pipe"))
    }

    /// Asks it to terminate; if it leads a group, also what is in that.
    func terminate() { kill(isGroup ? -number : number, SIGTERM) }

    /// Waits until it ends, and returns its exit status; 128 and above indicate a signal.
    ///
    /// When this program is asked to stop, the process is too.
    func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(number, &status, 0) == -1 {
            guard errno == EINTR else { return 255 }
            if Interruption.isRequested { terminate() }
        }
        // WEXITSTATUS and WTERMSIG, which are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }

    /// Waits until it ends or `isOver`, which is asked ten times a second; nil if its group was ended before.
    ///
    /// - Throws: `StartFailure` if it cannot be watched; its group has then been ended.
    func wait(until isOver: () -> Bool) throws(StartFailure) -> Int32? {
        let descriptor = csystem_open_process(number)
        guard descriptor >= 0 else {
            let code = errno
            end(watching: nil)
            throw StartFailure(code: code)
        }
        defer { close(descriptor) }
        while !Self.hasEnded(descriptor) {
            if isOver() {
                end(watching: descriptor)
                return nil
            }
        }
        return wait()
    }

    /// Asks its group to terminate, and kills what is left of it after a grace period.
    func end() {
        let descriptor = csystem_open_process(number)
        defer { if descriptor >= 0 { close(descriptor) } }
        end(watching: descriptor >= 0 ? descriptor : nil)
    }

    /// Waits for a grace period until it ends by itself, and then ends it and its group.
    ///
    /// - Returns: as `wait`; nil if it did not end by itself.
    @discardableResult
    func finish() -> Int32? {
        let descriptor = csystem_open_process(number)
        defer { if descriptor >= 0 { close(descriptor) } }
        let hasEnded = descriptor >= 0 && !Interruption.isRequested && Self.awaitEnd(descriptor)
        let status = end(watching: descriptor >= 0 ? descriptor : nil)
        return hasEnded ? status : nil
    }

    private static func awaitEnd(_ descriptor: Int32) -> Bool {
        for _ in 0..<graceInSlices where !Interruption.isRequested {
            if hasEnded(descriptor) { return true }
        }
        return false
    }

    @discardableResult
    private func end(watching descriptor: Int32?) -> Int32 {
        terminate()
        if let descriptor {
            for _ in 0..<Self.graceInSlices where Self.hasEnded(descriptor) {
                break
            }
        }
        // Processes that it started may be left.
        kill(isGroup ? -number : number, SIGKILL)
        return wait()
    }

    // In slices of a tenth of a second.
    private static let graceInSlices = 20

    /// Waits at most a tenth of a second for a process to exit.
    private static func hasEnded(_ descriptor: Int32) -> Bool {
        var process = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&process, 1, 100) == 1
    }

    /// Null-terminated C copies; the caller frees them.
    static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }
}
