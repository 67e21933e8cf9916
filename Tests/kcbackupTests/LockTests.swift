import Foundation
import KCKernelKeyring
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Locking of keychains on the command line")
struct LockTests {
    fileprivate let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "orbit lantern velvet\n")
        try home.write("wrong", "guess\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"s"}"# + "\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("import items.jsonl --passcode file:passcode").status == .ok)
    }

    @Test("If the kernel keeps no keys, each command asks for the passcode, and info says why")
    func refusal() {
        home.retention.fail("*", .refused(1))
        let status = home.run("keychain info")
        #expect(status.status == .ok)
        #expect(status.text.contains("nothing between commands: this process may not use the kernel's key service"))
        let unlock = home.run("keychain unlock --passcode file:passcode")
        #expect(unlock.status == .locked)
        #expect(unlock.messages.contains("give '--passcode SOURCE' to each command"))
        for _ in 1...2 {
            let terminal = ScriptedTerminal(answers: ["orbit lantern velvet"])
            let outcome = home.run(["item", "find", "--service", "a", "--reveal"], terminal: terminal)
            #expect(outcome.text == "s", "\(outcome.messages)")
            #expect(terminal.unasked == 0)
        }
    }

    @Test("After five wrong passcodes in a row, everything that was unlocked is locked")
    func fiveWrongPasscodes() {
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        #expect(home.run("item find --service a --reveal").text == "s")
        for _ in 1...5 {
            #expect(home.run("item find --service a --reveal --passcode file:wrong").status != .ok)
        }
        #expect(home.retention.parts.isEmpty)
        #expect(home.run("item find --service a --reveal").status == .locked)
    }

    @Test("A deleted keychain leaves no keys in the kernel, and a failure to remove them is reported")
    func deletion() throws {
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        #expect(home.retention.parts == ["unlocked", "first-unlock"])
        #expect(home.run("keychain delete --confirm login").status == .ok)
        #expect(home.retention.parts.isEmpty)
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        // EIO
        home.retention.fail("revoke", .system(5, doing: "destroying keys"))
        let outcome = home.run("keychain delete --confirm login")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: its keys may stay in the memory of the kernel until they expire"))
    }

    @Test("If the kernel keeps no keys, a keychain is deleted without a message about keys")
    func deletionWithoutKernel() {
        home.retention.fail("*", .refused(1))
        let outcome = home.run("keychain delete --confirm login")
        #expect(outcome.status == .ok)
        #expect(outcome.messages == "")
    }

    @Test("Sleep of the machine locks a keychain unless its settings say otherwise")
    func sleep() {
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        home.sleep()
        #expect(home.run("item find --service a --reveal").status == .locked)
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        #expect(home.run("keychain set-settings --no-lock-on-suspend").status == .ok)
        home.sleep()
        #expect(home.run("item find --service a --reveal").text == "s")
    }

    @Test("Changing the passcode leaves an unlocked keychain unlocked and a locked one locked")
    func changeOfPasscode() throws {
        try home.write("new", "harbor cactus fiddle\n")
        #expect(home.run("keychain set-passcode --passcode file:passcode --new-passcode file:new").status == .ok)
        #expect(home.run("item find --service a --reveal").status == .locked)
        #expect(home.run("keychain unlock --passcode file:new").status == .ok)
        #expect(home.run("keychain set-passcode --passcode file:new --new-passcode file:passcode").status == .ok)
        #expect(home.run("item find --service a --reveal").text == "s")
    }

    @Test("A weak passcode is accepted with a warning, and a good one is suggested on request")
    func strength() throws {
        try home.write("weak", "password\n")
        let weak = home.run("keychain create second --passcode file:weak")
        #expect(weak.status == .ok)
        #expect(weak.messages.contains("warning: passcode strength 0 of 4: it is made of common words or passwords"))
        let strong = home.run("keychain create third --passcode file:passcode")
        #expect(!strong.messages.contains("strength"))
        let terminal = ScriptedTerminal(answers: ["orbit lantern velvet", "orbit lantern velvet"])
        #expect(home.run(["keychain", "create", "fourth", "--suggest"], terminal: terminal).status == .ok)
        #expect(terminal.asked.first?.contains(/: [0-9a-z]{4}(-[0-9a-z]{4}){3}\n/) == true)
        #expect(home.run("keychain create fifth --suggest").status == .usage)
    }
}

extension LockTests {
    @Test("The warning about a weak passphrase comes before it is typed again, and a generated one is not rated")
    func passphraseStrength() throws {
        let weak = "warning: passphrase strength 0 of 4: "
        try home.write("weak", "password\n")
        let unattended = home.run("create a.kcb --passphrase file:weak --passcode file:passcode")
        #expect(unattended.status == .ok)
        #expect(unattended.messages.contains(weak))
        #expect(unattended.messages.split(separator: "\n").count == 1)

        // The passphrase is not typed again, but the warning has been printed by then.
        let terminal = ScriptedTerminal(answers: ["1"])
        let typed = home.run(
            "create b.kcb --passcode file:passcode".split(separator: " ").map(String.init), terminal: terminal)
        #expect(typed.status == .usage)
        #expect(typed.messages.contains(weak))

        let empty = ScriptedTerminal(answers: [""])
        let madeUp = home.run(
            "create c.kcb --passcode file:passcode".split(separator: " ").map(String.init), terminal: empty)
        #expect(madeUp.status == .ok)
        #expect(!madeUp.messages.contains("strength"))

        let strong = home.run("create d.kcb --passphrase file:passcode --passcode file:passcode")
        #expect(strong.status == .ok)
        #expect(strong.messages == "")
    }

    @Test("The warning about a weak passcode comes before it is typed again")
    func passcodeIsJudgedFirst() {
        let typed = home.run(["keychain", "create", "sixth"], terminal: ScriptedTerminal(answers: ["password"]))
        #expect(typed.status == .usage)
        #expect(typed.messages.contains("warning: passcode strength 0 of 4: "))
    }
}
