internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText

/// Explains a parser error.
func explainCommandLine(_ message: String, _ command: String?) -> Explanation {
    let help = Explanation(.usage, message, hint: "see '\(command ?? "kcbackup") --help'")
    if command == "kcbackup item delete", message.exact.contains("more than the command takes") {
        return Explanation(
            .usage, message, hint: "name the items with '\(OptionName.service.spelling) NAME' and the like",
            "'kcbackup item list TEXT' shows those that contain a text")
    }
    if let word = message.firstMatch(of: /^unknown option '--([a-z]+)'/)?.1, command?.exact.contains(" item ") == true,
        let code = AttributeCode(named: String(word))
    {
        let option = command == "kcbackup item update" ? OptionName.set : .attribute
        return Explanation(.usage, message, hint: "the attribute is given as '\(option.spelling) \(code.word)=VALUE'")
            .adding(help.hints)
    }
    return help
}

/// Explains a command line that cannot be read, which is not the user's mistake.
func explainMissingArguments() -> Explanation {
    Explanation(
        .io, "the command line cannot be read, since '/proc/self/maps' cannot; nothing was done",
        hint: "'mount -t proc proc /proc' mounts what is missing in a chroot or a container",
        "where it is mounted, see whether a sandbox or a limit on open files ('ulimit -n') forbids opening it")
}
