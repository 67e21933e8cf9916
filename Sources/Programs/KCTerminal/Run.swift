package import ArgumentParser
internal import KCByteStreams
package import KCConsole
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// A program with commands: what it is called, and what its command lines mean.
package struct Program {
    /// The command at the top.
    package let root: any ParsableCommand.Type

    /// The version of all programs.
    package static let version = "0.1.0"
    /// The name and version of the programs, as recorded in archives.
    package static let tool = "kcbackup \(version)"

    package init(_ root: any ParsableCommand.Type) { self.root = root }

    /// Runs one command line and returns its exit status.
    package func run(_ arguments: [String], in world: World) -> ExitStatus {
        var world = world
        world.machine.tool = Self.tool
        // Parser errors are printed as JSON too, so the style must be known before parsing.
        let words = arguments.prefix { $0 != "--" }
        var session = Session(world, OutputStyle(before: words))
        if let refusal = refusal(ofHelpOn: arguments) { return session.report(refusal) }
        let command: any ParsableCommand
        do {
            command = try KnownNames.$place.withValue(KnownNames.Place(world.machine)) {
                try root.parseAsRoot(arguments)
            }
        } catch {
            return answer(error, to: arguments, session)
        }
        guard let verb = command as? any Verb else { return answer(command, to: arguments, session) }
        session = Session(world, verb.style.style, commandLine: arguments)
        session.keyringUse = type(of: verb).keyringUse
        if !verb.runsHere(in: world) { return handOver(verb, session) }
        if session.now < earliestLikely {
            session.warn("the clock says \(session.calendar.day(session.now)), so dates written now will be wrong")
        }
        var status: ExitStatus
        do {
            try refuseRepetition(words)
            try verb.style.check()
            try world.machine.dataFolder.requireOwn()
            world.machine.dataFolder.removeStaleFiles()
            UnfinishedEscrow.clean(
                in: world.machine.dataFolder, of: LocalDevice(world.machine),
                minimumCost: world.machine.costs.lowestPasscode)
            status = try verb.run(in: session)
        } catch {
            status = session.report(session.failure(of: error))
        }
        for doubt in Durability.takeDoubts() { status = session.warn(of: doubt, endingWith: status) }
        return status
    }

    /// Lets a companion run a command, after which nothing of this process is left.
    private func handOver(_ verb: any Verb, _ session: Session) -> ExitStatus {
        do {
            return try verb.run(in: session)
        } catch {
            return session.report(session.failure(of: error))
        }
    }

    /// Reports a command line that cannot be read.
    ///
    /// - Parameter arguments: the words, as close to the original as text allows.
    package func refuse(
        _ objection: ProcessArguments.Unreadable, among arguments: ArraySlice<String>, in world: World
    ) -> ExitStatus {
        let session = Session(world, OutputStyle(before: arguments.prefix { $0 != "--" }))
        switch objection {
        case .notUTF8(let position):
            // The argument itself may be a secret that was typed in the wrong place.
            let option = arguments.prefix(upTo: min(position, arguments.endIndex)).last.flatMap {
                isOption($0) ? $0 : nil
            }
            let place = option.map { ", after \(quoted($0))," } ?? ""
            let reason = "argument \(position)\(place) is not UTF-8"
            return session.report(.commandLine(.other(reason), command: CommandPath(of: root, []).words))
        case .missing: return session.report(.argumentsMissing)
        }
    }

    /// Handles requests other than verbs: help, version, completions, the name of a command group.
    private func answer(_ command: any ParsableCommand, to arguments: [String], _ session: Session) -> ExitStatus {
        do {
            var command = command
            try command.run()
            return .ok
        } catch {
            return answer(error, to: arguments, session)
        }
    }

    private func answer(_ error: any Error, to arguments: [String], _ session: Session) -> ExitStatus {
        let width = session.tableWidth.map { max(40, $0) } ?? 80
        guard root.exitCode(for: error) == .success else {
            let problem = CommandLineProblem(in: arguments, of: root, message: objection(error))
            return session.report(.commandLine(problem, command: CommandPath(of: root, arguments).words))
        }
        let help = HelpText(
            root.fullMessage(for: error, columns: width), of: root, width: width,
            showsAll: arguments.contains { $0.exact == "--help-hidden" }
        ).text
        do throws(Failure) {
            try session.write(help.utf8.span)
            return .ok
        } catch {
            return session.report(error)
        }
    }

    /// Returns the parser's message in this program's format: one line, lower case, no period, escaped.
    private func objection(_ error: any Error) -> String {
        var text = root.message(for: error).exact.replacing("\n", with: " ")
        if text.hasSuffix(".") { text.removeLast() }
        return displayed(text.prefix(1).lowercased() + text.dropFirst())
    }

    /// Refuses `help` with a word that is no command, for which the parser shows other help.
    private func refusal(ofHelpOn arguments: [String]) -> Failure? {
        guard arguments.first == "help" else { return nil }
        let names = arguments.dropFirst().filter { !$0.exact.hasPrefix("-") }
        let path = CommandPath(of: root, names)
        if let word = names.dropFirst(path.names.count).first, let problem = path.problem(of: word) {
            return .commandLine(problem, command: path.words)
        }
        return nil
    }
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

/// True for an option without its value.
private func isOption(_ word: String) -> Bool { word.exact.hasPrefix("-") && !word.utf8.contains(UInt8(ascii: "=")) }

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
    package func report(_ failure: Failure, about archive: String? = nil) -> ExitStatus {
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

/// Refuses a repeated option that accepts only one value, since it is unknown which one was intended.
private func refuseRepetition(_ words: ArraySlice<String>) throws(UsageProblem) {
    var seen: Set<OptionName> = []
    for word in words {
        guard let flag = OptionName(argument: word), !flag.isRepeatable else { continue }
        guard seen.insert(flag).inserted else { throw UsageProblem("'\(flag.spelling)' is given twice") }
    }
}
