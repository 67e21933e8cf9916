internal import Glibc
internal import KCByteStreams
internal import KCConsole
internal import KCReportText

/// A program that runs some of the commands: `kcbackup` parses their command lines, and starts it with the same words.
package enum Companion: String, Sendable {
    case fleet = "kcbackup-fleet"
    case protect = "kcbackup-protect"
}

extension Session {
    /// Runs this command line by a companion, in place of this process.
    ///
    /// - Throws: `Refusal` (`notFound`, `notRun`), `CompanionProgram.Replaceable`.
    func handOver(to companion: Companion) throws -> ExitStatus {
        let path = CompanionProgram.path(of: companion.rawValue)
        if CommandLine.arguments.first?.exact == path.exact {
            throw Refusal(.notRun, "\(quoted(path)) is another program", hint: "install kcbackup again")
        }
        try CompanionProgram.require(path)
        do {
            try world.takeOver(Successor(companion: [path] + commandLine))
            return .ok
        } catch Successor.Failure.notStarted(ENOENT) where !Path.isFile(path) {
            throw Refusal(
                .notFound, "there is no \(quoted(path)), which runs this command",
                hint: "the program belongs to kcbackup: install kcbackup again")
        } catch Successor.Failure.notStarted(let code) {
            throw Refusal(.notRun, "\(quoted(path)) cannot be run: \(words(ofSystemError: code))")
        }
    }
}

extension Verb {
    /// True if this program runs the command itself.
    func runsHere(in world: World) -> Bool {
        switch Self.companion {
        case nil: true
        case .fleet: world.fleet != nil
        case .protect: world.protect != nil
        }
    }
}

extension CompanionProgram.Replaceable: Explained {
    package var explanation: Explanation { explainUnsafeProgram(quoted(path), failure) }
}
