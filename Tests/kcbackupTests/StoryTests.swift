import ArgumentParser
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Stories of kcbackup")
struct StoryTests {
    static let stories = StoryFolder(of: "kcbackup", in: "Tests/kcbackupTests/Stories")

    @Test("Every run matches its story", arguments: stories.names)
    func storyGoesAsTold(name: String) throws {
        let home = try TestHome()
        try Self.stories.story(name).run(as: name, in: home, code: \.code) { step, terminal in
            home.run(step.words, terminal: terminal)
        }
    }

    @Test("Every verb of a group, and keygen, has a story")
    func everyVerbHasAStory() throws {
        let told = try Self.stories.steps().map(\.words)
        for path in verbPaths() where path.count > 1 || path == ["keygen"] {
            #expect(told.contains { $0.starts(with: path) }, "no story runs 'kcbackup \(path.joined(separator: " "))'")
        }
    }
}

/// The words that name each verb of the program.
func verbPaths(below command: any ParsableCommand.Type = CommandLineTool.self) -> [[String]] {
    let configuration = command.configuration
    let children = configuration.subcommands
    if children.isEmpty { return [[]] }
    return children.flatMap { child in
        verbPaths(below: child).map { [child.configuration.commandName ?? "\(child)"] + $0 }
    }
}
