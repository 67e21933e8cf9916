internal import ArgumentParser
internal import ByteStreams
internal import Console
internal import KeychainModel
internal import LocalKeychains

/// A verb of the command line.
protocol Verb: ParsableCommand {
    /// How the run is to speak.
    var style: StyleOptions { get }

    /// Does the work.
    ///
    /// - Returns: `ok`, or `incomplete` when some items could not be read or written and each was named.
    /// - Throws: any error of the layers below; `Failure` sorts them.
    func run(in session: Session) throws -> ExitStatus
}

/// Runs one command line from its words to its exit status, in any world.
func run(_ arguments: [String], in world: World) -> ExitStatus {
    // Errors of the parser come out as JSON too, so this is looked up before it parses.
    let words = arguments.prefix { $0 != "--" }
    var session = Session(world, OutputStyle(before: words))
    let command: any ParsableCommand
    do {
        command = try CommandLineTool.parseAsRoot(arguments)
    } catch {
        return answer(error, session)
    }
    guard let verb = command as? any Verb else { return answer(command, session) }
    session = Session(world, verb.style.style)
    if session.now < earliestLikely {
        session.warn("the clock says \(session.now.day), so dates written now will be wrong")
    }
    var status: ExitStatus
    do {
        try refuseRepetition(words)
        try world.dataFolder.requireOwn()
        status = try verb.run(in: session)
    } catch {
        status = report(Failure(error, session.subjects), session)
    }
    for doubt in Durability.takeDoubts() { status = session.tell(doubt, endingWith: status) }
    return status
}

extension Session {
    /// Says that something was done and may yet be lost; a run is not a success until what it made is durable.
    fileprivate func tell(_ doubt: FileFailure, endingWith status: ExitStatus) -> ExitStatus {
        let explanation = explain(doubt).prefixed("what was named there is done, and may be lost in a power cut: ")
        guard status == .ok else {
            warn(explanation.message)
            return status
        }
        message(explanation.lines)
        return explanation.status
    }
}

/// Refuses a command line that cannot be read.
///
/// - Parameter arguments: the words, as near as text comes to them.
func refuse(
    _ objection: ProcessArguments.Unreadable, among arguments: ArraySlice<String>, in world: World
) -> ExitStatus {
    let session = Session(world, OutputStyle(before: arguments.prefix { $0 != "--" }))
    switch objection {
    case .notUTF8: return report(.commandLine(message: objection.reason, command: nil), session)
    case .missing: return report(.argumentsMissing, session)
    }
}

extension OutputStyle {
    /// How a run speaks whose words nobody has parsed yet.
    fileprivate init(before words: ArraySlice<String>) {
        self.init(isJSON: words.contains(OptionName.json.spelling))
    }
}

/// Before this program was written: a machine whose clock says less has lost its battery or its time server.
private let earliestLikely = Timestamp.reference.advanced(byMicroseconds: 19 * 31_556_952_000_000)

/// Tells about a failure and returns the status that it ends the run with.
private func report(_ failure: Failure, _ session: Session) -> ExitStatus {
    // Nobody reads the results any more, as after `| head`.
    if case .output(StreamFailure(.writing, .system(brokenPipe))) = failure { return .brokenPipe }
    let explanation = failure.explanation
    session.message(explanation.lines)
    if session.style.isJSON { try? session.result(explanation.json, []) }
    return explanation.status
}

// EPIPE of <errno.h>.
private let brokenPipe: Int32 = 32

/// Answers what is no verb: help, version, completions, the name of a group of verbs.
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
        return report(.commandLine(message: objection(error), command: command(of: error)), session)
    }
    let help = CommandLineTool.fullMessage(for: error, columns: width) + "\n"
    do throws(Failure) {
        try session.write(help.utf8.span)
        return .ok
    } catch {
        return report(error, session)
    }
}

/// The parser's words in our form: one line, lower case, no full stop, harmless.
private func objection(_ error: any Error) -> String {
    var text = ""
    // Values that are possible come as a list, one a line, each after a dash.
    for line in CommandLineTool.message(for: error).split(separator: "\n") {
        let words = line.drop { $0 == " " }
        text +=
            text.isEmpty
            ? words : words.hasPrefix("- ") ? (text.hasSuffix(":") ? " " : ", ") + words.dropFirst(2) : " " + words
    }
    if text.hasSuffix(".") { text.removeLast() }
    return displayed(text.prefix(1).lowercased() + text.dropFirst())
}

/// The command whose help the parser would point at.
private func command(of error: any Error) -> String? {
    let text = CommandLineTool.fullMessage(for: error)
    return text.firstMatch(of: /See '([^']*) --help'/).map { String($0.1) }
}

/// Refuses an option that is given twice and can have one value: which one was meant cannot be known.
private func refuseRepetition(_ words: ArraySlice<String>) throws(UsageProblem) {
    var seen: Set<OptionName> = []
    for word in words {
        guard let flag = OptionName(argument: word), !flag.isRepeatable else { continue }
        guard seen.insert(flag).inserted else { throw .repeated(flag) }
    }
}
