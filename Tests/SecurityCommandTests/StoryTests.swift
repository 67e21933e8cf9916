import TestSupport
import Testing

@testable import SecurityCommand

@Suite("What commands of security say and how they end, in stories")
struct SecurityStoryTests {
    static let stories = StoryFolder(of: "security", in: "Tests/SecurityCommandTests/Stories")

    @Test("Every story goes as it is told", arguments: stories.names)
    func storyGoesAsTold(name: String) throws {
        let home = try TestHome()
        try home.writeSamples()
        try Self.stories.story(name).run(as: name, in: home, code: { $0 }) { step, terminal in
            let input = try step.input.map { String(decoding: try home.folder.read("work/" + $0), as: UTF8.self) }
            return home.run(step.words, terminal: terminal, input: input ?? "")
        }
    }

    @Test("There is a story for every command, and each has a run that fails")
    func everyCommandHasAStory() throws {
        let steps = try Self.stories.steps()
        for command in Command.all {
            let runs = steps.filter { $0.words.contains(command.name) }
            #expect(runs.contains { $0.status == 0 }, "no story runs '\(command.name)'")
            #expect(runs.contains { $0.status != 0 }, "no story runs '\(command.name)' into a failure")
        }
    }
}
