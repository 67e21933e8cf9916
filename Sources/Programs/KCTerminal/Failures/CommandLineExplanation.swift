internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText

/// Explains why a command line cannot be parsed.
///
/// - Parameter command: the command whose help applies.
package func explainCommandLine(_ problem: CommandLineProblem, _ command: String) -> Explanation {
    let help = "see '\(command) --help'"
    switch problem {
    case .noCommand(let names, let meant):
        return Explanation(
            .usage, "there is no command '\(displayed(names.joined(separator: " ")))'" + suggestion(meant), hint: help)
    case .unknownOption(let option, let meant):
        let message = "unknown option '\(displayed(option))'" + suggestion(meant)
        guard command.exact.contains(" item "), let word = option.exact.removingPrefix("--"),
            let code = AttributeCode(named: word)
        else { return Explanation(.usage, message, hint: help) }
        let setter = command == "kcbackup item update" ? OptionName.set : .attribute
        return Explanation(
            .usage, message, hint: "the attribute is given as '\(setter.spelling) \(code.word)=VALUE'", help)
    case .unknownLetters(let beginning, let meant):
        return Explanation(
            .usage,
            "unknown option that begins with '\(displayed(beginning))', and is not repeated here since it may be a secret"
                + suggestion(meant), hint: help)
    case .takesNoValue(let option):
        return Explanation(
            .usage,
            "the option '\(option)' takes no value, and the one given is not repeated here since it may be a secret",
            hint: help)
    case .noValue(let option, let value):
        return Explanation(.usage, "missing value for '\(option) <\(value)>'", hint: help)
    case .notASource(.escrow): return UsageProblem.malformed(.escrow, form: EscrowSource.forms).explanation
    case .notASource(let option): return explainNotASource(option)
    case .wrongValue(let option, let form):
        return Explanation(.usage, "the value of '\(option)' is not \(form)", hint: help)
    case .missing(let argument): return Explanation(.usage, "missing expected argument '\(argument)'", hint: help)
    case .beforeDashes:
        return Explanation(
            .usage,
            "unexpected word before '--', and not repeated here since it may be a secret; "
                + "the command to run comes after '--'", hint: help)
    case .surplus(let count): return explainSurplus(count, command, help)
    case .other(let message): return Explanation(.usage, message, hint: help)
    }
}

private func suggestion(_ meant: String?) -> String { meant.map { "; did you mean '\($0)'?" } ?? "" }

/// Explains words that a command does not take.
private func explainSurplus(_ count: Int, _ command: String, _ help: String) -> Explanation {
    let isOne = count == 1
    if command == "kcbackup item add" || command == "kcbackup item update" {
        return Explanation(
            .usage,
            (isOne ? "a word is" : "\(count) words are")
                + " not the value of an option, and not repeated here since a secret may be among them; "
                + "'\(OptionName.service.spelling) NAME \(OptionName.account.spelling) NAME' names the item, and its secret is "
                + "asked for", hint: help)
    }
    let message =
        isOne
        ? "a word more than the command takes, and not repeated here since it may be a secret"
        : "\(count) words more than the command takes, and not repeated here since a secret may be among them"
    guard command == "kcbackup item delete" else { return Explanation(.usage, message, hint: help) }
    return Explanation(
        .usage, message, hint: "name the items with '\(OptionName.service.spelling) NAME' and the like",
        "'kcbackup item list TEXT' shows those that contain a text")
}

/// Explains a command line that cannot be read, which is not the user's mistake.
package func explainMissingArguments() -> Explanation {
    Explanation(
        .io, "the command line cannot be read, since '/proc/self/maps' cannot; nothing was done",
        hint: "'mount -t proc proc /proc' mounts what is missing in a chroot or a container",
        "where it is mounted, see whether a sandbox or a limit on open files ('ulimit -n') forbids opening it")
}
