import Foundation
import TestSupport
import Testing

@testable import SecurityCommand

@Suite("What commands of security say and how they end, in stories")
struct SecurityStoryTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Stories")

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".txt") }.sorted()

    private static func story(_ name: String) throws -> Story {
        try Story(String(contentsOf: folder.appending(path: name), encoding: .utf8))
    }

    @Test("Every story goes as it is told", arguments: names)
    func storyGoesAsTold(name: String) throws {
        let story = try Self.story(name)
        let home = try TestHome()
        try home.writeSamples()
        for file in story.files { try home.write(file.name, Array(file.text.utf8), mode: file.mode) }
        for step in story.steps {
            let isAsked = !step.typed.isEmpty || step.hasTerminal
            let terminal = ScriptedTerminal(answers: isAsked ? step.typed : nil, showsAll: step.hasTerminal)
            let input = try step.input.map { String(decoding: try home.folder.read("work/" + $0), as: UTF8.self) }
            let outcome = home.run(step.words, terminal: terminal, input: input ?? "")
            let place = "\(name):\(step.line): security \(step.words.joined(separator: " "))"
            #expect(outcome.status == step.status, "\(place)\n\(outcome.messages)")
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

    @Test("There is a story for every command, and each has a run that fails")
    func everyCommandHasAStory() throws {
        let steps = try Self.names.flatMap { try Self.story($0).steps }
        for command in Command.all {
            let runs = steps.filter { $0.words.contains(command.name) }
            #expect(runs.contains { $0.status == 0 }, "no story runs '\(command.name)'")
            #expect(runs.contains { $0.status != 0 }, "no story runs '\(command.name)' into a failure")
        }
    }

    @Test("A story that goes otherwise is noticed")
    func patternsAreExact() {
        #expect(Story.matches("a 1 b\n", ["a … b"]))
        #expect(Story.matches("a\nb\nc\n", ["a", "...", "c"]))
        #expect(!Story.matches("a\n", []))
        #expect(!Story.matches("a\nb\n", ["a"]))
        #expect(!Story.matches("ab\n", ["a…bb"]))
    }
}
