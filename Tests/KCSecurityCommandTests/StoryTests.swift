import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Stories of the security command")
struct SecurityStoryTests {
    static let stories = StoryFolder(of: "security", in: "Tests/KCSecurityCommandTests/Stories")

    @Test("Every run matches its story", arguments: stories.names)
    func storyGoesAsTold(name: String) throws {
        let home = try TestHome()
        try home.writeSamples()
        try Self.stories.story(name).run(as: name, in: home, code: { $0 }) { step, terminal in
            let input = try step.input.map { String(decoding: try home.folder.read("work/" + $0), as: UTF8.self) }
            return home.run(step.words, terminal: terminal, input: input ?? "")
        }
    }

    @Test("Every command has a story with a run that succeeds and one that fails")
    func everyCommandHasAStory() throws {
        let steps = try Self.stories.steps()
        for command in Command.all {
            let runs = steps.filter { $0.words.contains(command.name) }
            #expect(runs.contains { $0.status == 0 }, "no story runs '\(command.name)'")
            #expect(runs.contains { $0.status != 0 }, "no story runs '\(command.name)' into a failure")
        }
    }
}
