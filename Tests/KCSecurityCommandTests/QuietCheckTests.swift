import KCConsole
import KCTestSupport
import Synchronization
import Testing

@testable import KCSecurityCommand

@Suite("Silence while passwords are checked")
struct QuietCheckTests {
    private static let notice = "checking…\r\u{1b}[2K"
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("create-keychain -p walnut login").status == 0)
        #expect(home.run("add-generic-password -a me -s s -w hidden").status == 0)
        #expect(home.run("lock-keychain").status == 0)
    }

    /// Runs a command in which every check takes longer than the patience of the user.
    ///
    /// - Returns: its status and messages and, for each check, whether what is typed was shown.
    private func run(_ line: String, _ terminal: ScriptedTerminal) -> (status: Int32, messages: String, shown: [Bool]) {
        let shown = Mutex<[Bool]>([])
        let outcome = TestHome.Outcome(at: terminal) { output, messages in
            var world = home.world(terminal)
            (world.output, world.messages) = (output, messages)
            world.later = { _, work in
                shown.withLock { $0.append(!terminal.isQuiet) }
                work()
                return {}
            }
            return KCSecurityCommand.run(line.split(separator: " ").map(String.init), in: world).code
        }
        return (outcome.status, outcome.messages, shown.withLock { $0 })
    }

    @Test(
        "Nothing typed is shown while a typed password is checked, and a message says so, which is erased",
        arguments: [
            ("unlock-keychain", ["walnut"], 0), ("unlock-keychain", ["wrong"], 51),
            ("find-generic-password -wa me", ["walnut"], 0),
            ("set-keychain-password", ["walnut", "cactus", "cactus"], 0),
        ] as [(String, [String], Int32)])
    func typed(line: String, answers: [String], status: Int32) {
        let terminal = ScriptedTerminal(answers: answers, showsMessages: true)
        let run = run(line, terminal)
        #expect(run.status == status)
        #expect(run.shown == [false])
        #expect(run.messages.hasPrefix(Self.notice))
        #expect(!terminal.isQuiet)
    }

    @Test("A keychain is made of a new password while nothing typed is shown")
    func new() {
        let terminal = ScriptedTerminal(answers: ["cactus", "cactus"])
        #expect(run("create-keychain work", terminal).status == 0)
        #expect(terminal.timesQuiet > 0)
        #expect(!terminal.isQuiet)
    }

    @Test("The terminal is left alone if nothing is asked, and -q leaves out the message")
    func unwanted() {
        let terminal = ScriptedTerminal(answers: ["walnut"], showsMessages: true)
        for line in ["unlock-keychain -p walnut", "create-keychain -p cactus work"] {
            #expect(run(line, terminal).status == 0)
            #expect(terminal.timesQuiet == 0)
        }
        let quiet = run("-q unlock-keychain", terminal)
        #expect(quiet.status == 0)
        #expect(quiet.messages == "")
    }
}
