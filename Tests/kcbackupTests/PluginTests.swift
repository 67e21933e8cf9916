import Foundation
import Glibc
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Keys that plugins of age hold", .waitsForPrograms, .enabled(if: ScriptedPlugin.isRunnable, "python3 is needed"))
struct PluginTests {
    /// A home with a keychain of one item and the plugin.
    private struct Home {
        let home: TestHome
        let plugin: ScriptedPlugin

        init() throws {
            // A program writes to one that may have ended.
            _ = Glibc.signal(SIGPIPE, SIG_IGN)
            home = try TestHome()
            plugin = try ScriptedPlugin(in: home.home)
            try home.write("secret", "tulip\n")
            try home.write("card", "# the card\n\(ScriptedPlugin.identity())\n")
            try home.write("pin", ScriptedPlugin.identity(1, "pin") + "\n")
            try home.write("lister", ScriptedPlugin.identity(2) + "\n")
            #expect(home.run("keychain create --no-passcode").status == .ok)
            #expect(home.run("item add --service forum --account ada --secret file:secret").status == .ok)
        }

        /// The kinds of the runs of the plugin since the last call.
        func runs(_ line: String, _ terminal: ScriptedTerminal = ScriptedTerminal()) throws -> (
            TestHome.Outcome, [String]
        ) {
            let before = try plugin.runs().count
            let outcome = home.run(line.split(separator: " ").map(String.init), terminal: terminal)
            return (outcome, try plugin.runs().dropFirst(before).map(\.machine))
        }
    }

    private static let recipient = ScriptedPlugin.recipient()

    @Test("An archive is made, listed, verified, compared, searched and restored with one run of the plugin each")
    func wholeRound() throws {
        let home = try Home()
        let (created, wrapped) = try home.runs("create a.kcb -r \(Self.recipient) -v")
        #expect(created.status == .ok, "\(created.messages)")
        #expect(created.messages.contains("only a plugin opens the archive"))
        #expect(wrapped == ["recipient-v1"])
        for line in [
            "inspect a.kcb -i card", "verify a.kcb -i card", "diff a.kcb -i card --keychain login",
            "item find --service forum --in a.kcb -i card",
            "restore a.kcb -i card --keychain new --passcode file:secret",
            "export --archive a.kcb -i card --to cxf --plaintext -o out.json",
        ] {
            let (outcome, runs) = try home.runs(line)
            #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
            #expect(runs == ["identity-v1"], "\(line)")
        }
        let (found, _) = try home.runs("item find --keychain new --service forum --reveal --passcode file:secret")
        #expect(found.text.contains("tulip"))
        let (without, none) = try home.runs("inspect a.kcb")
        #expect(without.status == .ok && none == [])
    }

    @Test("A PIN is asked for once for an archive, on the terminal; without one, the run is refused with a hint")
    func pin() throws {
        let home = try Home()
        _ = try home.runs("create a.kcb -r \(Self.recipient)")
        let terminal = ScriptedTerminal(answers: ["1234"])
        let (opened, runs) = try home.runs("verify a.kcb -i pin", terminal)
        #expect(opened.status == .ok && runs == ["identity-v1"], "\(opened.messages)")
        #expect(terminal.asked == ["age-plugin-scripted: Enter the PIN of card 7: "])
        let (wrong, _) = try home.runs("verify a.kcb -i pin", ScriptedTerminal(answers: ["1111"]))
        #expect(wrong.status == .locked && wrong.messages.contains("failed: 'wrong PIN'"))
        let (unattended, _) = try home.runs("verify a.kcb -i pin")
        #expect(unattended.status == .locked)
        #expect(unattended.messages.contains("asks for something, and there is no terminal"))
        #expect(unattended.messages.contains("kcbackup: hint: run the command at a terminal"))
    }

    @Test("What a plugin shows is below its name and cannot control the terminal")
    func prompts() throws {
        let home = try Home()
        _ = try home.runs("create a.kcb -r \(Self.recipient)")
        try home.home.write("talkative", ScriptedPlugin.identity(1, "all") + "\n")
        let terminal = ScriptedTerminal(answers: ["9c", "maybe", "y", ""])
        let (opened, _) = try home.runs("verify a.kcb -i talkative", terminal)
        #expect(opened.status == .ok, "\(opened.messages)")
        #expect(
            terminal.asked == [
                "age-plugin-scripted: insert \\u{1b}[2Jthe card\n  kcbackup: error: none\n",
                "age-plugin-scripted: Name of the slot: ",
                "age-plugin-scripted: Use slot 9c?\n  y: Go on\n  n: Stop\n[y/n] ",
                "age-plugin-scripted: Use slot 9c?\n  y: Go on\n  n: Stop\n[y/n] ",
                "age-plugin-scripted: Touch it\n  Enter: I did ",
            ])
    }

    @Test("A plugin's key can be the one that only lists items, and rekeying moves an archive to a plugin and back")
    func rekeying() throws {
        let home = try Home()
        let lister = ScriptedPlugin.recipient(2)
        let (created, wrapped) = try home.runs("create a.kcb -r \(Self.recipient) --inspect-recipient \(lister)")
        #expect(created.status == .ok, "\(created.messages)")
        #expect(wrapped == ["recipient-v1", "recipient-v1"])
        let (listed, listing) = try home.runs("inspect a.kcb -i lister")
        #expect(listed.status == .ok && listed.text.contains("forum") && listing == ["identity-v1"])
        #expect(try home.runs("restore a.kcb -i lister").0.status == .wrongKey)
        #expect(try home.runs("keygen -o other").0.status == .ok)
        let key = String(decoding: try home.home.folder.read("work/other"), as: UTF8.self)
        let native = try #require(key.firstMatch(of: /public key: (age1\w+)/)).1
        let (rekeyed, runs) = try home.runs("rekey a.kcb -i card -r \(native)")
        #expect(rekeyed.status == .ok && runs == ["identity-v1"], "\(rekeyed.messages)")
        let (back, more) = try home.runs("rekey a.kcb -i other -r \(lister)")
        #expect(back.status == .ok && more == ["recipient-v1"], "\(back.messages)")
        #expect(try home.runs("verify a.kcb -i lister").0.status == .ok)
        #expect(try home.runs("verify a.kcb -i card").0.status == .wrongKey)
        let json = try home.runs("inspect a.kcb --json").0.text
        #expect(json.contains(#""recipients":{"metadata":["scripted"],"secrets":["scripted"]}"#), "\(json)")
    }

    @Test("A folder says which of its archives a plugin's key opens, and a job makes backups for one without a user")
    func folders() throws {
        let home = try Home()
        let (created, _) = try home.runs("create --to backups -r \(Self.recipient)")
        #expect(created.status == .ok, "\(created.messages)")
        let (known, none) = try home.runs("list backups --keys")
        #expect(known.text.contains(Self.recipient) && none == [])
        let (tried, runs) = try home.runs("list backups --keys -i card")
        #expect(tried.text.contains("card") && runs == ["identity-v1"])
        let (again, _) = try home.runs("create --to backups -r \(Self.recipient)")
        #expect(again.status == .ok, "\(again.messages)")
    }

    @Test("A plugin that is missing, fails, or must not be combined with other keys ends a backup")
    func failures() throws {
        let home = try Home()
        let other = Self.recipient.replacing("1scripted1", with: "1absent1")
        #expect(try home.runs("create a.kcb -r \(other)").0.status == .usage)
        let absent = try home.runs("create a.kcb -r \(ScriptedPlugin.absentRecipient)").0
        #expect(absent.status == .notFound && absent.messages.contains("'age-plugin-absent' is not installed"))
        let wrong = try home.runs("create a.kcb -r \(ScriptedPlugin.recipient(1, "none"))").0
        #expect(wrong.status == .refused && wrong.messages.contains("does not follow the protocol"))
        let mixed = ["create", "a.kcb", "-r", ScriptedPlugin.recipient(1, "labels"), "--passphrase", "file:secret"]
        #expect(home.home.run(mixed).status == .usage)
        #expect(try home.runs("create a.kcb -r \(ScriptedPlugin.recipient(1, "early"))").0.status == .io)
        #expect(try !home.home.folder.list().contains { $0.hasSuffix("a.kcb") || $0.hasSuffix(".tmp") })
        #expect(home.home.run(["create", "a.kcb", "-r", Self.recipient]).status == .ok)
        try FileManager.default.setAttributes([.posixPermissions: 0o757], ofItemAtPath: home.plugin.path)
        let unsafe = try home.runs("verify a.kcb -i card").0
        #expect(unsafe.status == .refused && unsafe.messages.contains("others can change"))
        try FileManager.default.removeItem(atPath: home.plugin.path)
        let missing = try home.runs("verify a.kcb -i card").0
        #expect(missing.status == .notFound && missing.messages.contains("'age-plugin-scripted' is not installed"))
    }

    @Test(
        "age opens the streams of an archive, and exports, with the same plugin, and we open what it encrypts",
        .enabled(if: ExternalProgram.locate("age") != nil, "age is not installed"))
    func age() throws {
        let home = try Home()
        let environment = ["PATH": "\(home.home.home)/.local/bin:/usr/bin:/bin", "HOME": home.home.home]
        func run(_ words: String...) throws -> ExternalProgram.Outcome {
            let outcome = try ExternalProgram.run(
                words[0], Array(words.dropFirst()), environment: environment, in: home.home.workingFolder)
            #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
            return outcome
        }
        #expect(try home.runs("create a.kcb -r \(Self.recipient)").0.status == .ok)
        _ = try run("tar", "xf", "a.kcb")
        let secrets = try run("sh", "-c", "age -d -i card secrets.jsonl.gz.age | zcat")
        #expect(secrets.text.contains("dHVsaXA="))
        #expect(try home.runs("export --to cxf -r \(Self.recipient) -o ours.age").0.status == .ok)
        #expect(try run("age", "-d", "-i", "card", "ours.age").text.contains("tulip"))
        try home.home.write("store/.age-recipients", Self.recipient + "\n")
        for name in ["forum", "bank"] {
            _ = try run("age", "-r", Self.recipient, "-o", "store/\(name).age", "secret")
        }
        let (imported, runs) = try home.runs("import store --key-file card")
        #expect(imported.status == .ok && runs == ["identity-v1"], "\(imported.messages)")
        #expect(try home.runs("item list").0.text.contains("bank"))
    }
}
