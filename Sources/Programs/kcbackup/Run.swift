internal import ArgumentParser
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText

/// A command that does some work.
protocol Verb: ParsableCommand {
    /// The output options.
    var style: StyleOptions { get }

    /// What the command can do with the desktop keyring.
    static var keyringUse: KeyringUse { get }

    /// The options that most people need, at most three, which help lists first.
    static var mainOptions: [OptionName] { get }

    /// The title under which help lists an option that is not a main one.
    static func title(of option: OptionName) -> OptionTitle

    /// Runs the command.
    ///
    /// - Returns: `ok`, or `incomplete` if some items could not be read or written and were reported.
    /// - Throws: any error from the layers below; `Failure` converts them.
    func run(in session: Session) throws -> ExitStatus
}

extension Verb {
    static var keyringUse: KeyringUse { .none }
    static var mainOptions: [OptionName] { [] }
    static func title(of option: OptionName) -> OptionTitle { option.title }
}

/// Runs one command line and returns its exit status.
func run(_ arguments: [String], in world: World) -> ExitStatus {
    // Parser errors are printed as JSON too, so the style must be known before parsing.
    let words = arguments.prefix { $0 != "--" }
    var session = Session(world, OutputStyle(before: words))
    if let refusal = refusal(ofHelpOn: arguments) { return session.report(refusal) }
    let command: any ParsableCommand
    do {
        command = try KnownNames.$place.withValue(KnownNames.Place(world)) {
            try CommandLineTool.parseAsRoot(arguments)
        }
    } catch {
        return answer(error, session)
    }
    guard let verb = command as? any Verb else { return answer(command, session) }
    session = Session(world, verb.style.style)
    session.keyringUse = type(of: verb).keyringUse
    if session.now < earliestLikely {
        session.warn("the clock says \(session.calendar.day(session.now)), so dates written now will be wrong")
    }
    var status: ExitStatus
    do {
        try refuseRepetition(words)
        try world.dataFolder.requireOwn()
        world.dataFolder.removeStaleFiles()
        UnfinishedEscrow.clean(in: world)
        status = try verb.run(in: session)
    } catch {
        status = session.report(Failure(error, session.subjects))
    }
    for doubt in Durability.takeDoubts() { status = session.warn(of: doubt, endingWith: status) }
    return status
}

extension Session {
    /// Reports a change that may not be durable, which makes the run fail.
    fileprivate func warn(of doubt: FileFailure, endingWith status: ExitStatus) -> ExitStatus {
        let explanation = explainFile(doubt).prefixed("what was named there is done, and may be lost in a power cut: ")
        guard status == .ok else {
            warn(explanation.message)
            return status
        }
        message(explanation.lines)
        return explanation.status
    }
}

/// Reports a command line that cannot be read.
///
/// - Parameter arguments: the words, as close to the original as text allows.
func refuse(
    _ objection: ProcessArguments.Unreadable, among arguments: ArraySlice<String>, in world: World
) -> ExitStatus {
    let session = Session(world, OutputStyle(before: arguments.prefix { $0 != "--" }))
    switch objection {
    case .notUTF8: return session.report(.commandLine(message: objection.reason, command: nil))
    case .missing: return session.report(.argumentsMissing)
    }
}

extension OutputStyle {
    /// Determines the output style of a command line that could not be parsed.
    fileprivate init(before words: ArraySlice<String>) {
        self.init(isJSON: words.contains(OptionName.json.spelling))
    }
}

/// Predates this program: an earlier clock means a dead battery or a missing time server.
private let earliestLikely = Timestamp.reference.advanced(byMicroseconds: 19 * 31_556_952_000_000)

extension Session {
    /// Reports a failure and returns its exit status.
    ///
    /// - Parameter archive: the archive to name in the message, if the run reads several.
    func report(_ failure: Failure, about archive: String? = nil) -> ExitStatus {
        // Standard output was closed, as with `| head`.
        if case .output(StreamFailure(.writing, .system(brokenPipe))) = failure { return .brokenPipe }
        var explanation = failure.explanation
        if let done { explanation = explanation.after(done, isOfOutput: failure.isOfOutput) }
        if let archive { explanation = explanation.prefixed(prefix(of: explanation.message, about: archive)) }
        message(explanation.lines)
        if style.isJSON { try? result(explanation.json(about: archive), []) }
        return explanation.status
    }
}

// EPIPE in <errno.h>.
private let brokenPipe: Int32 = 32

/// Handles requests other than verbs: help, version, completions, the name of a command group.
private func answer(_ command: any ParsableCommand, _ session: Session) -> ExitStatus {
    do {
        var command = command
        try command.run()
        return .ok
    } catch {
        return answer(error, session)
    }
}

private func answer(_ error: any Error, _ session: Session) -> ExitStatus {
    let width = session.tableWidth.map { max(40, $0) } ?? 80
    guard CommandLineTool.exitCode(for: error) == .success else {
        let command = command(of: error)
        return session.report(
            .commandLine(message: hidingSecrets(naming(objection(error), in: command), of: command), command: command))
    }
    let help = HelpText(CommandLineTool.fullMessage(for: error, columns: width), width: width).text
    do throws(Failure) {
        try session.write(help.utf8.span)
        return .ok
    } catch {
        return session.report(error)
    }
}

/// Returns the parser's message in this program's format: one line, lower case, no period, escaped.
private func objection(_ error: any Error) -> String {
    var text = ""
    // The possible values are listed one per line, each after a dash.
    for line in CommandLineTool.message(for: error).split(separator: "\n") {
        let words = line.drop { $0 == " " }
        text +=
            text.isEmpty
            ? words : words.hasPrefix("- ") ? (text.hasSuffix(":") ? " " : ", ") + words.dropFirst(2) : " " + words
    }
    if text.hasSuffix(".") { text.removeLast() }
    return displayed(text.prefix(1).lowercased() + text.dropFirst())
}

/// Refuses `help` with a word that is no command, for which the parser shows other help.
private func refusal(ofHelpOn arguments: [String]) -> Failure? {
    guard arguments.first == "help" else { return nil }
    var names: [String] = []
    for word in arguments.dropFirst() where !word.hasPrefix("-") {
        guard let group = command(names), !group.configuration.subcommands.isEmpty else { break }
        if let message = objection(to: word, in: names) {
            return .commandLine(message: displayed(message), command: (["kcbackup"] + names).joined(separator: " "))
        }
        names.append(word)
    }
    return nil
}

/// Returns the parser's message, which for an unknown word in place of a verb names it, and the verb probably meant.
private func naming(_ message: String, in command: String?) -> String {
    guard let word = message.firstMatch(of: /^\d* ?unexpected arguments?:? '([^']*)'/)?.1 else { return message }
    let names = (command ?? "kcbackup").split(separator: " ").dropFirst().map(String.init)
    return objection(to: String(word), in: names) ?? message
}

/// Returns the message without words that may be a secret: one word too many, the value of an option that takes none,
/// or what follows a single dash.
private func hidingSecrets(_ message: String, of command: String?) -> String {
    if let flag = message.firstMatch(of: /^the option '([^']*)' does not take any value, but '/)?.1 {
        return "the option '\(flag)' takes no value, and the one given is not repeated here since it may be a secret"
    }
    if let unknown = message.firstMatch(of: /^unknown option '-([^\-])(.*)$/), unknown.2 != "'" {
        let suggestion = unknown.2.firstMatch(of: /'\. Did you mean '(--[a-z\-]+)'\?$/)?.1
        return "unknown option that begins with '-\(unknown.1)', and is not repeated here since it may be a secret"
            + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
    }
    guard let count = message.firstMatch(of: /^(?:(\d+) )?unexpected arguments?:?/) else { return message }
    guard command == "kcbackup item add" || command == "kcbackup item update" else {
        return count.1.map {
            "\($0) words more than the command takes, and not repeated here since a secret may be among them"
        }
            ?? "a word more than the command takes, and not repeated here since it may be a secret"
    }
    let words = count.1.map { "\($0) words are" } ?? "a word is"
    return "\(words) not the value of an option, and not repeated here since a secret may be among them; "
        + "'\(OptionName.service.spelling) NAME \(OptionName.account.spelling) NAME' names the item, and its secret is "
        + "asked for"
}

/// Returns the group or verb with this path of names; nil if there is none.
func command(_ names: [String]) -> (any ParsableCommand.Type)? {
    var found: any ParsableCommand.Type = CommandLineTool.self
    for name in names {
        guard let next = found.configuration.subcommands.first(where: { $0.configuration.commandName == name })
        else { return nil }
        found = next
    }
    return found
}

/// Says that a group has no such verb, and which was probably meant; nil if it has one, or has no verbs at all.
private func objection(to word: String, in names: [String]) -> String? {
    let verbs = command(names)?.configuration.subcommands.compactMap { $0.configuration.commandName } ?? []
    if verbs.isEmpty || verbs.contains(word) { return nil }
    let meant = (otherWords[word] ?? similarWord(to: word, among: verbs)).flatMap { verbs.contains($0) ? $0 : nil }
    return "there is no command '\((names + [word]).joined(separator: " "))'"
        + (meant.map { "; did you mean '\($0)'?" } ?? "")
}

/// Words that users expect, with those that are used instead.
private let otherWords = ["distrust": "untrust", "remove": "delete", "rm": "delete", "ls": "list", "backup": "create"]

/// Returns the command whose help the parser would suggest.
private func command(of error: any Error) -> String? {
    let text = CommandLineTool.fullMessage(for: error)
    return text.firstMatch(of: /See '([^']*) --help'/).map { String($0.1) }
}

/// Refuses a repeated option that accepts only one value, since it is unknown which one was intended.
private func refuseRepetition(_ words: ArraySlice<String>) throws(UsageProblem) {
    var seen: Set<OptionName> = []
    for word in words {
        guard let flag = OptionName(argument: word), !flag.isRepeatable else { continue }
        guard seen.insert(flag).inserted else { throw .repeated(flag) }
    }
}
