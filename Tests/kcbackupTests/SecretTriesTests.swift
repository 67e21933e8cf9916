import KCAsking
import KCByteStreams
import KCCryptography
import KCKeychainStore
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Wrong passphrases and passcodes")
struct SecretTriesTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("passphrase", "orbit velvet\n")
        try home.write("wrong", "guess\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("create a.kcb --passphrase file:passphrase --passcode file:passcode").status == .ok)
    }

    private func run(_ line: String, _ terminal: ScriptedTerminal) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), terminal: terminal)
    }

    @Test("A typed secret has three tries, and a passcode is asked for only after the archive is open")
    func threeTries() {
        let right = ScriptedTerminal(answers: ["a", "b", "orbit velvet", "c", "walnut lantern"])
        #expect(run("restore a.kcb", right).status == .ok)
        let passphrase = "Enter the passphrase of 'a.kcb': "
        let passcode = "Enter the passcode of keychain 'login': "
        #expect(
            right.asked == [
                passphrase, "Wrong passphrase; 2 more tries.\n" + passphrase,
                "Wrong passphrase; 1 more try.\n" + passphrase, passcode, "Wrong passcode; 2 more tries.\n" + passcode,
            ])
        let wrong = ScriptedTerminal(answers: ["a", "b", "c", "walnut lantern"])
        let outcome = run("restore a.kcb", wrong)
        #expect(outcome.status == .wrongKey)
        #expect(
            outcome.messages == """
                kcbackup: error: wrong passphrase for 'a.kcb'
                kcbackup: hint: if it is lost: 'man kcbackup', WHEN SOMETHING IS LOST, says what else opens it

                """)
        #expect(wrong.unasked == 1)
    }

    @Test("A secret from a source has one try")
    func sources() {
        let terminal = ScriptedTerminal(answers: ["orbit velvet"])
        #expect(run("verify a.kcb --passphrase file:wrong", terminal).status == .wrongKey)
        #expect(run("keychain unlock --passcode file:wrong", terminal).status == .wrongKey)
        #expect(terminal.asked.isEmpty)
        let typed = ScriptedTerminal(answers: ["x", "orbit velvet"])
        #expect(run("verify a.kcb --passphrase tty", typed).status == .ok)
    }

    @Test("No passcode is asked for if the archive does not open")
    func damagedArchive() throws {
        var bytes = try home.folder.read("work/a.kcb")
        bytes[bytes.count / 2] ^= 1
        try home.write("damaged.kcb", bytes)
        let terminal = ScriptedTerminal(answers: ["walnut lantern"])
        #expect(run("restore damaged.kcb --passphrase file:passphrase", terminal).status == .damaged)
        #expect(run("restore a.kcb --passphrase file:wrong", terminal).status == .wrongKey)
        #expect(terminal.asked.isEmpty)
    }

    @Test("Wrong passcodes are counted, and a wait is reported before another passcode is asked for")
    func waiting() {
        #expect(run("keychain unlock", ScriptedTerminal(answers: ["a", "b", "c"])).status == .wrongKey)
        let fifth = ScriptedTerminal(answers: ["d", "e", "walnut lantern"])
        let outcome = run("keychain unlock", fifth)
        #expect(outcome.status == .wrongKey)
        #expect(outcome.messages.contains("hint: the next try is possible in 2 s\n"))
        #expect(fifth.unasked == 1)

        // Three minutes pass before each, which doubles the delay to 256 seconds, and one before each later run.
        for _ in 1...7 {
            _ = (home.nextTime(), home.nextTime())
            #expect(home.run("keychain unlock --passcode file:wrong").status == .wrongKey)
        }
        for line in ["keychain unlock", "item add --service x --generate", "keychain set-passcode"] {
            let vain = ScriptedTerminal(answers: ["walnut lantern"])
            let refused = run(line, vain)
            #expect(refused.status == .locked, "\(line)")
            #expect(vain.asked.isEmpty, "\(line)")
            #expect(refused.messages.contains("hint: the next attempt is possible in "), "\(line): \(refused.messages)")
        }
    }

    @Test("'doctor' and 'schedule add' tell that a job's passcode is wrong, without counting it")
    func staleJob() throws {
        #expect(home.run("keygen -o key.txt").status == .ok)
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        try home.write("job", "walnut lantern\n")
        let add = "schedule add nightly --keychain login --to backups -r \(recipient) --passcode file:job"
        #expect(home.run(add).status == .ok)
        #expect(home.run("run nightly").status == .ok)
        #expect(!home.run("doctor").text.contains("wrong passcode"))
        try home.write("job", "guess\n")
        for _ in 1...3 { #expect(home.run("doctor").text.contains("wrong passcode for keychain 'login'")) }
        let added = home.run("schedule add late --keychain login --to late -r \(recipient) --passcode file:job")
        #expect(added.status == .ok)
        #expect(
            added.messages.contains("warning: job 'late' fails: wrong passcode for keychain 'login'"),
            "\(added.messages)")
        #expect(try home.wrongPasscodes("login") == 0)
        #expect(home.run("run nightly").status == .wrongKey)
        #expect(try home.wrongPasscodes("login") == 1)
    }

    @Test("The old passcode has three tries when a new one is set, and so has the passcode of an archive")
    func otherPasscodes() {
        #expect(home.run("create here.kcb --unencrypted").status == .ok)
        let change = ScriptedTerminal(answers: ["x", "walnut lantern", "harbor cactus fiddle", "harbor cactus fiddle"])
        #expect(run("keychain set-passcode", change).status == .ok)
        let archive = ScriptedTerminal(answers: ["x", "y", "walnut lantern"])
        #expect(run("verify here.kcb --archive-passcode tty", archive).status == .ok)
        #expect(archive.asked.count == 3)
    }

    @Test(
        "The hint for a wrong secret mentions invisible characters without showing the secret",
        arguments: [
            ("caf\u{e9}\n", "(NFC)"), ("cafe\u{301}\n", "(NFD)"),
            ("\u{d55c}\n", "(NFC)"), ("guess\n", ""), ("stra\u{df}e \u{f8} \u{e9e}\n", ""),
        ])
    func hints(text: String, hint: String) throws {
        try home.write("secret", text)
        for line in ["verify a.kcb --passphrase file:secret", "keychain unlock --passcode file:secret"] {
            let outcome = home.run(line)
            #expect(outcome.status == .wrongKey)
            #expect(outcome.messages.contains("kcbackup: hint: the pass") == !hint.isEmpty, "\(outcome.messages)")
            #expect(outcome.messages.contains(hint) || hint.isEmpty, "\(outcome.messages)")
            #expect(!outcome.messages.contains(text.prefix(3)))
        }
        let typed = ScriptedTerminal(answers: [text.filter { $0 != "\n" }, "orbit velvet"])
        #expect(run("verify a.kcb", typed).status == .ok)
        #expect(typed.asked.last?.contains("(NF") == hint.hasPrefix("(NF"))
    }

    @Test("What was set with a carriage return or a byte order mark opens, and wrong passcodes count once")
    func earlierSecrets() throws {
        var present = "walnut lantern"
        for new in ["cactus\r", "\u{feff}fiddle", "\u{feff}harbor\r"] {
            let session = Session(home.world(), OutputStyle())
            try LocalKeychain("login", in: session.machine).open(in: session.machine).setPasscode(
                current: SecretBytes(copying: Array(present.utf8)), new: SecretBytes(copying: Array(new.utf8)),
                cost: ScryptCost(logN: 1), now: session.now)
            present = new
            // A fifth wrong passcode would delay the next try.
            for _ in 1...4 { #expect(home.run("keychain unlock --passcode file:wrong").status == .wrongKey) }
            #expect(try home.wrongPasscodes("login") == 4)
            let plain = String(String.UnicodeScalarView(new.unicodeScalars.filter { $0 != "\u{feff}" && $0 != "\r" }))
            let outcome = run("keychain unlock", ScriptedTerminal(answers: [plain], showsMessages: true))
            #expect(outcome.status == .ok, "\(outcome.messages)")
            #expect(outcome.messages.contains("the passcode was set with a carriage return or a byte order mark"))
            #expect(try home.wrongPasscodes("login") == 0)
            #expect(home.run("keychain lock").status == .ok)
            for (file, text) in [("line", plain + "\n"), ("windows", plain + "\r\n")] {
                try home.write(file, text)
                #expect(home.run("keychain unlock --passcode file:\(file)").status == .ok)
            }
        }
    }

    @Test("A secret that is not Unicode text causes no hint")
    func noText() {
        let isSure = SecretDoubt(SecretBytes(copying: [0xff, 0xe9])) == nil
        #expect(isSure)
    }
}
