import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import kcbackup

@Suite("What commands say and how they end, in stories")
struct StoryTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Stories")

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".txt") }.sorted()

    @Test("Every story goes as it is told", arguments: names)
    func storyGoesAsTold(name: String) throws {
        let story = try Story(String(contentsOf: Self.folder.appending(path: name), encoding: .utf8))
        let home = try TestHome()
        for file in story.files { try home.write(file.name, file.text, mode: file.mode) }
        for step in story.steps {
            let isAsked = !step.typed.isEmpty || step.hasTerminal
            let terminal = ScriptedTerminal(
                answers: isAsked ? step.typed : nil, showsOutput: step.hasTerminal, showsMessages: step.hasTerminal)
            let outcome = home.run(step.words, terminal: terminal)
            let place = "\(name):\(step.line): kcbackup \(step.words.joined(separator: " "))"
            #expect(outcome.status.code == step.status, "\(place)\n\(outcome.messages)")
            #expect(Story.matches(outcome.text, step.output), "\(place)\nstandard output was\n\(outcome.text)")
            #expect(Story.matches(outcome.messages, step.messages), "\(place)\nstandard error was\n\(outcome.messages)")
            if !step.prompts.isEmpty {
                #expect(
                    Story.matches(terminal.asked.joined(separator: "\n") + "\n", step.prompts),
                    "\(place)\nasked: \(terminal.asked)")
            }
            #expect(terminal.unasked == 0, "\(place): nobody asked for the last answers")
        }
    }

    @Test("There is a story for every verb but the four that have tests of their own")
    func everyVerbHasAStory() throws {
        let told = try Self.names.flatMap { name in
            try Story(String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)).steps.map(\.words)
        }
        for path in verbPaths() where path.count > 1 || path == ["keygen"] {
            #expect(told.contains { $0.starts(with: path) }, "no story runs 'kcbackup \(path.joined(separator: " "))'")
        }
    }

    @Test("A story that goes otherwise is noticed")
    func patternsAreExact() {
        #expect(Story.matches("a 1 b\n", ["a … b"]))
        #expect(Story.matches("a\nb\nc\n", ["a", "...", "c"]))
        #expect(Story.matches("", []))
        #expect(!Story.matches("a\n", []))
        #expect(!Story.matches("a\nb\n", ["a"]))
        #expect(!Story.matches("ab\n", ["a…bb"]))
        #expect(!Story.matches("a\n", ["a", "b"]))
    }
}

/// The words that lead to each verb of the program.
func verbPaths(below command: any ParsableCommand.Type = CommandLineTool.self) -> [[String]] {
    let configuration = command.configuration
    let children = configuration.subcommands
    if children.isEmpty { return [[]] }
    return children.flatMap { child in
        verbPaths(below: child).map { [child.configuration.commandName ?? "\(child)"] + $0 }
    }
}
