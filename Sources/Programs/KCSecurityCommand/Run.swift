internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCLocalKeychains

/// Runs one command line and returns its exit status.
func run(_ arguments: [String], in world: World) -> ExitStatus {
    let session = Session(world)
    return session.reporting { try session.start(arguments) }
}

/// Reports a command line that cannot be read.
func refuse(_ objection: ProcessArguments.Unreadable, in world: World) -> ExitStatus {
    Session(world).message("security: \(objection.reason)\n")
    return .usage
}

/// The flags before the command.
let programFlags = [
    Flag("h", .none, "Show all commands"),
    Flag("i", .none, "Read commands from standard input"),
    Flag("l", .none, "Without meaning here"),
    Flag("p", .value("prompt"), "Ask with this prompt for each command (implies -i)"),
    Flag("q", .none, "Leave out notes"),
    Flag("v", .none, "Say more about what is done"),
]

extension Session {
    fileprivate func start(_ arguments: [String]) throws -> ExitStatus {
        let words: Words
        do throws(Words.Objection) {
            words = try Words(arguments, flags: programFlags)
        } catch {
            message(objection(error, of: "security"))
            message(programUsage)
            return .usage
        }
        isQuiet = words.has("q")
        isVerbose = words.has("v")
        if words.has("h") {
            try write(programUsage)
            return .ok
        }
        if words.has("i") || words.has("p") {
            if !words.operands.isEmpty { throw UsageProblem(reason: "-i takes commands from standard input alone") }
            return try runInteractively(prompt: words.value("p") ?? "security> ")
        }
        if words.operands.isEmpty {
            message(programUsage)
            return .usage
        }
        return execute(words.operands)
    }

    /// Runs one command and reports its failure.
    func execute(_ line: [String]) -> ExitStatus {
        guard let name = line.first else { return .ok }
        begin()
        guard let command = Command.named(name) else {
            message("security: unknown command \"\(displayed(name, limit: 100))\"\n")
            return .failed
        }
        let words: Words
        do throws(Words.Objection) {
            words = try command.parse(line.dropFirst())
        } catch {
            message(objection(error, of: command.name))
            message(command.usage)
            return .usage
        }
        let status = reporting(command) {
            if words.has(Command.helpFlag.letter) {
                try write(command.usage)
                return .ok
            }
            try world.dataFolder.requireOwn()
            return try command.run(words, self)
        }
        return noteDoubts() && status == .ok ? .failed : status
    }

    /// Reports changes that may not be durable; returns true if there are any.
    private func noteDoubts() -> Bool {
        let doubts = Durability.takeDoubts()
        for doubt in doubts {
            let reason = cause(doubt).note.map { ": " + shownInMessages($0) } ?? ""
            note("what was named there is done, and may be lost in a power cut" + reason, evenIfQuiet: true)
        }
        return !doubts.isEmpty
    }

    /// Converts the errors that `body` throws into messages and an exit status.
    fileprivate func reporting(_ command: Command? = nil, _ body: () throws -> ExitStatus) -> ExitStatus {
        do {
            return try body()
        } catch let problem as UsageProblem {
            if let reason = problem.reason { message("\(command?.name ?? "security"): \(reason)\n") }
            message(command?.usage ?? programUsage)
            return .usage
        } catch {
            let failure = error as? Failure ?? Failure(error, api: nil)
            message(failure.lines(shownInMessages))
            return failure.exit
        }
    }

    private func objection(_ objection: Words.Objection, of program: String) -> String {
        switch objection {
        case .unknownFlag(let letter): "\(program): illegal option -- \(displayed(String(letter)))\n"
        case .valueMissing(let letter): "\(program): option requires an argument -- \(letter)\n"
        }
    }
}

/// The program's usage text: the flags before the command, and all commands with one-line summaries.
let programUsage: String = {
    let width = Command.all.map(\.name.count).max() ?? 0
    let forms = programFlags.map { "[\($0.form)]" }.joined(separator: " ")
    let flags = programFlags.map { "    \($0.form)\(String(repeating: " ", count: 11 - $0.form.count))\($0.help)\n" }
    let commands = Command.all.map { command in
        "    \(command.name)\(String(repeating: " ", count: width - command.name.count))  \(command.summary)\n"
    }
    return "Usage: security \(forms) [command] [argument...]\n" + flags.joined() + "Commands:\n" + commands.joined()
}()
