internal import ArgumentParser
internal import KCByteStreams
internal import KCConsole
internal import KCTerminal

/// The process entry point.
@main
struct Main {
    static func main() {
        ProtectTool.program.runProcess(
            { $0.protect = ProtectWork() },
            run: AgePlugin.isMeant ? { AgePlugin.run($0, Descriptor.standardInput, in: $1) } : nil)
    }
}

/// `kcbackup-protect`: protects files, and is age's plugin.
struct ProtectTool: ParsableCommand {
    static let program = Program(ProtectTool.self)

    static let configuration = CommandConfiguration(
        commandName: "kcbackup", version: Program.version, subcommands: [ProtectCommand.self, UnprotectCommand.self])
}

/// The work of the commands.
struct ProtectWork: ProtectVerbs {
    func run(_ verb: ProtectFilesCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: ProtectStatusCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: ProtectIdentityCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
    func run(_ verb: UnprotectCommand, in session: Session) throws -> ExitStatus { try verb.perform(in: session) }
}
