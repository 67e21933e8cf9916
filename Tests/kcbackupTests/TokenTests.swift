import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Security tokens for items that ask each time")
struct TokenTests {
    private let home: TestHome
    private let token: SoftwareToken
    private let passcode = "orbit lantern velvet"
    private let touch = "Touch the security token 'blue'.\n"

    init() throws {
        home = try TestHome()
        token = try #require(home.tokens.first)
        try home.write("passcode", "orbit lantern velvet\n")
        try home.write("other", "maple\n")
        try home.write("secret", "s3cret\n")
        for line in [
            "keychain create --passcode file:passcode", "keychain unlock --passcode file:passcode",
            "item add --service bank --access user-presence --secret file:secret",
            "keychain token add blue --passcode file:passcode",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        #expect(token.touches == 2)
    }

    /// Runs a command line with a terminal at which the answers are typed.
    private func run(_ line: String, answers: [String] = []) -> (TestHome.Outcome, ScriptedTerminal) {
        let terminal = ScriptedTerminal(answers: answers, showsMessages: true)
        return (home.run(line.split(separator: " ").map(String.init), terminal: terminal), terminal)
    }

    private let find = "item find --service bank --reveal"

    /// Reads with the passcode, and returns the messages.
    private func readWithPasscode(_ file: String = "passcode") -> String {
        let (found, terminal) = run(find, answers: [passcode])
        #expect(found.text == "s3cret" && terminal.unasked == 0, "\(found.messages)")
        return found.messages
    }

    @Test("A touch takes the place of the passcode, for each command anew")
    func touches() throws {
        for count in 3...4 {
            let (found, terminal) = run(find)
            #expect(found.text == "s3cret", "\(found.messages)")
            #expect(terminal.asked == [touch] && found.messages == "")
            #expect(token.touches == count)
        }
        try home.write("phrase", "a phrase for the archive\n")
        for line in [
            "item update --service bank --set label=Bank", "create a.kcb --passphrase file:phrase",
            "diff a.kcb --passphrase file:phrase", "exec --with X=bank -- true",
        ] {
            let (done, terminal) = run(line)
            #expect(done.status == .ok, "\(line): \(done.messages)")
            #expect(terminal.asked == [touch])
        }
    }

    @Test("Without a terminal the token is not asked, and a passcode that is given is used")
    func unattended() {
        let commands = token.commands
        #expect(home.run(find).status == .locked)
        #expect(home.run(find + " --passcode file:passcode").text == "s3cret")
        let (found, terminal) = run(find + " --passcode file:passcode")
        #expect(found.text == "s3cret" && terminal.asked.isEmpty)
        #expect(token.commands == commands)
    }

    @Test("A locked keychain wants the passcode, and so does an item with 'device-passcode'")
    func passcodeItems() {
        #expect(home.run("item add --service safe --access device-passcode --secret file:secret").status == .ok)
        let touches = token.touches
        for line in ["item find --service safe --reveal", "item find --group kcbackup --reveal --json"] {
            let (found, terminal) = run(line, answers: [passcode])
            #expect(found.status == .ok && terminal.asked.count == 1 && terminal.unasked == 0, "\(found.messages)")
        }
        #expect(
            home.run("item add --service any --access user-presence --accessible Always --secret file:secret").status
                == .ok)
        #expect(home.run("keychain lock").status == .ok)
        let (found, terminal) = run("item find --service any --reveal", answers: [passcode])
        #expect(found.text == "s3cret" && terminal.unasked == 0, "\(found.messages)")
        #expect(home.run("keychain lock").status == .ok)
        _ = readWithPasscode()
        #expect(token.touches == touches)
    }

    @Test(
        "A token that is not touched, or gives no proof, is said to be unused, and the passcode is asked for",
        arguments: [
            (SoftwareToken.Conduct.declines, "was not touched"), (.ignores, "was not touched"),
            (.isSilent, "does not answer"), (.isGone, "does not answer"),
        ])
    func refusals(conduct: SoftwareToken.Conduct, reason: String) {
        token.conduct = conduct
        let messages = readWithPasscode()
        #expect(messages.contains("no security token is used: the security token \(reason)"), "\(messages)")
        token.conduct = .touches
        #expect(run(find).0.text == "s3cret")
    }

    @Test("A token that wants its PIN later is not used")
    func laterPIN() {
        token.pin = "1234"
        token.wantsPINAlways = true
        #expect(readWithPasscode().contains("wants its PIN"))
    }

    @Test("No token, or another one, makes no noise, and the right one among several is touched")
    func others() {
        let other = SoftwareToken()
        for tokens in [[], [other]] {
            home.tokens = tokens
            #expect(!readWithPasscode().contains("token"))
        }
        home.tokens = [other, token]
        #expect(run(find).1.asked == [touch])
        #expect(other.touches == 0)
    }

    @Test("A token that was removed opens nothing, and the passcode still does")
    func removal() {
        let removed = home.run("keychain token remove blue -v")
        #expect(removed.status == .ok && removed.messages.contains("opens nothing of keychain 'login' now"))
        let touches = token.touches
        #expect(!readWithPasscode().contains("token"))
        #expect(token.touches == touches)
        #expect(home.run("keychain token remove blue").status == .notFound)
    }

    @Test("Going back to a kept state leaves the tokens as they are")
    func undo() {
        #expect(run("item update --service bank --set label=Bank").0.status == .ok)
        #expect(home.run("keychain token add spare --passcode file:passcode").status == .ok)
        #expect(home.run("keychain token remove blue").status == .ok)
        let undone = home.run("undo --yes")
        #expect(undone.status == .ok, "\(undone.messages)")
        #expect(home.run("item find --service bank").text.contains("Bank") == false)
        let list = home.run("keychain token list").text
        #expect(list.contains("spare") && !list.contains("blue"))
        #expect(run(find).1.asked == ["Touch the security token 'spare'.\n"])
    }

    @Test("A keychain that was unlocked before a new passcode was set elsewhere is not opened by a touch alone")
    func locked() {
        let changed = home.run("keychain set-passcode --passcode file:passcode --new-passcode file:other")
        #expect(changed.status == .ok && home.run("keychain lock --until-first-unlock").status == .ok)
        let touches = token.touches
        let (found, _) = run(find, answers: ["maple"])
        #expect(found.text == "s3cret" && token.touches == touches, "\(found.messages)")
        // The typed passcode unlocked the keychain, so a touch is enough from now on.
        #expect(run(find).1.asked == [touch])
    }

    @Test("A new passcode keeps the token, and removing the passcode removes it")
    func passcodeChange() {
        let changed = home.run("keychain set-passcode --passcode file:passcode --new-passcode file:other")
        #expect(changed.status == .ok, "\(changed.messages)")
        #expect(home.run("keychain unlock --passcode file:other").status == .ok)
        #expect(run(find).0.text == "s3cret")
        #expect(home.run("item delete --service bank --yes").status == .ok)
        let open = home.run("keychain set-passcode --passcode file:other --no-passcode --yes -v")
        #expect(open.status == .ok && open.messages.contains("the records of its security tokens are gone"))
        #expect(home.run("keychain token list").text == "")
        #expect(home.run("keychain token add blue").status == .refused)
    }

    @Test("Another device key keeps the token")
    func device() throws {
        try home.write("phrase", "a phrase for the archive\n")
        #expect(home.run("device export -o first.age --passphrase file:phrase").status == .ok)
        let other = try TestHome()
        for name in ["passcode", "phrase"] { try other.write(name, try home.folder.read("work/" + name)) }
        #expect(other.run("keychain create --passcode file:passcode").status == .ok)
        #expect(other.run("device export -o key.age --passphrase file:phrase").status == .ok)
        try home.write("key.age", try other.folder.read("work/key.age"))
        let imported = home.run("device import key.age --passphrase file:phrase --passcode file:passcode --yes")
        #expect(imported.status == .ok, "\(imported.messages)")
        #expect(home.run("keychain unlock --passcode file:passcode").status == .ok)
        let (found, terminal) = run(find)
        #expect(found.text == "s3cret" && terminal.asked == [touch], "\(found.messages)")
    }

    @Test("A keychain that a restore makes from an unencrypted archive has no token")
    func archives() {
        #expect(home.run("create a.kcb --unencrypted").status == .ok)
        let restored = home.run("restore a.kcb --keychain new")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(home.run("keychain token list new").text == "")
        #expect(home.run("keychain token list").text.contains("blue"))
    }

    @Test("A token is enrolled with its PIN, if it wants that, and opens with a touch alone")
    func pin() {
        token.pin = "1234"
        let unattended = home.run("keychain token add second --passcode file:passcode")
        #expect(unattended.status == .refused && unattended.messages.contains("PIN"))
        let (wrong, _) = run("keychain token add second --passcode file:passcode", answers: ["4321"])
        #expect(wrong.status == .wrongKey && wrong.messages.contains("7 more tries"), "\(wrong.messages)")
        let (added, terminal) = run("keychain token add second --passcode file:passcode", answers: ["1234"])
        #expect(added.status == .ok, "\(added.messages)")
        #expect(terminal.asked.contains("Enter the PIN of the security token (7 tries): "))
        #expect(home.run("keychain token remove blue").status == .ok)
        #expect(run(find).1.asked == ["Touch the security token 'second'.\n"])
    }

    @Test("An enrollment that fails changes nothing, and what can be refused before a touch is")
    func refusedEnrolments() {
        let before = home.run("keychain info --json").text
        let touches = token.touches
        for (line, status) in [
            ("keychain token add blue --passcode file:passcode", ExitStatus.exists),
            ("keychain token add two --passcode file:other", .wrongKey), ("keychain token add two", .usage),
            ("keychain token add ../two --passcode file:passcode", .usage),
            ("keychain token add two --keychain none --passcode file:passcode", .notFound),
        ] { #expect(home.run(line).status == status, "\(line)") }
        home.tokens = []
        #expect(home.run("keychain token add two --passcode file:passcode").status == .notFound)
        home.tokens = [token, SoftwareToken()]
        #expect(home.run("keychain token add two --passcode file:passcode").status == .refused)
        #expect(token.touches == touches)
        home.tokens = [token]
        for conduct in [SoftwareToken.Conduct.declines, .isSilent, .isGone] {
            token.conduct = conduct
            let outcome = home.run("keychain token add two --passcode file:passcode")
            #expect(outcome.status != .ok && outcome.messages.contains("security token"), "\(outcome.messages)")
        }
        #expect(home.run("keychain info --json").text == before)
    }

    @Test("At most four tokens are enrolled, and one of them may be enrolled twice")
    func limit() {
        for name in ["two", "three", "four"] {
            #expect(home.run("keychain token add \(name) --passcode file:passcode").status == .ok)
        }
        let full = home.run("keychain token add five --passcode file:passcode")
        #expect(full.status == .limit, "\(full.messages)")
        #expect(home.run("keychain token list").text.split(separator: "\n").count == 5)
    }
}
