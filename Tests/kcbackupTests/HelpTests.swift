import ArgumentParser
import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Help")
struct HelpTests {
    static let verbs = verbPaths().map { $0.joined(separator: " ") }
    /// The whole help of each verb, made only once because the parser is slow at it.
    static let texts = texts("--help-hidden")
    private static let usualTexts = texts("--help")

    private static func texts(_ option: String) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: ([""] + verbs).map { verb in
                let outcome = try? TestHome().run(verb.split(separator: " ").map(String.init) + [option])
                return (verb, outcome?.status == .ok && outcome?.messages == "" ? outcome?.text ?? "" : "")
            })
    }

    @Test("The help of each verb is as in the stored text", arguments: [""] + verbs)
    func helpIsAsItWas(verb: String) throws {
        let text = try #require(Self.usualTexts[verb])
        let name = verb.isEmpty ? "kcbackup" : verb.replacing(" ", with: "-")
        try Golden.compare(text, with: "Tests/kcbackupTests/Help/\(name).txt")
    }

    @Test("No line of the help is longer than 80 columns", arguments: [""] + verbs)
    func linesFit(verb: String) throws {
        let text = try #require(Self.texts[verb])
        #expect(text.split(separator: "\n").filter { $0.count > 80 } == [])
    }

    @Test("The help of each verb shows at least one example, and each example parses", arguments: verbs)
    func examplesParse(verb: String) throws {
        let text = try #require(Self.texts[verb])
        // A line of an example that goes on ends with a backslash, so that a shell takes it as it is.
        var examples: [String] = []
        var isExample = false
        for line in text.components(separatedBy: "\n").drop(while: { $0 != "EXAMPLES:" }).dropFirst() {
            if isExample, let last = examples.last, last.hasSuffix("\\") {
                examples[examples.count - 1] = last.dropLast() + line.trimmingCharacters(in: .whitespaces)
            } else if line.hasPrefix("  kcbackup ") {
                examples.append(String(line.dropFirst(2)))
                isExample = true
            } else if line.isEmpty || line.hasPrefix("USAGE:") {
                break
            } else if isExample {
                Issue.record("\(verb): this example would break when pasted: \(line)")
            }
        }
        #expect(!examples.isEmpty)
        for example in examples {
            // The rest of the line concerns only the shell.
            let command = example.components(separatedBy: " | ")[0].components(separatedBy: " > ")[0]
            let words = Array(Story.words(command).dropFirst())
            #expect(throws: Never.self, "\(example)") { _ = try CommandLineTool.parseAsRoot(words) }
        }
    }

    /// The options that help lists under one title.
    struct Group {
        var title: String
        /// As typed; of an option with a letter, both forms.
        var options: [String]
    }

    /// The groups of options in the help of a verb, in their order.
    static func groups(of verb: String) throws -> [Group] { groups(in: try #require(texts[verb])) }

    private static func groups(in text: String) -> [Group] {
        var groups: [Group] = []
        let lines = text.components(separatedBy: "\n")
        for line in lines.drop(while: { !$0.hasPrefix("USAGE: ") }) {
            if let title = line.wholeMatch(of: /([A-Z][A-Z ]*):/) {
                groups.append(Group(title: String(title.1), options: []))
            } else if let option = line.firstMatch(of: /^  (?:(-\w), )?(--[a-z-]+)/) {
                groups[groups.count - 1].options += [option.1, option.2].compactMap { $0 }.map(String.init)
            }
        }
        return groups.filter { !$0.options.isEmpty }
    }

    @Test("Every option of a verb is declared in OptionName", arguments: verbs)
    func optionsAreNamed(verb: String) throws {
        let known = Set(OptionName.allCases.map(\.spelling) + ["--help", "--version"])
        let options = try Self.groups(of: verb).flatMap(\.options).filter { $0.hasPrefix("--") }
        #expect(Set(options).subtracting(known) == [])
    }

    @Test("Help lists every option but help and version under a title, at most three under the first", arguments: verbs)
    func optionsAreTitled(verb: String) throws {
        let groups = try Self.groups(of: verb)
        let titles = groups.map(\.title)
        let known = OptionTitle.allCases.map(\.rawValue)
        #expect(titles == known.filter(titles.contains) + ["OPTIONS"])
        #expect(groups.last?.options == ["--version", "-h", "--help"])
        #expect(try #require(groups.first).options.filter { $0.hasPrefix("--") }.count <= 3)
    }

    @Test("Help lists at most twelve options of a verb, and says how many more there are", arguments: verbs)
    func fewOptions(verb: String) throws {
        let text = try #require(Self.usualTexts[verb])
        let own: Set = ["--version", "-h", "--help", "--help-hidden"]
        func options(_ text: String) -> [String] {
            Self.groups(in: text).flatMap(\.options).filter { $0.hasPrefix("--") && !own.contains($0) }
        }
        let (shown, all) = (options(text), options(try #require(Self.texts[verb])))
        #expect(shown.count <= 12 && Set(shown).isSubset(of: all))
        #expect(text.contains("Show \(all.count - shown.count) more options") == (shown.count < all.count))
    }

    @Test("Help lists the main options of a verb first, in their order", arguments: verbs)
    func mainOptionsAreFirst(verb: String) throws {
        let first = try #require(try Self.groups(of: verb).first)
        let type = try #require(
            CommandPath(of: CommandLineTool.self, verb.split(separator: " ").map(String.init)).command as? any Verb.Type
        )
        let main = type.mainOptions.map(\.spelling)
        #expect(main.isEmpty == (first.title != OptionTitle.main.rawValue))
        #expect(main.isEmpty || first.options.filter { $0.hasPrefix("--") } == main)
    }

    @Test("The help of '--keychain' names the desktop keyring where it is accepted, and nowhere else", arguments: verbs)
    func keyrings(verb: String) throws {
        let text = try #require(Self.texts[verb])
        // Up to the next option, or the end of the group.
        guard let about = text.firstMatch(of: /\n  --keychain <[^\n]*(\n {26}[^\n]*)*/)?.output.0 else { return }
        let type = try #require(
            CommandPath(of: CommandLineTool.self, verb.split(separator: " ").map(String.init)).command as? any Verb.Type
        )
        let isAccepted = type.keyringUse != .none
        #expect(about.contains("secret-service:") == isAccepted, "\(about)")
    }

    @Test("'help VERB' shows the same as 'VERB --help'", arguments: ["create", "item add", "keychain escrow enable"])
    func helpCommand(verb: String) throws {
        let outcome = try TestHome().run(["help"] + verb.split(separator: " ").map(String.init))
        #expect(outcome.text == Self.usualTexts[verb])
    }

    @Test("Help has the same groups at any width", arguments: [40, 60, 200])
    func widths(columns: Int) throws {
        let message = CommandLineTool.helpMessage(for: RestoreCommand.self, columns: columns)
        let help = HelpText(message, of: CommandLineTool.self, width: columns, showsAll: true)
        let lines = help.text.components(separatedBy: "\n").drop { !$0.hasPrefix("USAGE: ") }
        let titles = lines.compactMap { $0.wholeMatch(of: /([A-Z][A-Z ]*):/).map { String($0.1) } }
        #expect(titles == ["ARGUMENTS"] + (try Self.groups(of: "restore").map(\.title)))
        #expect(
            lines.filter { $0.hasPrefix("  -") }.count
                == (try Self.groups(of: "restore").flatMap(\.options)).filter { $0.hasPrefix("--") }.count)
    }
}
