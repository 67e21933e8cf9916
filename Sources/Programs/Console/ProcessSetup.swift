// Fence: calls the C library before anything else of the program runs.
internal import ByteStreams
internal import CSystem
internal import Glibc

/// What the process does first, before it reads an argument or opens a file.
package enum ProcessSetup {
    // The signals of a crash: Swift's own handlers print registers and the memory behind them, secrets included.
    private static let crashSignals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP]

    /// Closes the ways in which memory, files or a caller's mistakes could give a secret away.
    package static func run() {
        for signal in crashSignals { _ = Glibc.signal(signal, SIG_DFL) }
        // A caller with threads may hand down a mask that would keep SIGINT and SIGTERM from ever arriving.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        // Were one of the three missing, the next file opened would take its place, and messages would go into it.
        // Opened the wrong way round, so that a result that would be lost is an error of the write.
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
        umask(0o077)
        csystem_hide_memory()
        // A closed pipe and a file that is too large are errors of the write then, which are reported.
        for signal in [SIGPIPE, SIGXFSZ] { _ = Glibc.signal(signal, SIG_IGN) }
        Interruption.catchSignals()
    }

    /// Ends as a process does that writes into a closed pipe: silently, and seen by the caller as that signal.
    package static func dieOfBrokenPipe() -> Never {
        _ = Glibc.signal(SIGPIPE, SIG_DFL)
        kill(getpid(), SIGPIPE)
        exit(128 + SIGPIPE)
    }
}
