internal import ByteStreams

/// How a run ended, for the caller: what `security` of macOS ends with.
struct ExitStatus: Hashable, Sendable {
    /// The number, 0…255.
    let code: Int32

    static let ok = ExitStatus(code: 0)
    /// A command that is not there, and failures that have no status code of Apple's.
    static let failed = ExitStatus(code: 1)
    /// The command line is wrong.
    static let usage = ExitStatus(code: 2)
    /// The reader of standard output went away; the process ends as by SIGPIPE.
    static let brokenPipe = ExitStatus(code: 141)

    /// A signal asked the process to stop; SIGTERM is 15, any other that is caught stands for the keyboard.
    static var interrupted: ExitStatus { ExitStatus(code: Interruption.signal == 15 ? 143 : 130) }
}
