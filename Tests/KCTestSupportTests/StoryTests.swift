import Foundation
import Testing

@testable import KCTestSupport

@Suite("Stories")
struct StoryTests {
    private static let text = """
        -- secret --
        walnut
        -- list 644 --
        # no comment

        $ program "two words" '' <list
        > out …
        $tty program
        < typed
        @ asked:
        ! error
        = 3
        """

    private func story(_ text: String = text) throws -> Story {
        try Story(text, of: "program")
    }

    @Test("Files, runs and expectations are parsed")
    func reading() throws {
        let story = try story()
        #expect(story.files.map(\.name) == ["secret", "list"])
        #expect(story.files.map(\.mode) == [0o600, 0o644])
        #expect(story.files.map(\.text) == ["walnut\n", "# no comment\n\n"])
        #expect(story.steps.map(\.words) == [["two words", ""], []])
        #expect(story.steps.map(\.input) == ["list", nil])
        #expect(story.steps.map(\.hasTerminal) == [false, true])
        #expect(story.steps.map(\.status) == [0, 3])
        #expect(story.steps.map { $0.terminal().isAttended } == [false, true])
    }

    @Test(
        "A line that is not valid in a story is refused",
        arguments: ["> out", "$ other", "$ program\nout", "$ program\n=  3", "-- a 8x --", "-- --"])
    func malformed(text: String) {
        #expect(throws: Story.Malformed.self) { try Story(text, of: "program") }
    }

    @Test(
        "Patterns must match the entire text",
        arguments: [
            ("a 1 b\n", ["a … b"], true), ("a\nb\nc\n", ["a", "...", "c"], true), ("", [], true), ("a\n", [], false),
            ("a\nb\n", ["a"], false), ("ab\n", ["a…bb"], false), ("a\n", ["a", "b"], false),
        ])
    func patterns(text: String, patterns: [String], fits: Bool) {
        #expect(LinePatterns(patterns).match(text) == fits)
    }

    /// The number of differences reported for a run that matches the second step, except for what a test changes.
    private func faults(
        output: String = "", messages: String = "error\n", asked: [String] = ["asked:"], code: Int32 = 3
    ) throws -> Int {
        let step = try story().steps[1]
        let terminal = step.terminal()
        let outcome = ProgramOutcome(at: terminal) { out, error in
            for prompt in asked { _ = try? terminal.readAnswer(prompt) }
            try? out.write(Array(output.utf8).span)
            try? error.write(Array(messages.utf8).span)
            return code
        }
        return step.faults(of: outcome, code: outcome.status).count
    }

    @Test("Every kind of difference between a run and its story is reported")
    func otherwise() throws {
        #expect(try faults() == 0)
        #expect(try faults(output: "more") == 1)
        #expect(try faults(messages: "") == 1)
        #expect(try faults(asked: ["other:"]) == 1)
        #expect(try faults(asked: ["asked:", "again:"]) == 1)
        // The answer is left, and the prompt is missing.
        #expect(try faults(asked: []) == 2)
        #expect(try faults(code: 0) == 1)
    }
}

@Suite("Golden files")
struct GoldenTests {
    @Test("The first line that differs is reported, wherever it is")
    func differences() throws {
        #expect(Golden.difference("a\nb\n", "a\nb\n") == nil)
        #expect(Golden.difference("a\nx\n", "a\nb\n") == "line 2: x")
        #expect(Golden.difference("a\n", "a\nb\n") == "line 2: ")
        #expect(Golden.difference("a", "a\nb") == "line 2: the text ends")
        #expect(Golden.difference("a\nb", "a") == "line 2: b")
    }
}
