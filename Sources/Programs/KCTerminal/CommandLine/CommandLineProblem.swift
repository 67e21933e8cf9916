package import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Why a command line cannot be parsed.
///
/// None repeats a word that may be a secret: one too many, the value of an option that takes none, or what follows a
/// single dash.
package enum CommandLineProblem: Hashable, Sendable {
    /// A group has no such command; `meant` probably is.
    case noCommand([String], meant: String? = nil)
    /// The command has no such option, which has two dashes or one letter; `meant` probably is.
    case unknownOption(String, meant: String? = nil)
    /// Several letters after one dash are not all options; the beginning is repeated.
    case unknownLetters(beginning: String, meant: String? = nil)
    /// The flag is given a value.
    case takesNoValue(String)
    /// The option needs a value; `value` is its name.
    case noValue(String, value: String)
    /// The value of the option is not a source of a secret.
    case notASource(OptionName)
    /// The option or the argument does not take this value.
    case wrongValue(of: String, form: String)
    /// An argument or option is missing.
    case missing(String)
    /// A word stands before the '--' after which the command to run comes.
    case beforeDashes
    /// These many words are more than the command takes.
    case surplus(Int)
    /// Another problem; the message has no word of the command line.
    case other(String)
}

/// The names of a command, from the group at the top.
package struct CommandPath {
    package private(set) var names: [String] = []
    package private(set) var command: any ParsableCommand.Type
    private let program: String

    /// The command that the first words name, as far as they name one.
    ///
    /// - Parameter root: the command at the top, which is the program.
    package init(of root: any ParsableCommand.Type, _ words: some Sequence<String>) {
        command = root
        program = root.configuration.commandName ?? ""
        for word in words {
            let next = command.configuration.subcommands.first { $0.configuration.commandName?.exact == word.exact }
            guard let next else { return }
            command = next
            names.append(word)
        }
    }

    /// The command that the words are for: one of a group, if it has one without a name.
    package var destination: CommandPath {
        guard let command = command.configuration.defaultSubcommand else { return self }
        var path = self
        path.command = command
        return path
    }

    /// The command as typed.
    package var words: String { ([program] + names).joined(separator: " ") }

    /// Says that the group has no such command; nil if this is no group.
    package func problem(of word: String) -> CommandLineProblem? {
        let commands = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        if commands.isEmpty { return nil }
        let meant = (Self.otherWords[word.exact] ?? similarWord(to: word, among: commands)).flatMap { meant in
            commands.contains { $0.exact == meant.exact } ? meant : nil
        }
        return .noCommand(names + [word], meant: meant)
    }

    /// Words that users expect, with those that are used instead.
    private static let otherWords: [ExactText: String] = [
        "distrust": "untrust", "remove": "delete", "rm": "delete", "ls": "list", "backup": "create",
    ]
}

extension CommandLineProblem {
    /// Finds what the parser objects to in the words of a command line.
    ///
    /// The parser's errors have no public type: it only tells them in English, with the words of the user.
    ///
    /// - Parameters:
    ///   - root: the command at the top.
    ///   - message: the parser's, which is used if nothing else is found and no word is in it.
    package init(in words: [String], of root: any ParsableCommand.Type, message: String) {
        let values = words.compactMap { $0.exact.split(separator: "=", maxSplits: 1).dropFirst().first }
        let isRepeated = (words + values).contains { !$0.isEmpty && message.exact.contains($0) }
        self =
            Self.found(in: words, of: root) ?? .other(isRepeated ? "the command line cannot be understood" : message)
    }

    private static func found(in words: [String], of root: any ParsableCommand.Type) -> CommandLineProblem? {
        let path = CommandPath(of: root, words).destination
        do throws(ForeignFailure) {
            var search = CommandLineSearch(path, try CommandArguments(of: path.command))
            return search.problem(in: words.dropFirst(path.names.count))
        } catch {
            // The parser describes itself in another form; its message remains.
            return nil
        }
    }
}

/// Looks for a problem in the words after a command.
private struct CommandLineSearch {
    private let path: CommandPath
    private let arguments: CommandArguments
    private var rest: ArraySlice<String> = []
    private var operands: [String] = []
    private var given: [(argument: CommandArguments.Argument, name: String, value: String)] = []

    init(_ path: CommandPath, _ arguments: CommandArguments) {
        self.path = path
        self.arguments = arguments
    }

    mutating func problem(in words: ArraySlice<String>) -> CommandLineProblem? {
        rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            let problem = Self.isOperand(word) ? problem(ofOperand: word) : problem(ofOption: word)
            if let problem { return problem }
        }
        if arguments.operands.allSatisfy({ !$0.isRepeating }), operands.count > arguments.operands.count {
            return .surplus(operands.count - arguments.operands.count)
        }
        return missing ?? wrongValue
    }

    private static func isOperand(_ word: String) -> Bool { !word.exact.hasPrefix("-") || word == "-" }

    private mutating func problem(ofOperand word: String) -> CommandLineProblem? {
        operands.append(word)
        if !arguments.operands.isEmpty, arguments.operands.allSatisfy(\.followsDashes) { return .beforeDashes }
        return path.problem(of: word)
    }

    private mutating func problem(ofOption word: String) -> CommandLineProblem? {
        let parts = word.exact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        guard name.exact.hasPrefix("--") || name.count == 2 else {
            return problem(ofLetters: name, hasValue: parts.count > 1)
        }
        guard let option = arguments.option(name) else {
            return name.exact.hasPrefix("---")
                ? .unknownLetters(beginning: "---") : .unknownOption(name, meant: similar(to: name))
        }
        guard let valueName = option.valueName else { return parts.count > 1 ? .takesNoValue(name) : nil }
        if parts.count > 1 {
            given.append((option, name, parts[1]))
        } else {
            guard let value = rest.first, Self.isOperand(value) else { return .noValue(name, value: valueName) }
            given.append((option, name, value))
            rest.removeFirst()
        }
        return nil
    }

    /// Several letters after one dash: flags, of which the last one may be an option with a value.
    private mutating func problem(ofLetters word: String, hasValue: Bool) -> CommandLineProblem? {
        let options = word.dropFirst().compactMap { arguments.option("-\($0)") }
        guard !hasValue, options.count == word.count - 1, options.dropLast().allSatisfy({ $0.valueName == nil }),
            let last = options.last
        else { return .unknownLetters(beginning: String(word.prefix(2)), meant: similar(to: word)) }
        guard let valueName = last.valueName else { return nil }
        let name = "-\(word.suffix(1))"
        guard let value = rest.first, Self.isOperand(value) else { return .noValue(name, value: valueName) }
        given.append((last, name, value))
        rest.removeFirst()
        return nil
    }

    /// Returns the option that was probably meant.
    private func similar(to name: String) -> String? {
        let names = arguments.options.flatMap(\.names).compactMap { $0.exact.removingPrefix("--") }
        return similarWord(to: String(name.drop { $0 == "-" }), among: names).map { "--" + $0 }
    }

    private var missing: CommandLineProblem? {
        if let operand = arguments.operands.dropFirst(operands.count).first(where: \.isRequired) {
            return .missing(operand.synopsis)
        }
        return arguments.options.first { option in option.isRequired && !given.contains { $0.argument == option } }
            .map { .missing($0.synopsis) }
    }

    private var wrongValue: CommandLineProblem? {
        for (argument, name, value) in given {
            if !argument.values.isEmpty, !argument.values.contains(where: { $0.lowercased() == value.lowercased() }) {
                return .wrongValue(of: name, form: "one of " + argument.values.joined(separator: ", "))
            }
            let option = OptionName(argument: name)
            if let option, argument.valueName?.exact == "source", SecretSource(value) == nil {
                return .notASource(option)
            }
            if option == .escrow, EscrowSource(argument: value) == nil { return .notASource(.escrow) }
            if option == .uuid, ItemUUID(value) == nil { return .wrongValue(of: name, form: "a UUID") }
        }
        return nil
    }
}
