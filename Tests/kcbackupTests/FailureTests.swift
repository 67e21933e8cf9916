import Foundation
import KCConsole
import KCKeychainModel
import KCReportText
import KCStoreTasks
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Failures")
struct FailureTests {
    @Test("Each case of each error has an example", arguments: FailureExamples.types)
    func everyCaseHasAnExample(type: String, file: String) throws {
        let text = try Project.text("Sources/\(file)")
        let declared = Self.cases(of: type, in: text)
        #expect(!declared.isEmpty, "\(type) is not declared in \(file)")
        let shown = Set(FailureExamples.all.map { String(reflecting: $0) })
        for name in declared {
            // The reflected spelling names the type before the case.
            let isShown = shown.contains { $0.contains("\(type).\(name)") }
            #expect(isShown, "\(type).\(name) has no example")
        }
    }

    @Test(
        "Each message of a usage problem or a refusal that has a name has an example",
        arguments: zip(
            ["Failures/UsageProblem.swift", "Failures/Refusal.swift"],
            ["private static let usage: [", "private static let refusals: ["]))
    func everyNamedMessageHasAnExample(file: String, list: String) throws {
        let text = try Project.text("Sources/Programs/kcbackup/\(file)")
        let names = text.matches(of: /\n    static (?:let|func) (\w+)/).map { String($0.1) }
        #expect(names.count > 10)
        let examples = try Project.text("Tests/kcbackupTests/Support/FailureExamples.swift")
        let start = try #require(examples.ranges(of: list).first).upperBound
        let end = try #require(examples[start...].ranges(of: "\n    ]\n").first).lowerBound
        let shown = Set(examples[start..<end].matches(of: /\.(\w+)/).map { String($0.1) })
        for name in names { #expect(shown.contains(name), "\(name) has no example") }
    }

    @Test("The messages and hints of every error are as written down, by their exit codes")
    func wordings() throws {
        try Golden.compare(Self.wordings(of: FailureExamples.explanations), with: "Tests/kcbackupTests/Messages.txt")
    }

    @Test("A name that looks like an option changes no decision about a hint")
    func namedLikeOptions() {
        let explanation = Explanation(
            .locked, "keychain 'c --passcode d' is locked", hint: "'kcbackup keychain unlock 'c --passcode d --unlock''"
        )
        #expect(!explanation.asksForPasscode && explanation.unattended == explanation)
        #expect(explanation.replacingPasscode(by: ["other"]).hints.count == 2)
        let remedies: [Remedy] = [.passcode("give it"), .desktopPrompt("answer it"), Remedy("wait")]
        let locked = Explanation(.locked, "it is locked", remedies: remedies)
        #expect(locked.asksForPasscode && locked.unattended.hints == ["give it", "wait"])
        #expect(locked.replacingPasscode(by: ["other"]).hints == ["answer it", "wait", "other"])
    }

    @Test("Messages and hints are one line, without a capital at the start or a period at the end")
    func wordsHaveOneForm() {
        for explanation in FailureExamples.explanations {
            #expect(!explanation.message.isEmpty)
            for text in [explanation.message] + explanation.hints {
                #expect(!text.contains("\n"))
                #expect(text.last != "." && text.last != "!", "\(text)")
                let first = text.prefix(1)
                let isName = ["SQLite", "When", "SOURCE"].contains { text.hasPrefix($0) }
                #expect(first == first.lowercased() || isName, "\(text)")
            }
            #expect(explanation.lines.hasPrefix("kcbackup: error: "))
            #expect(explanation.status != .ok)
        }
    }

    @Test(
        "A command in a message is never broken over two lines, however narrow the terminal", arguments: [20, 40, 80])
    func commandsStayWhole(width: Int) {
        for explanation in FailureExamples.explanations {
            let text = explanation.lines
            let commands = text.matches(of: /'(?:sudo |age -d [^'|\n]*\| )?kcbackup (?:"(?:[^"\\]|\\.)*"|[^'"\n])*'/)
                .map { $0.0 }
            let shown = wrapped(text, to: width)
            for command in commands { #expect(shown.contains(command), "\(shown)") }
            // Each command is in quotes: what is left names none.
            let rest = commands.reduce(text) { $0.replacing($1, with: "") }
            #expect(!rest.contains(/[^'] kcbackup [a-z]+ (?:-|[A-Z])/), "\(text)")
        }
    }

    @Test("An unexpected error prints its type but not its contents")
    func unforeseenErrorsAreSilent() {
        struct Surprise: Error { let secret = "swordfish" }
        let explanation = Failure(Surprise()).explanation
        #expect(explanation.status == .internal)
        #expect(!explanation.lines.contains("swordfish"))
    }

    @Test("The exit statuses have their documented numbers")
    func numbersAreStable() {
        let published: [kcbackup.ExitStatus: Int32] = [
            .ok: 0, .internal: 1, .incomplete: 3, .refused: 4, .notFound: 10, .busy: 11, .wrongKey: 12, .damaged: 13,
            .locked: 14, .shrunk: 15, .exists: 16, .stale: 17, .limit: 18, .notCopied: 19, .usage: 64, .io: 74,
            .notRun: 126, .noCommand: 127, .interrupted: 130,
            .brokenPipe: 141, .terminated: 143,
        ]
        for status in kcbackup.ExitStatus.allCases { #expect(published[status] == status.code, "\(status)") }
    }

    @Test("Foreign text in an error cannot control a terminal")
    func foreignTextIsHarmless() throws {
        let outcome = try TestHome().run(["import", "\u{1b}[2J\u{202e}evil", "--into", "\u{7}bell/"])
        #expect(outcome.status == .notFound)
        for character in "\u{1b}\u{202e}\u{7}" { #expect(!outcome.messages.contains(character)) }
        #expect(outcome.messages.contains("\\u{"))
    }

    @Test("A failure to write results is an error")
    func lostResultsAreAnError() throws {
        let home = try TestHome()
        _ = home.run("keychain create --no-passcode")
        var world = home.world()
        world.output = FailingOutput(code: 28)
        #expect(kcbackup.run(["keychain", "info"], in: world) == .io)
        #expect(kcbackup.run(["keychain", "info", "--json"], in: world) == .io)
        #expect(kcbackup.run(["--help"], in: world) == .io)
        world.output = FailingOutput(code: 32)
        #expect(kcbackup.run(["keychain", "info"], in: world) == .brokenPipe)
    }

    @Test("An import whose result cannot be written reports that it was done, and fails")
    func lostResultOfAnImport() throws {
        let home = try TestHome()
        _ = home.run("keychain create --no-passcode")
        try home.write("logins.csv", "name,url,username,password,note\na,https://a.example,ada,one,\n")
        var world = home.world()
        let messages = CollectedOutput()
        world.messages = messages
        world.output = FailingOutput(code: 28)
        #expect(kcbackup.run(["import", "logins.csv", "--json"], in: world) == .io)
        #expect(messages.text.contains("error: imported into keychain 'login': 1 created, but standard output"))
        #expect(messages.text.contains("still holds the secrets"))
        #expect(home.run("item find --account ada --reveal").text == "one")
        // A dry run has nothing to report.
        #expect(kcbackup.run(["import", "logins.csv", "--dry-run"], in: world) == .io)
        #expect(!messages.text.contains("would import into"))
    }

    @Test("A clock that lost its time causes a warning, but no failure")
    func clockIsWarnedOf() throws {
        let home = try TestHome()
        var world = home.world()
        let messages = CollectedOutput()
        world.messages = messages
        world.machine.clock = { .reference }
        #expect(kcbackup.run(["keychain", "create", "--no-passcode"], in: world) == .ok)
        #expect(messages.text.contains("the clock says 2001-01-01"))
        #expect(!home.run("keychain list").messages.contains("clock"))
    }

    /// The names of the cases of a type that is declared in a source file.
    private static func cases(of type: String, in text: String) -> [String] {
        let lines = text.components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.contains("enum \(type):") }) else { return [] }
        let indent = lines[start].prefix { $0 == " " } + "    "
        return lines[(start + 1)...].prefix { $0 != indent.dropLast(4) + "}" }.compactMap { line in
            guard line.hasPrefix(indent + "case ") else { return nil }
            return String(line.dropFirst(indent.count + 5).prefix { $0.isLetter || $0.isNumber })
        }
    }

    /// The text of Messages.txt.
    private static func wordings(of explanations: [Explanation]) -> String {
        var text = ""
        for status in kcbackup.ExitStatus.allCases {
            let told = explanations.filter { $0.status == status }
            if told.isEmpty { continue }
            text += "\(text.isEmpty ? "" : "\n")\(status.code) \(status.name)\n"
            var seen: Set<Explanation> = []
            for explanation in told where seen.insert(explanation).inserted {
                text += "\n- \(explanation.message)\n"
                for hint in explanation.hints { text += "  - hint: \(hint)\n" }
            }
        }
        return text
    }
}
