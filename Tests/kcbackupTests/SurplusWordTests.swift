import ArgumentParser
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Words that a command does not take")
struct SurplusWordTests {
    /// The names of all verbs, with those of their groups.
    private static func verbs(of command: any ParsableCommand.Type, below names: [String] = []) -> [[String]] {
        let subcommands = command.configuration.subcommands
        if subcommands.isEmpty { return [names] }
        return subcommands.flatMap { verbs(of: $0, below: names + [$0.configuration.commandName ?? ""]) }
    }

    @Test("No error of usage repeats a word too many, which may be a secret, in text or in JSON")
    func surplus() throws {
        let home = try TestHome()
        var refused = 0
        let verbs = Self.verbs(of: CommandLineTool.self)
        #expect(verbs.count > 30)
        for verb in verbs {
            for words in [["a", "hunter2"], ["a", "b", "hunter2"], ["a", "b", "c", "hunter2", "d"]] {
                for style in [[], ["--json"]] {
                    let outcome = home.run(verb + words + style)
                    guard outcome.status == .usage else { continue }
                    refused += 1
                    #expect(!outcome.messages.contains("hunter2") && !outcome.text.contains("hunter2"), "\(verb)")
                }
            }
        }
        #expect(refused > 100)
    }

    @Test("The number of words too many is told")
    func count() throws {
        let home = try TestHome()
        let end = "more than the command takes, and not repeated here since"
        #expect(home.run("keychain unlock login hunter2").messages.contains("error: a word \(end) it may be a secret"))
        #expect(
            home.run("keychain unlock login a b").messages
                .contains("error: 2 words \(end) a secret may be among them"))
    }

    @Test(
        "No error of usage repeats the value of an option that takes none, or what follows a single dash",
        arguments: [
            "item add --service a --generate=hunter2", "item add --service a --no-undo=hunter2",
            "item find --reveal=hunter2", "keychain create x --no-passcode=hunter2", "status --json=hunter2",
            "item add --service a --secret tty -Xunter2", "keychain unlock -Xunter2", "create -ohunter2",
            "item find -Xunter2=x", "item find -x=hunter2", "list -vXunter2",
        ])
    func values(line: String) throws {
        let home = try TestHome()
        for style in ["", " --json"] {
            let outcome = home.run(line + style)
            #expect(outcome.status == .usage)
            #expect(!outcome.messages.contains("unter2") && !outcome.text.contains("unter2"), "\(outcome.messages)")
        }
    }

    @Test("An option that does not exist is named if it has one letter or two dashes, and a similar one is suggested")
    func unknown() throws {
        let home = try TestHome()
        let end = "and is not repeated here since it may be a secret"
        for (word, message) in [
            ("-T", "unknown option '-T'"), ("-Tr0ub4dor", "unknown option that begins with '-T', \(end)"),
            ("-jsno", "unknown option that begins with '-j', \(end); did you mean '--json'?"),
            ("--frobnicate", "unknown option '--frobnicate'"),
            (
                "--reveal=x",
                "the option '--reveal' takes no value, and the one given is not repeated here since it may be a secret"
            ),
        ] {
            #expect(home.run("item find \(word)").messages.contains("error: \(message)\n"), "\(word)")
        }
    }
}
