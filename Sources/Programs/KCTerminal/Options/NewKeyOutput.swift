internal import ArgumentParser
package import KCByteStreams
internal import KCStoreTasks

/// The option for where a new key is written.
package struct NewKeyOutput: ParsableArguments {
    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new file; standard output for '-' or without it.", valueName: "file"),
        completion: .file())
    private var output: String?

    package init() {}

    /// The path of the file; nil for standard output.
    package func path() throws(UsageProblem) -> String? { try Self.path(output) }

    /// Returns the path of a file; nil for standard output, which is '-' as in `create`.
    package static func path(_ output: String?) throws(UsageProblem) -> String? {
        guard let output, output != "-" else { return nil }
        if output.isEmpty { throw .empty(.output) }
        if Path.split(output).name.isEmpty { throw .malformed(.output, form: "the path of a new file") }
        return output
    }
}

extension Session {
    /// Checks that there is the folder of a new file, before a secret is asked for that would be of no use without it.
    package func requireFolder(ofKeyFile path: String) throws(FileFailure) {
        try Path.requireFolder(Path.split(machine.resolve(path)).folder, named: Path.split(path).folder)
    }
}
