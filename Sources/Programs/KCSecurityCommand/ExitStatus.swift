internal import KCByteStreams

/// The exit status of a run, as in macOS's `security`.
struct ExitStatus: Hashable, Sendable {
    /// The number, 0 to 255.
    let code: Int32

    static let ok = ExitStatus(code: 0)
    /// An unknown command, or a failure without an Apple status code.
    static let failed = ExitStatus(code: 1)
    /// The command line is invalid.
    static let usage = ExitStatus(code: 2)
    /// Standard output was closed; the process ends as if killed by SIGPIPE.
    static let brokenPipe = ExitStatus(code: 141)

    /// A signal asked the process to stop.
    static var interrupted: ExitStatus { ExitStatus(code: Interruption.isFromKeyboard ? 130 : 143) }
}
