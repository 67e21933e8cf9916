internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel

/// A run of the program, with its world and output style.
final class Session {
    let world: World
    /// When the command began; everything that one command writes has this date.
    private(set) var now: Timestamp
    /// True to print only results and errors.
    var isQuiet = false
    /// True to print more than usual.
    var isVerbose = false
    /// True if commands come from standard input, where other users cannot see them.
    var isInteractive = false
    private var hasWarnedOfArguments = false
    /// The line that says that a password is checked, which is erased before anything else is written.
    private let notice: DelayedNotice

    init(_ world: World) {
        self.world = world
        notice = DelayedNotice(on: world.messages, timer: world.later)
        now = world.clock()
    }

    /// Reads the clock for the next command.
    func begin() {
        now = world.clock()
    }

    /// Writes bytes to standard output, unchanged.
    func write(_ bytes: borrowing SecretBytes) throws(StreamFailure) {
        try bytes.withBytes { span throws(StreamFailure) in try write(span) }
    }

    /// Writes bytes to standard output, unchanged.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        if bytes.isEmpty { return }
        notice.end()
        try world.output.write(bytes)
    }

    /// Writes text of this program to standard output.
    func write(_ text: String) throws(StreamFailure) {
        notice.end()
        try world.output.write(text.utf8.span)
    }

    /// Writes to standard error.
    ///
    /// A failure cannot be reported; the exit status still tells the outcome.
    func message(_ text: String) {
        notice.end()
        try? world.messages.write(text.utf8.span)
    }

    /// Writes requested output to standard error; unlike in `message`, a failure is an error.
    func writeToStandardError(_ text: borrowing SecretBytes) throws(StreamFailure) {
        try text.withBytes { span throws(StreamFailure) in try world.messages.write(span) }
    }

    // A user who waits longer wonders whether anything happens.
    private static let patience = Duration.milliseconds(300)

    /// Runs `check`, which finds out whether a password is right, and says so if that takes a while.
    func checking<Result: ~Copyable>(_ check: () throws -> Result) rethrows -> Result {
        if world.terminal.showsMessages, !isQuiet { notice.begin("checking…", after: Self.patience) }
        defer { notice.end() }
        return try check()
    }

    /// Runs `body`, which asks for a password and works with it, and shows nothing that is typed meanwhile.
    ///
    /// - Throws: `TerminalFailure`, and what `body` throws.
    func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        try world.terminal.isAttended ? world.terminal.quietly(body) : body()
    }

    /// Prints a note in addition to the result.
    ///
    /// - Parameter evenIfQuiet: true if less was done or examined than requested.
    func note(_ text: String, evenIfQuiet: Bool = false) {
        if evenIfQuiet || !isQuiet { message("security: note: \(text)\n") }
    }

    /// Warns once that other users can see the arguments of a process.
    func warnOfArguments() {
        if hasWarnedOfArguments || isInteractive { return }
        hasWarnedOfArguments = true
        message(
            "security: warning: other users can see a password on the command line in the list of processes; leave it "
                + "out, or give -w last, to be asked for it\n")
    }

    /// Explains the consequences of a keychain without a password.
    func warnOfNoPassword() {
        message(
            "security: warning: without a password, anyone who can use your account on this device can read this keychain\n"
        )
    }

    /// Prepares foreign text for standard output: unchanged in a file or pipe, escaped on a terminal.
    func shown(_ text: String) -> String { world.terminal.showsOutput ? displayed(text) : text }

    /// Prepares foreign text for standard error: unchanged in a file or pipe, escaped on a terminal.
    func shownInMessages(_ text: String) -> String { world.terminal.showsMessages ? displayed(text) : text }

    /// Runs what macOS's `security` does with the named API, which error messages mention.
    func calling<Result: ~Copyable>(_ api: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as Failure {
            throw failure
        } catch let problem as UsageProblem {
            throw problem
        } catch {
            throw Failure(error, api: api)
        }
    }
}
