import KCAsking
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Secrets named on the command line, or typed")
struct SecretOptionTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
    }

    @Test("A new secret that is no text is warned of")
    func noText() throws {
        try home.write("secret", [0x61, 0xe9, 0x0a])
        let outcome = home.run("keychain create work --passcode file:secret")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: the passcode of keychain 'work' is not UTF-8 text"))
    }

    @Test(
        "An invalid source is refused and not repeated",
        arguments: ["swordfish", "", "tty:", "file:", "fd:", "fd:-1", "fd:x", "cmd:", "cred:", "cred:../x", "env:X"])
    func unknownSourcesAreRefused(text: String) throws {
        #expect(SecretSource(text) == nil)
        let outcome = home.run(["create", "--passphrase=\(text)", "x.kcb"])
        #expect(outcome.status == .usage)
        #expect(outcome.messages.hasPrefix("kcbackup: error: the value of '--passphrase' is not a source\n"))
        #expect(!outcome.messages.contains("swordfish"))
    }

    @Test("A secret that has to be typed is asked for by its name, with what was wrong before")
    func prompts() throws {
        let terminal = ScriptedTerminal(answers: ["a", "b", "", "a", "a"], width: 200)
        let asking = Session(home.world(terminal), OutputStyle()).context.asking
        let wrong = WrongAnswer(.passcode, triesLeft: 1, doubt: .composed)
        _ = try asking.secret(.passcode(keychain: "login"), after: nil)
        _ = try asking.secret(.passcode(keychain: "login"), after: wrong)
        _ = try asking.newSecret(.passphraseOfNewArchive, differed: 0)
        _ = try asking.newSecret(.passcode(keychain: "login"), differed: 1)
        _ = try asking.newSecretAgain()
        let doubt =
            "(the passcode has accented letters (NFC); was it set where they are spelled as letter and mark (NFD)?)"
        #expect(
            terminal.asked == [
                "Enter the passcode of keychain 'login': ",
                "Wrong passcode; 1 more try.\n\(doubt)\nEnter the passcode of keychain 'login': ",
                "Enter the new passphrase of the archive (empty to generate one): ",
                "They differ; try again.\nEnter the new passcode of keychain 'login' (empty for none): ",
                "Enter it again: ",
            ])
    }

    @Test("The end of the input at a prompt is an answer that is missing, and no refusal by a rule")
    func endOfInput() {
        let outcome = home.run(["keychain", "create", "work"], terminal: ScriptedTerminal(answers: []))
        #expect(outcome.status == .usage)
        #expect(outcome.messages.contains("the input of the terminal ended before a line was typed"))
        #expect(home.run("keychain info --keychain work").status == .notFound)
    }
}
