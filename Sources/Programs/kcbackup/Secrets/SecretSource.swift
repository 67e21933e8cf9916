internal import Console
internal import ArgumentParser

/// Where a secret comes from: never the command line itself, never the environment.
enum SecretSource: Hashable, Sendable, ExpressibleByArgument {
    /// The terminal, without echo.
    case terminal
    /// The first line of a file that only its owner can read.
    case file(String)
    /// The first line from a descriptor that the caller opened.
    case descriptor(Int32)
    /// The first line that a shell command prints.
    case command(String)
    /// A systemd credential (systemd.exec(5), `LoadCredential=`).
    case credential(String)
    /// Not a source. The text is not kept: it may be the secret, typed where its source belongs.
    case unknown

    /// What can stand for SOURCE, for help and messages.
    static let forms = "tty, file:PATH, fd:N, cmd:COMMAND or cred:NAME"

    /// Reads `tty` or a word with its value; never fails, so that no parser repeats the text in a message.
    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1]) : ""
        self =
            switch (parts[0], value) {
            case ("tty", "") where parts.count == 1: .terminal
            case ("file", let path) where !path.isEmpty: .file(path)
            case ("fd", let number): Int32(number).flatMap { $0 >= 0 ? .descriptor($0) : nil } ?? .unknown
            case ("cmd", let command) where !command.isEmpty: .command(command)
            case ("cred", let name) where Self.isCredentialName(name): .credential(name)
            default: .unknown
            }
    }

    /// What a shell completes.
    static var defaultCompletionKind: CompletionKind { .list(["tty", "file:", "fd:", "cmd:", "cred:"]) }

    /// systemd's own rule: a file name and nothing else.
    private static func isCredentialName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.contains("/")
    }
}

/// Why there is no secret to work with.
enum SecretProblem: Error, Hashable, Sendable {
    /// Nobody was told where to get it, and there is no terminal to ask on.
    case noSource(what: String, OptionName)
    /// The value of the option is not a source.
    case notASource(OptionName)
    case empty(what: String)
    /// It holds a zero byte, which no keyboard makes and C libraries cut at.
    case holdsNUL(what: String)
    /// It has more bytes than this.
    case tooLong(what: String, limit: Int)
    /// More than one line came where one is the whole secret.
    case severalLines(what: String)
    /// The two that were typed differ.
    case differ(what: String)
    /// The descriptor is not open.
    case descriptorClosed(Int32)
    case noCredentialsFolder
    /// The command ended with this status; 128 and more stand for a signal.
    case commandFailed(status: Int32)
    /// The command could not be started, with this `errno`.
    case commandNotStarted(Int32)
}

/// What is told about a secret that is not there.
func explain(_ problem: SecretProblem) -> Explanation {
    switch problem {
    case .noSource(let what, let flag):
        Explanation(
            .usage, "the \(what) is needed, and there is no terminal to ask on",
            hint: "say where it comes from with '\(flag.spelling) SOURCE', where SOURCE is \(SecretSource.forms)")
    case .notASource(let flag):
        Explanation(
            .usage, "the value of '\(flag.spelling)' is not a source",
            hint: "SOURCE is \(SecretSource.forms)",
            "a secret itself is never an argument: if you typed one, it is in your shell's history now")
    case .empty(let what): Explanation(.usage, "the \(what) is empty")
    case .holdsNUL(let what): Explanation(.usage, "the \(what) has a zero byte")
    case .tooLong(let what, let limit): Explanation(.limit, "the \(what) has more than \(limit) bytes")
    case .severalLines(let what):
        Explanation(
            .usage, "the \(what) has more than one line",
            hint: "'\(OptionName.secretFile.spelling) FILE' takes all bytes of a file as they are")
    case .differ(let what): Explanation(.usage, "the two entries of the \(what) differ; nothing was changed")
    case .descriptorClosed(let number):
        Explanation(
            .usage, "descriptor \(number) is not open",
            hint: "open it in the shell, as in 'kcbackup … fd:\(number) \(number)<FILE'")
    case .noCredentialsFolder:
        Explanation(
            .notFound, "there are no systemd credentials: CREDENTIALS_DIRECTORY is not set",
            hint: "add 'LoadCredential=NAME:PATH' to the unit")
    case .commandFailed(let status):
        Explanation(
            .io, "the command that was to print the secret ended with status \(status)",
            hint: "run it by itself to see why")
    case .commandNotStarted(let code):
        Explanation(.io, "the command that was to print the secret cannot be started: error \(code)")
    }
}

/// What is told when the terminal gave no answer.
func explain(_ failure: TerminalFailure) -> Explanation {
    switch failure {
    case .unavailable:
        Explanation(
            .usage, "there is no terminal to ask on", hint: "give another SOURCE: \(SecretSource.forms)")
    case .closed: Explanation(.usage, "the terminal was closed before a line was typed")
    case .lineTooLong(let limit): Explanation(.limit, "the line has more than \(limit) bytes")
    case .interrupted: explainInterruption()
    }
}
