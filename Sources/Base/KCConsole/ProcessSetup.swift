// Fence: calls the C library before anything else of the program runs.
internal import CKCSystem
internal import Glibc
internal import KCByteStreams

/// The first steps of the process, before it reads an argument or opens a file.
package enum ProcessSetup {
    // Crash signals. Swift's own handlers would print registers and the memory around them, including secrets.
    private static let crashSignals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP]
    private static let outputSignals = [SIGPIPE, SIGXFSZ]

    // In bytes: lists of a million items are larger, and what is made often is smaller.
    private static let largeBlock: Int32 = 1 << 20

    /// Prevents leaks of secrets through memory, files or the caller's mistakes.
    package static func run() {
        Inheritance.record(signals: crashSignals + Interruption.signals + outputSignals)
        for signal in crashSignals { _ = Glibc.signal(signal, SIG_DFL) }
        // A multithreaded caller may pass on a signal mask that would block SIGINT and SIGTERM forever.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        // If one of the three were closed, the next opened file would get its number, and messages would be written
        // into that file. `/dev/null` is opened in the wrong direction, so that writing a result to it is an error
        // instead of a silent loss.
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
        umask(0o077)
        csystem_hide_memory()
        csystem_return_large_blocks(largeBlock)
        ignoreOutputSignals()
        Interruption.catchSignals()
    }

    /// Makes writing to a closed pipe, or to a file that is too large, fail with an error that is reported.
    static func ignoreOutputSignals() {
        for signal in outputSignals { _ = Glibc.signal(signal, SIG_IGN) }
    }

    /// Exits like a process that wrote to a closed pipe: silently, and killed by SIGPIPE from the caller's point of
    /// view.
    package static func dieOfBrokenPipe() -> Never {
        _ = Glibc.signal(SIGPIPE, SIG_DFL)
        kill(getpid(), SIGPIPE)
        exit(128 + SIGPIPE)
    }
}
