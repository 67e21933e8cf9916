import Foundation
import KCCryptography
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("A keychain whose passcode the TPM counts")
struct CountedPasscodeTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("wrong", "guess\n")
        try home.write("passphrase", "correct horse\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"kept"}"#)
    }

    @discardableResult
    private func expect(_ line: String, _ status: KCTerminal.ExitStatus = .ok) throws -> TestHome.Outcome {
        let outcome = home.run(line)
        try #require(outcome.status == status, "\(line): \(outcome.messages)")
        return outcome
    }

    private let make = "keychain create --passcode file:passcode --held-by tpm --counted-by tpm"
    private let reveal = "item find --service Bank --reveal --passcode file:passcode"

    @Test("A TPM that a few wrong guesses lock, or that is not there, counts no passcode, and nothing is made")
    func unfit() throws {
        home.chip.set(wrongGuesses: 0, of: 3)
        #expect(try expect(make, .refused).messages.contains("after 3 wrong guesses"))
        home.chip.set(absent: true)
        try expect(make, .locked)
        #expect(try home.folder.list().filter { $0.contains("device.key") || $0.hasSuffix(".keychain") } == [])
        home.chip.set(absent: false)
        try expect("keychain create --passcode file:passcode --held-by tpm")
        let setPasscode = "keychain set-passcode --passcode file:passcode --new-passcode file:passcode --counted-by tpm"
        try expect(setPasscode, .refused)
        home.chip.fail("seal", .noAnswer)
        home.chip.set(wrongGuesses: 0)
        try expect(setPasscode, .locked)
        home.chip.fail("seal", nil)
        #expect(try expect("keychain info --json").text.contains(#""counter":"file""#))
        #expect(home.run("item list --passcode file:passcode").status == .ok)
    }

    @Test("Where no passcode is typed, it is said that nothing is counted")
    func noPasscode() throws {
        let words = "there is nothing for the TPM to count"
        func run(_ line: String, _ answers: String...) -> TestHome.Outcome {
            home.run(line.split(separator: " ").map(String.init), terminal: ScriptedTerminal(answers: answers))
        }
        let made = run("keychain create --held-by tpm --counted-by tpm", "", "y")
        #expect(made.status == .ok && made.messages.contains(words), "\(made.messages)")
        let unset = run("keychain set-passcode --counted-by tpm", "", "y")
        #expect(unset.status == .ok && unset.messages.contains(words), "\(unset.messages)")
        #expect(try !expect("keychain info --json").text.contains("counter"))
    }

    @Test("The TPM counts what was given, and not what else a line may mean")
    func fewReadings() throws {
        try expect(make)
        try home.write("windows", "guess\r\n")
        try expect("keychain unlock --passcode file:wrong", .wrongKey)
        #expect(home.chip.wrongGuesses == 1)
        try expect("keychain unlock --passcode file:windows", .wrongKey)
        #expect(home.chip.wrongGuesses == 3)
        try home.write("windows", "walnut lantern\r\n")
        try expect("keychain unlock --passcode file:windows")
    }

    @Test("While too few guesses are left, no passcode is tried, and it is said how long that can last")
    func lockedOut() throws {
        try expect(make)
        try expect("import items.jsonl --passcode file:passcode")
        home.chip.set(wrongGuesses: 26)
        func unlock(_ answers: String...) -> KCTerminal.ExitStatus {
            home.run(["keychain", "unlock"], terminal: ScriptedTerminal(answers: answers)).status
        }
        #expect(unlock("guess", "guess", "guess") == .locked)
        #expect(home.chip.wrongGuesses == 28)
        // Nobody is asked for what would not be tried.
        #expect(unlock() == .locked)
        home.chip.set(wrongGuesses: 30)
        home.pass(hours: 1)
        let outcome = try expect(reveal, .locked)
        #expect(outcome.messages.contains("the next try is possible in 30 min at the latest"))
        #expect(home.chip.wrongGuesses == 30)
        // Commands that need no passcode work as before.
        try expect("item list")
        try expect("create a.kcb --unencrypted")
        home.chip.set(wrongGuesses: 5)
        #expect(try expect(reveal).text == "kept")
    }

    @Test("With the TPM gone, a copy of the device key does not open it, and the escrow key or an archive does")
    func lostChip() throws {
        try expect(make)
        try expect("import items.jsonl --passcode file:passcode")
        try expect("keychain escrow enable -o escrow --passcode file:passcode")
        let id = try #require(home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/)).0
        let words = "the passcode of 'login' works with the TPM alone that counts it"
        let export = "device export -o key.age --passphrase file:passphrase --confirm \(id) --passcode file:passcode"
        #expect(try expect(export).messages.contains(words))
        home.chip.clear()
        #expect(try expect("device import key.age --passphrase file:passphrase --yes").messages.contains(words))
        for line in [
            reveal, "keychain unlock --passcode file:passcode",
            "keychain set-passcode --passcode file:passcode --new-passcode file:passcode --yes",
        ] {
            let outcome = try expect(line, .refused)
            #expect(outcome.messages.contains("the TPM that counts this passcode is another one"), "\(line)")
        }
        // The loss of the TPM keeps nobody from moving the key of the device on.
        try expect("device seal --without-archive --yes")
        try expect("device unseal --confirm \(id)")
        try expect("create b.kcb --passphrase file:passphrase --escrow escrow")
        try expect("restore b.kcb --passphrase file:passphrase --keychain again --passcode file:passcode")
        #expect(try expect("\(reveal) --keychain again").text == "kept")
    }

    @Test("With the TPM gone, it is not in the way of another device key")
    func otherKey() throws {
        let other = try TestHome()
        try other.write("passphrase", "correct horse\n")
        for line in ["keychain create --no-passcode", "device export -o other.age --passphrase file:passphrase"] {
            #expect(other.run(line).status == .ok)
        }
        try home.write("other.age", Array(Data(contentsOf: URL(filePath: other.path("other.age")))))
        try expect(make)
        let id = try #require(home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/)).0
        try expect("device export -o key.age --passphrase file:passphrase --confirm \(id) --passcode file:passcode")
        home.chip.clear()
        try expect("device import key.age --passphrase file:passphrase --yes")
        let outcome = try expect("device import other.age --passphrase file:passphrase --yes")
        #expect(outcome.messages.contains("keychain 'login' stays with the present key"))
    }

    @Test("A kept state, and a keychain from an archive, are counted as before")
    func copies() throws {
        try expect(make)
        try expect("import items.jsonl --passcode file:passcode")
        try expect("item delete --service Bank --yes --passcode file:passcode")
        try expect("undo --yes")
        #expect(try expect(reveal).text == "kept")
        try expect("create a.kcb --unencrypted")
        try expect("keychain delete --confirm login")
        try expect("restore a.kcb --keychain login --archive-passcode file:passcode")
        try expect("\(reveal.replacing("file:passcode", with: "file:wrong"))", .wrongKey)
        #expect(home.chip.wrongGuesses == 1)
        #expect(try expect("keychain info --json").text.contains(#""counter":"tpm""#))
    }
}
