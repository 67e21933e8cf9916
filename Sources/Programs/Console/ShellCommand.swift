// Fence: starts a child process whose output goes into wiped memory.
package import ByteStreams
internal import CSystem
internal import Glibc

/// A command of `cmd:COMMAND`, run by `/bin/sh -c`.
package enum ShellCommand {
    /// Why a command gave no output.
    package enum Failure: Error, Hashable, Sendable {
        /// It could not be started, with this `errno`.
        case notStarted(Int32)
        /// It ended with a status other than 0; 128 and more stand for a signal.
        case failed(status: Int32)
        /// It printed more than this many bytes.
        case tooLong(limit: Int)
        /// Its output could not be read, or a signal asked the process to stop.
        case stream(StreamFailure)
    }

    /// Runs `command` to its end and returns its output; it inherits standard input and standard error, and no other
    /// descriptor.
    ///
    /// - Parameter limit: bytes that it may print.
    /// - Throws: `Failure`.
    package static func output(of command: String, environment: [String: String], limit: Int) throws(Failure)
        -> SecretBytes
    {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .notStarted(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let source = Descriptor(number: ends[0])
        let process: pid_t
        do throws(Failure) {
            process = try start(command, environment, output: ends[1])
        } catch {
            for end in ends { close(end) }
            throw error
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
        // Further output fails on a closed pipe, and a command that prints nothing is signalled.
        close(ends[0])
        if trouble != nil { kill(process, SIGTERM) }
        let status = wait(for: process)
        if let trouble { throw trouble }
        if output.count > limit { throw .tooLong(limit: limit) }
        guard status == 0 else { throw .failed(status: status) }
        return output
    }

    private static func start(
        _ command: String, _ environment: [String: String], output: Int32
    ) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        // Standard input may be the secret of `fd:0`, or the file that is being imported; a person is asked there.
        if isatty(0) == 0 { unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
        // A descriptor that the caller opened for `fd:N` holds another secret, which the command must not read.
        let code = unsafe csystem_close_from(&actions, 3)
        guard code == 0 else { throw .notStarted(code) }

        // Signals that this program ignores have their default action in the command, and none is blocked.
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
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let arguments = unsafe strings(["/bin/sh", "-c", command])
        let variables = unsafe strings(environment.map { "\($0.key)=\($0.value)" })
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let started = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, variables)
        guard started == 0 else { throw .notStarted(started) }
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
            // Stopping this program stops the command too.
            if Interruption.isRequested { kill(process, SIGTERM) }
        }
        // WEXITSTATUS and WTERMSIG, which are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }
}
