import Foundation
import KCConsole
import KCKeychainModel
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Failures")
struct FailureTests {
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
        #expect(CommandLineTool.program.run(["keychain", "info"], in: world) == .io)
        #expect(CommandLineTool.program.run(["keychain", "info", "--json"], in: world) == .io)
        #expect(CommandLineTool.program.run(["--help"], in: world) == .io)
        world.output = FailingOutput(code: 32)
        #expect(CommandLineTool.program.run(["keychain", "info"], in: world) == .brokenPipe)
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
        #expect(CommandLineTool.program.run(["import", "logins.csv", "--json"], in: world) == .io)
        #expect(messages.text.contains("error: imported into keychain 'login': 1 created, but standard output"))
        #expect(messages.text.contains("still holds the secrets"))
        #expect(home.run("item find --account ada --reveal").text == "one")
        // A dry run has nothing to report.
        #expect(CommandLineTool.program.run(["import", "logins.csv", "--dry-run"], in: world) == .io)
        #expect(!messages.text.contains("would import into"))
    }

    @Test("A clock that lost its time causes a warning, but no failure")
    func clockIsWarnedOf() throws {
        let home = try TestHome()
        var world = home.world()
        let messages = CollectedOutput()
        world.messages = messages
        world.machine.clock = { .reference }
        #expect(CommandLineTool.program.run(["keychain", "create", "--no-passcode"], in: world) == .ok)
        #expect(messages.text.contains("the clock says 2001-01-01"))
        #expect(!home.run("keychain list").messages.contains("clock"))
    }
}
