// Fence: starts a child process whose output goes into wiped memory.
package import KCByteStreams
internal import CKCSystem
internal import Glibc

/// What `/bin/sh -c` runs: a command that the user wrote, or a script of this program.
///
/// Text from a file, an item or an option cannot become part of a script of this program: it is a `StaticString`, and
/// such text is an argument, `"$1"` and so on.
package struct ShellScript: Sendable {
    fileprivate let text: String
    fileprivate let arguments: [String]

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
}

/// Runs scripts with `/bin/sh -c`.
package enum ShellCommand {
    /// Why a command returned no output.
    package enum Failure: Error, Hashable, Sendable {
        /// It could not be started, with this `errno`.
        case notStarted(Int32)
        /// It exited with a nonzero status; 128 and above indicate a signal.
        case failed(status: Int32)
        /// It printed more than this many bytes.
        case tooLong(limit: Int)
        /// Its output could not be read, or a signal asked the process to stop.
        case stream(StreamFailure)
    }

    /// Why a command that returns no output failed.
    package enum RunFailure: Error, Hashable, Sendable {
        /// It could not be started, with this `errno`.
        case notStarted(Int32)
        /// It exited with a nonzero status; 128 and above indicate a signal.
        case failed(status: Int32)
        /// It did not finish in time and was terminated.
        case timedOut
        /// A signal asked the process to stop, and the command was terminated.
        case interrupted
    }

    /// Runs `script` to completion and returns its output.
    ///
    /// The command inherits standard error, standard input if that is a terminal, and no other descriptors.
    ///
    /// - Parameter limit: the maximum size of the output in bytes.
    /// - Throws: `Failure`.
    package static func output(
        of script: ShellScript, environment: [String: String], limit: Int
    ) throws(Failure) -> SecretBytes {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .notStarted(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let source = Descriptor(number: ends[0])
        let process: pid_t
        do throws(StartFailure) {
            process = try start(script, environment, output: ends[1])
        } catch {
            for end in ends { close(end) }
            throw .notStarted(error.code)
        }
        close(ends[1])
        var output = SecretBytes(capacity: 4096)
        var trouble: Failure?
        do throws(StreamFailure) {
            var before = -1
            while output.count != before, output.count <= limit {
                before = output.count
                try source.read(upTo: min(4096, limit + 1 - before), into: &output)
            }
        } catch {
            trouble = .stream(error)
        }
        // A command that keeps writing then gets an error. If reading failed, the command is also sent SIGTERM, in case
        // it writes nothing.
        close(ends[0])
        if trouble != nil { kill(process, SIGTERM) }
        let status = wait(for: process)
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
    /// - Throws: `RunFailure`.
    package static func run(
        _ script: ShellScript, environment: [String: String], timeLimit: Duration
    ) throws(RunFailure) {
        let earlier = Interruption.signal
        Interruption.request(0)
        defer { if !Interruption.isRequested { Interruption.request(earlier) } }
        let process: pid_t
        do throws(StartFailure) {
            process = try start(script, environment, output: nil)
        } catch {
            throw .notStarted(error.code)
        }
        let descriptor = csystem_open_process(process)
        guard descriptor >= 0 else {
            let code = errno
            end(group: process, leader: -1)
            _ = wait(for: process)
            throw .notStarted(code)
        }
        defer { close(descriptor) }
        let clock = ContinuousClock()
        let deadline = clock.now + timeLimit
        while !hasEnded(descriptor) {
            guard clock.now < deadline, !Interruption.isRequested else {
                end(group: process, leader: descriptor)
                _ = wait(for: process)
                throw Interruption.isRequested ? .interrupted : .timedOut
            }
        }
        let status = wait(for: process)
        guard status == 0 else { throw .failed(status: status) }
    }

    /// Asks a process group to terminate, and kills whatever is left of it after a grace period.
    private static func end(group: pid_t, leader: Int32) {
        kill(-group, SIGTERM)
        for _ in 0..<graceInSlices where leader >= 0 {
            if hasEnded(leader) { break }
        }
        // Kill any processes that the shell started and left behind.
        kill(-group, SIGKILL)
    }

    // In slices of a tenth of a second.
    private static let graceInSlices = 20

    /// Waits at most a tenth of a second for a process to exit.
    private static func hasEnded(_ descriptor: Int32) -> Bool {
        var process = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&process, 1, 100) == 1
    }

    /// A command could not be started, with this `errno`.
    private struct StartFailure: Error {
        let code: Int32
    }

    /// - Parameter output: the descriptor for the command's output; nil to run the command in its own process group,
    ///   without input or output.
    private static func start(
        _ script: ShellScript, _ environment: [String: String], output: Int32?
    ) throws(StartFailure) -> pid_t {
        let words = ["/bin/sh", "-c", script.text, "sh"] + script.arguments
        // C would truncate such a word.
        guard !words.contains(where: { $0.utf8.contains(0) }) else { throw StartFailure(code: EINVAL) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let output {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        // Unless it is a terminal, standard input may be the secret of `fd:0`, or the file that is being imported. On a
        // terminal, the command may ask the user.
        if output == nil || isatty(0) == 0 {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        // A descriptor that the caller opened for `fd:N` holds another secret, which the command must not read.
        let code = unsafe csystem_close_from(&actions, 3)
        guard code == 0 else { throw StartFailure(code: code) }

        // Signals that this program ignores are reset to their default action in the command, and none is blocked.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&defaults, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        // A command that may ask the user stays in this group: another group cannot read from the terminal.
        let group = output == nil ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))

        let arguments = unsafe strings(words)
        let variables = unsafe strings(environment.map { "\($0.key)=\($0.value)" })
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let started = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, variables)
        guard started == 0 else { throw StartFailure(code: started) }
        return process
    }

    /// Null-terminated C copies; the caller frees them.
    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1 {
            guard errno == EINTR else { return 255 }
            // When this program is stopped, stop the command too.
            if Interruption.isRequested { kill(process, SIGTERM) }
        }
        // WEXITSTATUS and WTERMSIG, which are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }
}
