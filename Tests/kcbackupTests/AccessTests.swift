import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Items that ask for the passcode each time")
struct AccessTests {
    private let home: TestHome
    private let passcode = "orbit lantern velvet"

    init() throws {
        home = try TestHome()
        try home.write("passcode", "orbit lantern velvet\n")
        try home.write("other", "maple\n")
        try home.write("secret", "s3cret\n")
        try home.write("plain", "plain\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        #expect(home.run("item add --service plain --secret file:plain").status == .ok)
        #expect(home.run("item add --service bank --access user-presence --secret file:secret").status == .ok)
    }

    private func asking(_ line: String) -> (TestHome.Outcome, ScriptedTerminal) {
        let terminal = ScriptedTerminal(answers: [passcode], showsMessages: true)
        return (home.run(line.split(separator: " ").map(String.init), terminal: terminal), terminal)
    }

    @Test("While the keychain is unlocked, each reading command asks, and other items are read without a question")
    func find() {
        for _ in 1...2 {
            let (found, terminal) = asking("item find --service bank --reveal")
            #expect(found.text == "s3cret", "\(found.messages)")
            #expect(terminal.unasked == 0)
            #expect(found.messages.contains("the passcode is needed for items that ask for it each time"))
        }
        #expect(home.run("item find --service plain --reveal").text == "plain")
        let unattended = home.run("item find --service bank --reveal")
        #expect(unattended.status == .locked && unattended.text == "")
        #expect(unattended.messages.contains("has items that ask for the passcode each time"))
        #expect(home.run("item find --service bank --reveal --passcode file:passcode").text == "s3cret")
        #expect(home.run("item find --service bank --reveal --passcode file:other").status == .wrongKey)
        let (several, terminal) = asking("item find --group kcbackup --reveal --json")
        #expect(several.text.contains("s3cret") && several.text.contains("plain"))
        #expect(terminal.asked.count == 1)
    }

    @Test("Lists, searches and checks need no passcode")
    func attributes() {
        for line in ["item list", "item find --service bank", "item list --access user-presence --json", "doctor"] {
            let terminal = ScriptedTerminal(answers: [])
            let outcome = home.run(line.split(separator: " ").map(String.init), terminal: terminal)
            #expect(!outcome.messages.contains("passcode") || line == "doctor", "\(outcome.messages)")
            #expect(terminal.asked.isEmpty)
        }
        #expect(home.run("item list --access device-passcode --json").text.contains("\"items\":[]"))
    }

    @Test("A change asks, and taking the condition away is said")
    func update() {
        #expect(home.run("item update --service bank --set label=Bank").status == .locked)
        let (changed, _) = asking("item update --service bank --set label=Bank")
        #expect(changed.status == .ok)
        let (lifted, _) = asking("item update --service bank --remove access")
        #expect(lifted.messages.contains("warning: 1 item can be read from now on while the keychain is unlocked"))
        #expect(home.run("item find --service bank --reveal").text == "s3cret")
        #expect(home.run("undo --yes").status == .ok)
        #expect(home.run("item find --service bank --reveal").status == .locked)
        #expect(asking("item find --service bank --reveal").0.text == "s3cret")
    }

    @Test("A backup asks, a restore keeps the condition, and a keychain without a passcode does not take the item")
    func backup() throws {
        try home.write("phrase", "a phrase for the archive\n")
        #expect(home.run("create a.kcb --passphrase file:phrase").status == .locked)
        let (created, _) = asking("create a.kcb --passphrase file:phrase")
        #expect(created.status == .ok, "\(created.messages)")
        #expect(home.run("verify a.kcb --passphrase file:phrase --drill").status == .ok)
        let restored = home.run("restore a.kcb --keychain new --passcode file:other --passphrase file:phrase")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(home.run("keychain unlock --keychain new --passcode file:other").status == .ok)
        #expect(home.run("item find --keychain new --service plain --reveal").text == "plain")
        #expect(home.run("item find --keychain new --service bank --reveal").status == .locked)
        #expect(
            home.run("item find --keychain new --service bank --reveal --passcode file:other").text == "s3cret")
        let again = home.run("restore a.kcb --keychain new --passcode file:other --passphrase file:phrase --json")
        #expect(again.text.contains("\"same\":2"), "\(again.text)")
        #expect(home.run("keychain create --keychain open --no-passcode").status == .ok)
        let without = home.run("restore a.kcb --keychain open --passphrase file:phrase")
        #expect(without.status == .incomplete, "\(without.messages)")
        #expect(without.messages.contains("bank"))
        #expect(home.run("item find --keychain open --service bank").status == .notFound)
        let (same, _) = asking("diff a.kcb --passphrase file:phrase")
        #expect(same.status == .ok, "\(same.messages)")
    }

    @Test("An unencrypted archive carries it as it is stored, and restores it without a question")
    func unencrypted() {
        #expect(home.run("create a.kcb --unencrypted").status == .ok)
        #expect(home.run("item delete --service bank --yes").status == .ok)
        let restored = home.run("restore a.kcb")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(home.run("item find --service bank --reveal").status == .locked)
        #expect(asking("item find --service bank --reveal").0.text == "s3cret")
        // After a new passcode, the keys of the archive are opened by those of now, which takes the passcode.
        #expect(
            home.run("keychain set-passcode --passcode file:passcode --new-passcode file:other").status == .ok)
        #expect(home.run("item delete --service bank --yes").status == .ok)
        let later = home.run("restore a.kcb --passcode file:other")
        #expect(later.status == .ok, "\(later.messages)")
        #expect(home.run("item find --service bank --reveal --passcode file:other").text == "s3cret")
    }

    @Test("An escrow key backs it up with nobody there")
    func escrow() throws {
        try home.write("phrase", "a phrase for the archive\n")
        #expect(home.run("keychain escrow enable -o key --passcode file:passcode").status == .ok)
        #expect(home.run("keychain lock").status == .ok)
        let created = home.run("create a.kcb --passphrase file:phrase --escrow key")
        #expect(created.status == .ok, "\(created.messages)")
        let restored = home.run("restore a.kcb --keychain new --passcode file:other --passphrase file:phrase")
        #expect(restored.status == .ok)
        #expect(
            home.run("item find --keychain new --service bank --reveal --passcode file:other").text == "s3cret")
    }

    @Test("The passcode is not removed while an item asks for it")
    func removal() {
        let refused = home.run("keychain set-passcode --passcode file:passcode --no-passcode --yes")
        #expect(refused.status == .refused)
        #expect(refused.messages.contains("1 item of keychain 'login' asks for the passcode each time"))
        #expect(home.run("item find --service plain --reveal").text == "plain")
        #expect(asking("item find --service bank --reveal").0.text == "s3cret")
    }

    @Test("Setting the condition removes earlier states, in which the secret could be read")
    func earlierStates() throws {
        #expect(home.run("item add --service card --secret file:secret").status == .ok)
        let set = home.run(
            ["item", "update", "--service", "card", "--set", "access=user-presence"],
            terminal: ScriptedTerminal(answers: [], showsMessages: true))
        #expect(set.messages.contains("removed: the secret could be read there without the passcode"))
        #expect(home.run("undo --yes").status != .ok)
        #expect(home.run("item find --service card --reveal").status == .locked)
    }

    @Test("A keychain without a passcode loses nothing for an item that it cannot take")
    func replaceWithoutPasscode() throws {
        try home.write("phrase", "a phrase for the archive\n")
        #expect(home.run("create a.kcb --passphrase file:phrase --passcode file:passcode").status == .ok)
        #expect(home.run("keychain create --keychain open --no-passcode").status == .ok)
        #expect(home.run("item add --keychain open --service bank --secret file:plain").status == .ok)
        let replacing = "restore a.kcb --keychain open --passphrase file:phrase --replace --yes"
        #expect(home.run(replacing).status == .refused)
        #expect(home.run("restore a.kcb --keychain open --passphrase file:phrase --require-all").status == .refused)
        #expect(home.run("item find --keychain open --service bank --reveal").text == "plain")
        #expect(home.run("item find --keychain open --service plain").status == .notFound)
    }

    @Test("A restore that takes the condition away says so")
    func lifted() {
        #expect(home.run("item update --service bank --remove access --passcode file:passcode").status == .ok)
        #expect(home.run("create a.kcb --unencrypted").status == .ok)
        #expect(home.run("item update --service bank --set access=user-presence").status == .ok)
        let restored = home.run("restore a.kcb --on-conflict overwrite")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(restored.messages.contains("warning: 1 item can be read from now on while the keychain is unlocked"))
    }

    @Test("Commands that need no secret of such an item run with nobody there")
    func unattended() throws {
        try home.write("phrase", "a phrase for the archive\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"new"},"secret":"n"}"# + "\n")
        #expect(home.run("import items.jsonl").status == .ok)
        try home.write(
            "asking.jsonl",
            #"{"class":"genp","attributes":{"svce":"card","accc":"user-presence"},"secret":"first"}"# + "\n")
        #expect(home.run("import asking.jsonl").status == .ok)
        try home.write(
            "asking.jsonl",
            #"{"class":"genp","attributes":{"svce":"card","accc":"user-presence"},"secret":"other"}"# + "\n")
        for policy in ["newer", "fail"] {
            let imported = home.run("import asking.jsonl --on-conflict \(policy) --json")
            #expect(imported.status == .ok, "\(imported.messages)")
            #expect(asking("item find --service card --reveal").0.text == "first")
        }
        #expect(home.run("item delete --service card --yes").status == .ok)
        #expect(home.run("create a.kcb --passphrase file:phrase --passcode file:passcode").status == .ok)
        let dry = home.run("restore a.kcb --passphrase file:phrase --dry-run")
        #expect(dry.status == .ok, "\(dry.messages)")
        let again = home.run("restore a.kcb --passphrase file:phrase --json")
        #expect(again.status == .ok && again.text.contains("\"same\":2"), "\(again.text)")
        #expect(again.text.contains("\"keep\":1"), "\(again.text)")
        #expect(asking("item find --service bank --reveal").0.text == "s3cret")
        #expect(home.run("export plain --to csv --plaintext -o plain.csv").status == .ok)
        #expect(home.run("export bank --to csv --plaintext -o bank.csv").status == .locked)
        let exported = home.run("export bank --to csv --plaintext -o bank.csv --passcode file:passcode")
        #expect(exported.status == .ok)
        #expect(exported.messages.contains("1 item asked for the passcode each time, which no other program does"))
    }

    @Test(
        "A condition that means nothing is refused",
        arguments: [
            "item add --service x --access face --secret file:secret",
            "item add --service x --access user-presence --synchronizable --secret file:secret",
            "item add --class cert --label x --access user-presence --secret-file secret",
            "item update --service plain --set access=never",
        ])
    func meaningless(line: String) {
        let outcome = home.run(line)
        #expect(outcome.status == .usage, "\(outcome.messages)")
        #expect(home.run("item find --service x").status == .notFound)
    }
}
