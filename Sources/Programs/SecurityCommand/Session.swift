internal import ByteStreams
internal import Console
internal import KeychainModel

/// One run of the program: its world and output style.
final class Session {
    let world: World
    /// When the command began; everything that one command writes has this date.
    private(set) var now: Timestamp
    /// Print only results and errors.
    var isQuiet = false
    /// Print more than usual.
    var isVerbose = false
    /// Commands come from standard input, where other users cannot see them.
    var isInteractive = false
    private var hasWarnedOfArguments = false

    init(_ world: World) {
        self.world = world
        now = world.clock()
    }

    /// Reads the clock for the next command.
    func begin() {
        now = world.clock()
    }

    /// Writes bytes to standard output as they are.
    func write(_ bytes: borrowing SecretBytes) throws(StreamFailure) {
        try bytes.withBytes { span throws(StreamFailure) in try write(span) }
    }

    /// Writes bytes to standard output as they are.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        if bytes.isEmpty { return }
        try world.output.write(bytes)
    }

    /// Writes our own text to standard output.
    func write(_ text: String) throws(StreamFailure) {
        try world.output.write(text.utf8.span)
    }

    /// Writes to standard error.
    ///
    /// A failure cannot be reported; the exit status still tells.
    func message(_ text: String) {
        try? world.messages.write(text.utf8.span)
    }

    /// Writes requested output to standard error; a failure is one of the run.
    func writeToStandardError(_ text: borrowing SecretBytes) throws(StreamFailure) {
        try text.withBytes { span throws(StreamFailure) in try world.messages.write(span) }
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

    /// Explains what a keychain without a password means.
    func warnOfNoPassword() {
        message(
            "security: warning: without a password, whoever can use your account on this device can read this keychain\n"
        )
    }

    /// Foreign text for standard output: unchanged in a file or pipe, escaped on a terminal.
    func shown(_ text: String) -> String { world.terminal.showsOutput ? displayed(text) : text }

    /// Foreign text for standard error: unchanged in a file or pipe, escaped on a terminal.
    func shownInMessages(_ text: String) -> String { world.terminal.showsMessages ? displayed(text) : text }

    /// Runs what macOS's `security` does through the named API, which error messages mention.
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
