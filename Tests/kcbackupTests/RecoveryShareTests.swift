import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Recovery kits in shares", .waitsForPrograms)
struct RecoveryShareTests {
    private let home: TestHome
    /// The words of each share, as the sheets print them.
    private let shares: [[String]]

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Chat","acct":"ada"},"secret":"travels"}"#)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("import items.jsonl").status == .ok)
        let outcome = home.run("recovery make --shares 2of3 -o kit.txt")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        let text = String(decoding: try home.folder.read("work/kit.txt"), as: UTF8.self)
        shares = text.split(separator: "\u{c}").map { sheet in
            let start = sheet.range(of: "THE WORDS")?.upperBound ?? sheet.startIndex
            let end = sheet.range(of: "The first four")?.lowerBound ?? sheet.endIndex
            let numbered = sheet[start..<end].matches(of: /(\d+) ([a-z]+)/).map { (Int($0.1) ?? 0, String($0.2)) }
            return numbered.sorted { $0.0 < $1.0 }.map(\.1)
        }
        #expect(shares.map(\.count) == [33, 33, 33])
        #expect(home.run("create laptop.kcb -r \(Self.anyKey)").status == .ok)
    }

    // A public key to which nobody has the identity.
    private static let anyKey = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

    /// Types at a terminal.
    private func check(_ answers: [String], archive: String = " laptop.kcb") -> (TestHome.Outcome, ScriptedTerminal) {
        let terminal = ScriptedTerminal(answers: answers)
        let outcome = home.run("recovery check\(archive)".split(separator: " ").map(String.init), terminal: terminal)
        return (outcome, terminal)
    }

    private func line(_ share: Int) -> String { shares[share].joined(separator: " ") }

    @Test("Two of three shares open an archive, whichever they are, and the list says how many are needed")
    func opened() throws {
        for pair in [(0, 1), (2, 0), (1, 2)] {
            let (outcome, terminal) = check([line(pair.0), line(pair.1)])
            #expect(outcome.status == .ok, "\(outcome.messages)")
            #expect(terminal.unasked == 0 && terminal.asked.joined().contains("1 more share needed"))
        }
        #expect(home.run("recovery list").text.contains("2 of 3"))
        #expect(home.run("recovery list --json").text.contains(#""shares":{"needed":2,"count":3}"#))
    }

    @Test("Only the shares that are typed in count as checked")
    func eachShare() throws {
        let (first, _) = check([line(2), line(0)], archive: " laptop.kcb -v")
        #expect(first.messages.contains("shares 1 and 3 of recovery kit"), "\(first.messages)")
        for command in ["status", "recovery list"] {
            #expect(home.run(command).text.contains("1 of 3 untried"))
            #expect(home.run("\(command) --json").text.contains(#""untried":[2]"#))
        }
        #expect(home.run("doctor").messages.contains("share 2 of recovery kit"))
        let (second, _) = check([line(1), line(0)], archive: " laptop.kcb -v")
        #expect(second.messages.contains("shares 1 and 2 of recovery kit"), "\(second.messages)")
        #expect(!home.run("doctor").messages.contains("of recovery kit"))
        #expect(!home.run("recovery list").text.contains("untried"))
        #expect(home.run("recovery list --json").text.contains(#""untried":[]"#))
    }

    @Test("Words may be typed in parts, by their first four letters, with their numbers, in capital letters")
    func parts() throws {
        let first = shares[0].map { String($0.prefix(4)) }
        let second = shares[1].enumerated().map { "\($0 + 1) \($1.uppercased())" }
        let answers = stride(from: 0, to: 33, by: 11).map { first[$0..<$0 + 11].joined(separator: " ") } + second
        let (outcome, terminal) = check(answers)
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
    }

    @Test("A word that is in no list is named, and those before it need not be typed again")
    func wrongWord() throws {
        var words = shares[0]
        words[6] = "lapptop"
        let (outcome, terminal) = check([
            words.joined(separator: " "), shares[0][6...].joined(separator: " "), line(1),
        ])
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
        #expect(terminal.asked.contains { $0.contains("Word 7 is not in the list") && $0.contains("from 7 on") })
        #expect(!terminal.asked.joined().contains("lapptop"))
    }

    @Test("A word that is another one of the list is proposed, and is taken only with a yes")
    func proposed() throws {
        var words = shares[0]
        let right = words[20]
        words[20] = right == "academic" ? "zero" : "academic"
        let wrong = words.joined(separator: " ")
        let (outcome, terminal) = check([wrong, "y", line(1)])
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
        #expect(terminal.asked.contains { $0.contains("  21 \(right)\n") })
        words[20] = "?"
        words[3] = "?"
        let (second, other) = check([words.joined(separator: " "), "n", line(2), line(1)])
        #expect(second.status == .ok && other.unasked == 0, "\(second.messages)")
    }

    @Test("A share may begin with a word that cannot be read, and a line after it")
    func illegibleBeginning() throws {
        let (outcome, terminal) = check([
            "? \(shares[0][1])", shares[0][2...].joined(separator: " "), "y", line(1),
        ])
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
    }

    @Test("The same share twice, one of another kit, and too many words are each said so, and the right one goes on")
    func others() throws {
        let first = home.run("recovery make --shares 3of3 -o other.txt")
        #expect(first.status == .ok)
        let text = String(decoding: try home.folder.read("work/other.txt"), as: UTF8.self)
        let sheet = try #require(text.split(separator: "\u{c}").first)
        let start = try #require(sheet.range(of: "THE WORDS")?.upperBound)
        let end = try #require(sheet.range(of: "The first four")?.lowerBound)
        let other = sheet[start..<end].matches(of: /(\d+) ([a-z]+)/).map { (Int($0.1) ?? 0, String($0.2)) }
            .sorted { $0.0 < $1.0 }.map(\.1).joined(separator: " ")
        let (outcome, terminal) = check([line(0), "", line(0), other, line(1) + " acid"])
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
        let asked = terminal.asked.joined()
        for words in ["A share has 33 words.", "Share 1 is there already", "share of another set"] {
            #expect(asked.contains(words))
        }
        #expect(asked.contains("'\(shares[0].prefix(3).joined(separator: " "))'"))
    }

    @Test("Numbers that no kit can have are refused, before anything is made")
    func schemes() throws {
        for text in ["1of3", "3of2", "2of17", "two"] {
            let outcome = home.run("recovery make --shares \(text) -o none.txt")
            #expect(outcome.status == .usage && outcome.messages.contains("--shares"), "\(outcome.messages)")
        }
        #expect(!FileManager.default.fileExists(atPath: home.path("none.txt")))
    }

    /// A Python installation with the reference implementation of SLIP-39.
    private static let judge = ExternalProgram.python(with: "shamir_mnemonic")

    @Test(
        "With the script of the sheet and a program of others, two shares open an archive without kcbackup",
        .enabled(if: judge != nil, "'make judges' installs it"))
    func withoutProgram() throws {
        let text = String(decoding: try home.folder.read("work/kit.txt"), as: UTF8.self)
        let start = try #require(text.range(of: "  from shamir_mnemonic"))
        let end = try #require(text.range(of: ".upper())\n"))
        let lines = text[start.lowerBound..<end.upperBound].split(separator: "\n")
        let script = lines.map { $0.dropFirst(2) + "\n" }.joined()
        try home.write("kit.py", script)
        try home.write("words", line(2) + "\n" + line(0) + "\n")
        let python = try #require(Self.judge)
        let outcome = try ExternalProgram.run(
            "/bin/sh",
            [
                "-ec",
                """
                umask 077
                '\(python)' kit.py < words > key.txt
                tar -xf laptop.kcb
                age -d -i key.txt secrets.jsonl.gz.age | gzip -dc
                """,
            ], in: home.workingFolder)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        // "travels" in base64.
        #expect(outcome.text.contains("dHJhdmVscw"))
    }
}
