internal import ArgumentParser
internal import KCByteStreams
internal import KCTerminal

/// The option for where a new key is written.
struct NewKeyOutput: ParsableArguments {
    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new file; standard output for '-' or without it.", valueName: "file"),
        completion: .file())
    private var output: String?

    /// The path of the file; nil for standard output.
    func path() throws(UsageProblem) -> String? { try Self.path(output) }

    /// Returns the path of a file; nil for standard output, which is '-' as in `create`.
    static func path(_ output: String?) throws(UsageProblem) -> String? {
        guard let output, output != "-" else { return nil }
        if output.isEmpty { throw .empty(.output) }
        if Path.split(output).name.isEmpty { throw .malformed(.output, form: "the path of a new file") }
        return output
    }
}
