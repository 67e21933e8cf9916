import ArgumentParser
import TestSupport
import Testing

@testable import kcbackup

@Suite("What commands say and how they end, in stories")
struct StoryTests {
    static let stories = StoryFolder(of: "kcbackup", in: "Tests/kcbackupTests/Stories")

    @Test("Every story goes as it is told", arguments: stories.names)
    func storyGoesAsTold(name: String) throws {
        let home = try TestHome()
        try Self.stories.story(name).run(as: name, in: home, code: \.code) { step, terminal in
            home.run(step.words, terminal: terminal)
        }
    }

    @Test("There is a story for every verb but the four that have tests of their own")
    func everyVerbHasAStory() throws {
        let told = try Self.stories.steps().map(\.words)
        for path in verbPaths() where path.count > 1 || path == ["keygen"] {
            #expect(told.contains { $0.starts(with: path) }, "no story runs 'kcbackup \(path.joined(separator: " "))'")
        }
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
