import Foundation
import KCKeychainModel
import KCReportText
import KCTestSupport
import Testing

@testable import KCTerminal

@Suite("Messages")
struct MessageTests {
    @Test("Each case of each error has an example", arguments: FailureExamples.types)
    func everyCaseHasAnExample(type: String, file: String) throws {
        let text = try Project.text("Sources/\(file)")
        let declared = Self.cases(of: type, in: text)
        #expect(!declared.isEmpty, "\(type) is not declared in \(file)")
        let shown = Set(
            FailureExamples.all.map { String(reflecting: $0) }
                + FailureExamples.companions.map { String(reflecting: $0) })
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
        let text = try Project.text("Sources/Programs/KCTerminal/\(file)")
        let names = text.matches(of: /\n    package static (?:let|func) (\w+)/).map { String($0.1) }
        #expect(names.count > 10)
        let examples = try Project.text("Tests/KCTerminalTests/FailureExamples.swift")
        let start = try #require(examples.ranges(of: list).first).upperBound
        let end = try #require(examples[start...].ranges(of: "\n    ]\n").first).lowerBound
        let shown = Set(examples[start..<end].matches(of: /\.(\w+)/).map { String($0.1) })
        for name in names { #expect(shown.contains(name), "\(name) has no example") }
    }

    @Test("The messages and hints of every error are as written down, by their exit codes")
    func wordings() throws {
        try Golden.compare(Self.wordings(of: FailureExamples.explanations), with: "Tests/KCTerminalTests/Messages.txt")
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
        let published: [KCTerminal.ExitStatus: Int32] = [
            .ok: 0, .internal: 1, .incomplete: 3, .refused: 4, .notFound: 10, .busy: 11, .wrongKey: 12, .damaged: 13,
            .locked: 14, .shrunk: 15, .exists: 16, .stale: 17, .limit: 18, .notCopied: 19, .usage: 64, .io: 74,
            .notRun: 126, .noCommand: 127, .interrupted: 130,
            .brokenPipe: 141, .terminated: 143,
        ]
        for status in KCTerminal.ExitStatus.allCases { #expect(published[status] == status.code, "\(status)") }
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
        for status in KCTerminal.ExitStatus.allCases {
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
