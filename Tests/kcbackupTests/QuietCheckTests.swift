import Foundation
import KCAsking
import KCConsole
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Synchronization
import Testing

@testable import kcbackup

@Suite("Silence while secrets are checked")
struct QuietCheckTests {
    private static let erasing = "\r\u{1b}[2K"
    private static let passcode = "walnut lantern"
    private static let passphrase = "orbit velvet"
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", Self.passcode + "\n")
        try home.write("passphrase", Self.passphrase + "\n")
        try home.write("wrong", "guess\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("create a.kcb --passphrase file:passphrase --passcode file:passcode").status == .ok)
        #expect(home.run("create here.kcb --unencrypted").status == .ok)
        #expect(home.run("item add --service a --account b --secret file:wrong --passcode file:passcode").status == .ok)
    }

    /// The record of a run while it checked secrets.
    private struct Run {
        let outcome: TestHome.Outcome
        /// For each check, whether what is typed was shown.
        let checks: [Bool]
        let delays: [Duration]
    }

    /// Runs a command in which every check takes longer than the patience of the user.
    private func run(_ line: String, _ terminal: ScriptedTerminal) -> Run {
        let checks = Mutex<[Bool]>([])
        let delays = Mutex<[Duration]>([])
        let outcome = TestHome.Outcome(at: terminal) { output, messages in
            var world = home.world(terminal)
            (world.output, world.messages) = (output, messages)
            world.later = { delay, work in
                delays.withLock { $0.append(delay) }
                checks.withLock { $0.append(!terminal.isQuiet) }
                work()
                return {}
            }
            return CommandLineTool.program.run(line.split(separator: " ").map(String.init), in: world)
        }
        return Run(outcome: outcome, checks: checks.withLock { $0 }, delays: delays.withLock { $0 })
    }

    private func terminal(_ answers: String...) -> ScriptedTerminal {
        ScriptedTerminal(answers: answers, showsMessages: true)
    }

    @Test(
        "Nothing typed is shown while a typed secret is checked, and a message says so, which is erased",
        arguments: [
            ("keychain unlock", [passcode], 1), ("keychain unlock", ["guess", passcode], 2),
            ("verify a.kcb", [passphrase], 1), ("verify a.kcb here.kcb a.kcb", ["guess", passphrase], 2),
            ("restore a.kcb --dry-run", [passphrase, passcode], 2),
            ("create b.kcb -r \(recipient)", [passcode], 1),
            ("keychain escrow enable -o key", [passcode], 1), ("keychain token add blue", [passcode], 1),
            ("keychain set-passcode", [passcode, "x y z", "x y z"], 1),
            ("import a.kdbx --dry-run", [passphrase, passcode], 2),
        ])
    func typed(line: String, answers: [String], count: Int) {
        if line.contains("a.kdbx") {
            let export = "export --to kdbx -o a.kdbx --password file:passphrase --passcode file:passcode"
            #expect(home.run(export).status == .ok)
        }
        let terminal = ScriptedTerminal(answers: answers, showsMessages: true)
        let run = run(line, terminal)
        #expect(run.outcome.status == .ok, "\(run.outcome.messages)")
        #expect(run.checks == Array(repeating: false, count: count))
        #expect(run.delays == Array(repeating: .milliseconds(300), count: count))
        #expect(run.outcome.messages.components(separatedBy: "checking…" + Self.erasing).count - 1 == count)
        #expect(!terminal.isQuiet)
    }

    static let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

    @Test("A wrong secret leaves nothing of the message behind, and the terminal shows again what is typed")
    func wrong() {
        let terminal = terminal("a", "b", "c")
        let run = run("verify a.kcb", terminal)
        #expect(run.outcome.status == .wrongKey)
        #expect(run.checks == [false, false, false])
        #expect(run.outcome.messages.hasPrefix(String(repeating: "checking…" + Self.erasing, count: 3) + "kcbackup: "))
        #expect(!terminal.isQuiet)
    }

    @Test(
        "Keys are made of a new secret while nothing typed is shown",
        arguments: [
            ("keychain create work", ["x y z", "x y z"]),
            ("create b.kcb --passcode file:passcode", ["x y z", "x y z"]),
            ("device export -o b.age", ["x y z", "x y z"]),
            ("export --to kdbx -o b.kdbx --passcode file:passcode", ["x y z", "x y z"]),
            ("rekey a.kcb --passphrase file:passphrase --new-passphrase tty", ["x y z", "x y z"]),
        ])
    func new(line: String, answers: [String]) {
        let terminal = ScriptedTerminal(answers: answers)
        let run = run(line, terminal)
        #expect(run.outcome.status == .ok, "\(run.outcome.messages)")
        #expect(terminal.timesQuiet > 0)
        #expect(!terminal.isQuiet)
    }

    @Test(
        "The terminal is left alone if nothing is asked, even at a terminal",
        arguments: [
            "verify a.kcb --passphrase file:passphrase", "keychain unlock --passcode file:passcode",
            "create b.kcb -r \(recipient) --passcode file:passcode", "keychain create scripts --no-passcode",
            "keychain create work --passcode file:passcode",
            "keychain set-passcode --passcode file:passcode --new-passcode file:passphrase --yes",
        ])
    func notTyped(line: String) {
        let terminal = terminal()
        #expect(run(line, terminal).outcome.status == .ok)
        #expect(terminal.timesQuiet == 0)
    }

    @Test("The message appears on a terminal alone, and neither with --quiet nor with --json")
    func unwanted() {
        for (line, shows) in [("", false), (" --quiet", true), (" --json", true)] {
            let run = run("verify a.kcb" + line, ScriptedTerminal(answers: [Self.passphrase], showsMessages: shows))
            #expect(run.outcome.status == .ok)
            #expect(run.delays == [])
            #expect(!run.outcome.messages.contains("checking"))
        }
    }

    @Test("Whatever is written or asked during a check erases the message first")
    func erased() throws {
        let messages = CollectedOutput()
        var world = home.world(terminal("y"))
        world.messages = messages
        world.later = { _, work in
            work()
            return {}
        }
        let session = Session(world, OutputStyle())
        let asking = session.context.asking
        asking.checking { session.warn("x") }
        asking.checking { session.draw("50%") }
        try asking.checking { try session.write("result".utf8.span) }
        #expect(try asking.checking { try session.world.terminal.confirms("Go on?") })
        session.draw("|")
        let notice = "checking…" + Self.erasing
        #expect(
            messages.text == notice + "kcbackup: warning: x\n" + notice + "50%" + notice + notice + "|")
    }
}
