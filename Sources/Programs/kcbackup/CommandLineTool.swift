internal import ArgumentParser
internal import KCTerminal

/// The program: its name and verbs.
struct CommandLineTool: ParsableCommand {
    static let program = Program(CommandLineTool.self)

    static let configuration = CommandConfiguration(
        commandName: "kcbackup",
        abstract: "Back up the desktop keyring and keychains, and restore them here or on another machine.",
        discussion: """
            SOURCE, where a secret comes from, is one of
              tty           the terminal, without echo
              file:PATH     the first line of a file that only you can read
              fd:N          the first line from an open file descriptor
              cmd:COMMAND   the first line that a shell command prints
              cred:NAME     a systemd credential
            With a terminal and no source, you are asked. In a path, '~/' at the start is your home folder; './~/' is not.

            EXAMPLES:
              kcbackup create desk.kcb
              kcbackup inspect desk.kcb
              kcbackup restore desk.kcb --dry-run
              kcbackup keychain create
            """,
        version: Program.version,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Backups",
                subcommands: [
                    CreateCommand.self, RestoreCommand.self, InspectCommand.self, VerifyCommand.self, DiffCommand.self,
                    KeygenCommand.self, RecoveryCommand.self,
                ]),
            CommandGroup(
                name: "Folders of backups",
                subcommands: [ListCommand.self, CopyCommand.self, PruneCommand.self, RekeyCommand.self]),
            CommandGroup(
                name: "Scheduled backups",
                subcommands: [
                    ScheduleCommand.self, RunCommand.self, StatusCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(name: "Many machines", subcommands: [FleetCommand.self]),
            CommandGroup(
                name: "Keychains",
                subcommands: [
                    KeychainCommand.self, ItemCommand.self, ExecCommand.self, ImportCommand.self,
                    ExportCommand.self, UndoCommand.self, DeviceCommand.self,
                ]),
            CommandGroup(name: "Files", subcommands: [ProtectCommand.self, UnprotectCommand.self]),
        ])
}
