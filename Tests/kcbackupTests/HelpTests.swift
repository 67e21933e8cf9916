import ArgumentParser
import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Help")
struct HelpTests {
    static let verbs = verbPaths().map { $0.joined(separator: " ") }
    /// The help of each verb, made only once because the parser is slow at it.
    static let texts = Dictionary(
        uniqueKeysWithValues: ([""] + verbs).map { verb in
            let outcome = try? TestHome().run(verb.split(separator: " ").map(String.init) + ["--help"])
            return (verb, outcome?.status == .ok && outcome?.messages == "" ? outcome?.text ?? "" : "")
        })

    @Test("The help of each verb is as in the stored text", arguments: [""] + verbs)
    func helpIsAsItWas(verb: String) throws {
        let text = try #require(Self.texts[verb])
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

    @Test("Every option of a verb is declared in OptionName")
    func optionsAreNamed() throws {
        let known = Set(OptionName.allCases.map(\.spelling) + ["--help", "--version"])
        for verb in Self.verbs {
            let text = try #require(Self.texts[verb])
            for line in text.components(separatedBy: "OPTIONS:").last?.components(separatedBy: "\n") ?? [] {
                guard let option = line.firstMatch(of: /^  (?:-\w, )?(--[a-z-]+)/) else { continue }
                #expect(known.contains(String(option.1)), "\(verb): \(option.1)")
            }
        }
    }
}
