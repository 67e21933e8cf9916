package import ArgumentParser
package import KCAsking
internal import KCByteStreams
package import KCConsole
internal import KCReportText

extension SecretSource: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    /// The values for shell completion.
    package static var defaultCompletionKind: CompletionKind { .list(["tty", "file:", "fd:", "cmd:", "cred:"]) }
}

/// Explains a missing secret.
package func explainSecret(_ problem: SecretProblem) -> Explanation {
    switch problem {
    case .noSource(let question, let field):
        Explanation(
            .usage,
            "the \(field == .newPasscode ? "new " : "")\(question.words) is needed, and there is no terminal to ask on",
            remedies: [
                .source(
                    field.option,
                    "say where it comes from with '\(field.option.spelling) SOURCE', where SOURCE is \(SecretSource.forms)"
                )
            ])
    case .notTyped(let field): explainNotASource(field.option)
    case .empty(let question): Explanation(.usage, "the \(question.words) is empty")
    case .noLine(let question):
        Explanation(
            .usage, "the source of the \(question.words) has nothing, not even an empty line",
            hint: "an empty secret is an empty line, as 'cmd:echo' prints it, or an empty file for "
                + "'\(OptionName.secretFile.spelling) FILE'")
    case .holdsNUL(let question): Explanation(.usage, "the \(question.words) has a zero byte")
    case .tooLong(let question, let limit): Explanation(.limit, "the \(question.words) has more than \(limit) bytes")
    case .severalLines(let question):
        Explanation(
            .usage, "the \(question.words) has more than one line",
            hint: "'\(OptionName.secretFile.spelling) FILE' takes all bytes of a file as they are")
    case .differ(let question):
        Explanation(.usage, "the two entries of the \(question.words) differ; nothing was changed")
    case .noFile(let question, let path):
        Explanation(
            .notFound, "\(quoted(path)) does not exist, and the \(question.words) should be in it",
            hint: question == .escrowKey
                ? "'kcbackup keychain escrow enable NAME \(OptionName.output.spelling) \(shellWordOfHome(path))' makes one"
                : "make it with '(umask 077; cat > \(shellWordOfHome(path)))': type the \(question.kind.words), "
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

/// Explains the value of an option that is no source of a secret.
package func explainNotASource(_ option: OptionName) -> Explanation {
    Explanation(
        .usage, "the value of '\(option.spelling)' is not a source",
        hint: "SOURCE is \(SecretSource.forms)",
        "a secret itself is never an argument: if you typed one, it is in your shell's history now")
}

/// Explains a missing answer on the terminal.
package func explainTerminal(_ failure: TerminalFailure) -> Explanation {
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
package func shellWordOfHome(_ path: String) -> String {
    guard let rest = path.exact.removingPrefix("~/"), !rest.isEmpty else { return shellWord(path) }
    return "~/" + shellWord(rest)
}
