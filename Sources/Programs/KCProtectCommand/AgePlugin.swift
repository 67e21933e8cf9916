internal import KCByteStreams
internal import KCConsole
internal import KCFileProtection
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `age-plugin-kcbackup`: `kcbackup-protect` under the name by which age finds it (C2SP age-plugin).
enum AgePlugin {
    /// The name of the program, to which a link in a folder of `PATH` leads.
    static let program = "age-plugin-kcbackup"

    /// True if the process was started under this name.
    static var isMeant: Bool { CommandLine.arguments.first.map { Path.split($0).name.exact == program.exact } ?? false }

    /// Runs one state machine.
    ///
    /// - Parameter input: what the client sends; its answers go to standard output.
    static func run(
        _ words: [String], _ input: consuming some ByteSource & ~Copyable, in world: World
    ) -> ExitStatus {
        let session = Session(world, OutputStyle())
        do {
            guard words.count == 1, let machine = words[0].exact.removingPrefix("--age-plugin=") else {
                throw UsageProblem(
                    "age-plugin-kcbackup is started by age and by programs that use it",
                    hint: "'kcbackup protect identity' prints what they find it by")
            }
            try world.machine.dataFolder.requireOwn()
            let server = PluginServer(PluginConnection(input, world.output))
            switch machine.exact {
            case "identity-v1": try server.unwrap(with: LocalFileKeys(session))
            case "recipient-v1": try server.wrap()
            default: throw UsageProblem("age-plugin-kcbackup knows 'identity-v1' and 'recipient-v1', and nothing else")
            }
            return .ok
        } catch {
            return session.report(session.failure(of: error))
        }
    }
}
