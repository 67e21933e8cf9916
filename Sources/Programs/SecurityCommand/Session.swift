internal import ByteStreams
internal import Console
internal import KeychainModel

/// One run of the program: the world around it and how it is to speak.
final class Session {
    let world: World
    /// The time at which the command began; everything that one command writes bears this one date.
    private(set) var now: Timestamp
    /// Nothing but results and errors.
    var isQuiet = false
    /// More than usual.
    var isVerbose = false
    /// Commands come from standard input, where nobody else sees them.
    var isInteractive = false
    private var hasWarnedOfArguments = false

    init(_ world: World) {
        self.world = world
        now = world.clock()
    }

    /// Looks at the clock anew, for the next command.
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

    /// Writes our own words to standard output.
    func write(_ text: String) throws(StreamFailure) {
        try world.output.write(text.utf8.span)
    }

    /// Writes to standard error.
    ///
    /// A failure there can be told to nobody; the exit status still tells.
    func message(_ text: String) {
        try? world.messages.write(text.utf8.span)
    }

    /// Writes what was asked for to standard error: a failure is one of the run.
    func tell(_ text: borrowing SecretBytes) throws(StreamFailure) {
        try text.withBytes { span throws(StreamFailure) in try world.messages.write(span) }
    }

    /// Says what somebody should know beside the result.
    ///
    /// - Parameter evenIfQuiet: true where less was done than was asked for, or looked at than there is.
    func note(_ text: String, evenIfQuiet: Bool = false) {
        if evenIfQuiet || !isQuiet { message("security: note: \(text)\n") }
    }

    /// Says once that other users see the arguments of a process.
    func warnOfArguments() {
        if hasWarnedOfArguments || isInteractive { return }
        hasWarnedOfArguments = true
        message(
            "security: warning: other users can see a password on the command line in the list of processes; leave it "
                + "out, or give -w last, to be asked for it\n")
    }

    /// Says what a keychain without a password means.
    func warnOfNoPassword() {
        message(
            "security: warning: without a password, whoever can use your account on this device can read this keychain\n"
        )
    }

    /// Foreign text for standard output: as it is in a file or a pipe, harmless on a terminal.
    func shown(_ text: String) -> String { world.terminal.showsOutput ? displayed(text) : text }

    /// Foreign text for standard error: as it is in a file or a pipe, harmless on a terminal.
    func told(_ text: String) -> String { world.terminal.showsMessages ? displayed(text) : text }

    /// Runs what `security` of macOS does with one call of an API, which the line of an error names.
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
