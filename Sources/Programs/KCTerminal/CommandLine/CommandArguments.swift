package import ArgumentParser
internal import KCByteStreams
package import KCItemSources

/// The arguments that a command takes, as the parser describes them to other programs.
package struct CommandArguments {
    /// An option or an argument.
    package struct Argument: Hashable, Sendable {
        /// The names with their dashes, the long one last; empty for a positional argument.
        package var names: [String] = []
        /// The name of its value in help; nil for a flag.
        package var valueName: String?
        /// True if the parser insists on it.
        package var isRequired = false
        /// True if its words come after '--'.
        package var followsDashes = false
        /// True if it takes any number of words.
        package var isRepeating = false
        /// The values that it takes, if there is a list of them.
        package var values: [String] = []

        /// The argument in help.
        package var synopsis: String {
            [names.last, valueName.map { "<\($0)>" }].compactMap(\.self).joined(separator: " ")
        }
    }

    package private(set) var options: [Argument] = []
    package private(set) var operands: [Argument] = []

    /// - Throws: `ForeignFailure` if the parser describes itself in another form.
    package init(of command: any ParsableCommand.Type) throws(ForeignFailure) {
        let description = try ForeignJSON(SecretBytes(copying: command._dumpHelp().utf8))
        for value in description.root["command"]?["arguments"]?.values ?? [] {
            let argument = Argument(value, in: description)
            switch description.text(value["kind"]) {
            case "positional": operands.append(argument)
            case "option", "flag": options.append(argument)
            default: throw .unknownVariant("an argument without a kind")
            }
        }
        if options.isEmpty { throw .unknownVariant("no option, not even help") }
        options += Self.ofEveryCommand
    }

    /// Finds the option with this name.
    package func option(_ name: String) -> Argument? {
        options.first { $0.names.contains { $0.exact == name.exact } }
    }

    /// The arguments that the parser takes everywhere and does not describe.
    private static let ofEveryCommand = [
        Argument(names: ["--version"]), Argument(names: ["--help-hidden"]),
        Argument(names: ["--experimental-dump-help"]),
        Argument(
            names: ["--generate-completion-script"], valueName: "shell",
            values: CompletionShell.allCases.map(\.rawValue)),
    ]
}

extension CommandArguments.Argument {
    /// Reads the parser's description.
    fileprivate init(_ value: ForeignJSON.Value, in description: ForeignJSON) {
        names = (value["names"]?.values ?? []).compactMap { name in
            guard let text = description.text(name["name"]) else { return nil }
            return (description.text(name["kind"]) == "long" ? "--" : "-") + text
        }
        let isFlag = description.text(value["kind"]) == "flag"
        if !isFlag { valueName = description.text(value["valueName"]) ?? "value" }
        isRequired = !isFlag && description.flag(value["isOptional"]) == false
        followsDashes = description.text(value["parsingStrategy"]) == "postTerminator"
        isRepeating = description.flag(value["isRepeating"]) == true
        values = (value["allValues"]?.values ?? []).compactMap { description.text($0) }
    }
}
