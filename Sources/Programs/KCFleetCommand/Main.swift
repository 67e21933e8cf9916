internal import ArgumentParser
internal import KCTerminal

/// The process entry point.
@main
struct Main {
    static func main() {
        FleetTool.program.runProcess({ $0.fleet = FleetWork() })
    }
}

/// `kcbackup-fleet`: looks after many machines.
struct FleetTool: ParsableCommand {
    static let program = Program(FleetTool.self)

    static let configuration = CommandConfiguration(
        commandName: "kcbackup", version: Program.version, subcommands: [FleetCommand.self])
}

/// The work of the commands.
struct FleetWork: FleetVerbs {
    func run(_ verb: FleetStatusCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: FleetIndexCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: FleetSearchCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: FleetExportCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
}
