internal import ArgumentParser
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCReportText

extension SecretSource: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    /// The values for shell completion.
    static var defaultCompletionKind: CompletionKind { .list(["tty", "file:", "fd:", "cmd:", "cred:"]) }
}

/// Why a secret could not be read.
enum SecretProblem: Error, Hashable, Sendable {
    /// No source is given, and there is no terminal for a prompt.
    case noSource(what: String, OptionName)
    /// The value of the option is not a source.
    case notASource(OptionName)
    case empty(what: String)
    /// The source has no byte, but an empty secret is an empty line.
    case noLine(what: String)
    /// It contains a zero byte, which cannot be typed and would truncate it in C libraries.
    case holdsNUL(what: String)
    /// It is longer than this many bytes.
    case tooLong(what: String, limit: Int)
    /// There are several lines, but the secret must be a single line.
    case severalLines(what: String)
    /// The two typed secrets differ.
    case differ(what: String)
    /// The file that should hold it does not exist.
    case noFile(what: String, path: String, isKeyFile: Bool)
    /// The descriptor is not open.
    case descriptorClosed(Int32)
    case noCredentialsFolder
    /// The command exited with this status; 128 and above indicate a signal.
    case commandFailed(status: Int32)
    /// The command could not be started, with this `errno`.
    case commandNotStarted(Int32)
}

/// Explains a missing secret.
func explainSecret(_ problem: SecretProblem) -> Explanation {
    switch problem {
    case .noSource(let what, let flag):
        Explanation(
            .usage, "the \(what) is needed, and there is no terminal to ask on",
            remedies: [
                .source(
                    flag,
                    "say where it comes from with '\(flag.spelling) SOURCE', where SOURCE is \(SecretSource.forms)")
            ])
    case .notASource(let flag):
        Explanation(
            .usage, "the value of '\(flag.spelling)' is not a source",
            hint: "SOURCE is \(SecretSource.forms)",
            "a secret itself is never an argument: if you typed one, it is in your shell's history now")
    case .empty(let what): Explanation(.usage, "the \(what) is empty")
    case .noLine(let what):
        Explanation(
            .usage, "the source of the \(what) has nothing, not even an empty line",
            hint: "an empty secret is an empty line, as 'cmd:echo' prints it, or an empty file for "
                + "'\(OptionName.secretFile.spelling) FILE'")
    case .holdsNUL(let what): Explanation(.usage, "the \(what) has a zero byte")
    case .tooLong(let what, let limit): Explanation(.limit, "the \(what) has more than \(limit) bytes")
    case .severalLines(let what):
        Explanation(
            .usage, "the \(what) has more than one line",
            hint: "'\(OptionName.secretFile.spelling) FILE' takes all bytes of a file as they are")
    case .differ(let what): Explanation(.usage, "the two entries of the \(what) differ; nothing was changed")
    case .noFile(let what, let path, let isKeyFile):
        Explanation(
            .notFound, "\(quoted(path)) does not exist, and the \(what) should be in it",
            hint: isKeyFile
                ? "'kcbackup keychain escrow enable NAME \(OptionName.output.spelling) \(shellWordOfHome(path))' makes one"
                : "make it with '(umask 077; cat > \(shellWordOfHome(path)))': type the \(what.prefix { $0 != " " }), "
                    + "Enter, Ctrl-D")
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
            hint: "run it alone to see why")
    case .commandNotStarted(let code):
        Explanation(.io, "the command that was to print the secret cannot be started: error \(code)")
    }
}

/// Explains a missing answer on the terminal.
func explainTerminal(_ failure: TerminalFailure) -> Explanation {
    switch failure {
    case .unavailable:
        Explanation(
            .usage, "there is no terminal to ask on", hint: "give another SOURCE: \(SecretSource.forms)")
    case .closed: Explanation(.usage, "the input of the terminal ended before a line was typed")
    case .lineTooLong(let limit): Explanation(.limit, "the line has more than \(limit) bytes")
    case .interrupted: explainInterruption()
    }
}

/// Returns a path as a word of a shell command; `~/` stays outside of quotes, within which shells do not expand it.
func shellWordOfHome(_ path: String) -> String {
    guard let rest = path.exact.removingPrefix("~/"), !rest.isEmpty else { return shellWord(path) }
    return "~/" + shellWord(rest)
}
