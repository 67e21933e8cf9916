import ArgumentParser
import KCTerminal
import Testing

@testable import kcbackup

@Suite("What is known of a command's arguments")
struct CommandArgumentsTests {
    private static func commands(below path: CommandPath) -> [CommandPath] {
        [path]
            + path.command.configuration.subcommands.flatMap { command in
                commands(
                    below: CommandPath(of: CommandLineTool.self, path.names + [command.configuration.commandName ?? ""])
                )
            }
    }

    @Test("Each option that help lists is known, with its value")
    func options() throws {
        let commands = Self.commands(below: CommandPath(of: CommandLineTool.self, []))
        #expect(commands.count > 40)
        for path in commands {
            let known = try CommandArguments(of: path.command)
            let help = path.command.helpMessage(columns: 200)
            var listed: Set<String> = []
            for match in help.matches(of: /\n  (?:(-\w), )?(--[a-z-]+)( <[^>]+>)?/) {
                let name = String(match.2)
                listed.insert(name)
                let option = try #require(known.option(name), "\(path.words) \(name)")
                #expect((option.valueName != nil) == (match.3 != nil), "\(path.words) \(name)")
                if let letter = match.1 { #expect(known.option(String(letter)) == option, "\(path.words) \(letter)") }
            }
            #expect(listed.contains("--help"), "\(path.words)")
            for name in known.options.flatMap(\.names) where name.hasPrefix("--") && OptionName(argument: name) != nil {
                #expect(listed.contains(name), "\(path.words) \(name)")
            }
        }
    }

    @Test("Each problem is found in the words, and none repeats what may be a secret")
    func problems() throws {
        for (line, problem) in [
            ("itme list", CommandLineProblem.noCommand(["itme"], meant: "item")),
            ("item lits --json", .noCommand(["item", "lits"], meant: "list")),
            ("item list --jsno", .unknownOption("--jsno", meant: "--json")),
            ("item list --frobnicate=x", .unknownOption("--frobnicate")), ("item list -T", .unknownOption("-T")),
            ("item list -Tr0ub4dor", .unknownLetters(beginning: "-T")),
            ("item list -qX", .unknownLetters(beginning: "-q")),
            ("item list ---x", .unknownLetters(beginning: "---")), ("item list --json=x", .takesNoValue("--json")),
            ("keygen -o", .noValue("-o", value: "file")), ("keygen -qo --json", .noValue("-o", value: "file")),
            (
                "item list --class x",
                .wrongValue(of: "--class", form: "one of generic, internet, certificate, key, genp, inet, cert, keys")
            ),
            ("item list --uuid x", .wrongValue(of: "--uuid", form: "a UUID")),
            ("device untrust", .missing("<device-id>")), ("device untrust -- a b", .surplus(1)),
            ("keychain unlock a b c", .surplus(2)), ("exec --with A=b printenv", .beforeDashes),
            ("exec printenv -- x", .beforeDashes), ("exec --with A=b --", .missing("<command>")),
            ("exec --wiht A=b -- x", .unknownOption("--wiht", meant: "--with")),
            ("exec -- x --wiht", .other("not used")),
            (
                "--generate-completion-script x",
                .wrongValue(of: "--generate-completion-script", form: "one of zsh, bash, fish")
            ),
        ] {
            let words = line.split(separator: " ").map(String.init)
            #expect(CommandLineProblem(in: words, of: CommandLineTool.self, message: "not used") == problem, "\(line)")
        }
    }

    @Test("The parser's message is used only where nothing else is found and it has no word of the user")
    func message() {
        let words = ["item", "list", "hunter2"]
        #expect(CommandLineProblem(in: words, of: CommandLineTool.self, message: "odd") == .other("odd"))
        let other = CommandLineProblem(in: words, of: CommandLineTool.self, message: "odd: 'hunter2'")
        #expect(other == .other("the command line cannot be understood"))
    }
}
