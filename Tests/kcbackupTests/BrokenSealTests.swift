import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Lists and searches of a keychain that another program changed")
struct BrokenSealTests {
    @Test("A row whose seal does not prove its attributes is marked, and the exit code is 3")
    func alteredName() throws {
        let home = try TestHome()
        for line in [
            "keychain create --no-passcode", "item add --service bank --account ada --generate",
            "item add --service forum --account ada --generate",
        ] { #expect(home.run(line).status == .ok) }
        #expect(!home.run("item list").text.contains("SEAL"))
        let file = SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain")
        try file.run("UPDATE genp SET svce = CAST('evil' AS BLOB) WHERE svce = CAST('bank' AS BLOB)")

        let outcome = home.run("item list --columns service,seal")
        #expect(outcome.status == .incomplete)
        #expect(outcome.text == "SERVICE  SEAL\nevil     broken\nforum\n")
        #expect(outcome.messages.hasPrefix("kcbackup: warning: the seals of 1 item do not fit"))
        let json = home.run("item list --json")
        #expect(json.status == .incomplete)
        #expect(json.text.components(separatedBy: "\"sealBroken\":true").count == 2)
        // Other rows are as proved as before.
        #expect(home.run("item list forum").status == .ok)
    }

    @Test("'item find' marks such an item and never shows its secret; others are shown as usual")
    func found() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for (service, secret) in [("bank", "first-word"), ("forum", "second-word")] {
            try home.write(service, secret)
            #expect(home.run("item add --service \(service) --account ada --secret file:\(service)").status == .ok)
        }
        #expect(home.run("item find ada --reveal --json").text.contains("sealBroken") == false)
        let file = SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain")
        try file.run("UPDATE genp SET svce = CAST('evil' AS BLOB) WHERE svce = CAST('bank' AS BLOB)")

        let plain = home.run("item find ada")
        #expect(plain.status == .incomplete)
        #expect(plain.text.components(separatedBy: "seal             broken\n").count == 2)
        #expect(plain.messages.hasPrefix("kcbackup: warning: the seals of 1 item do not fit"))

        let shown = home.run(["item", "find", "ada", "--reveal"], terminal: ScriptedTerminal(showsOutput: true))
        #expect(shown.status == .incomplete)
        #expect(shown.text.contains("seal             broken\nsecret           not shown: the seal is broken\n"))
        #expect(shown.text.contains("secret           second-word\n"))
        #expect(!shown.text.contains("first-word"))

        let json = home.run("item find ada --reveal --json")
        #expect(json.status == .incomplete)
        #expect(json.text.components(separatedBy: "\"sealBroken\":true").count == 2)
        #expect(json.text.contains("\"secret\":\"second-word\"") && !json.text.contains("first-word"))
        // The printed items cannot be imported as if they were good.
        try home.write("found.jsonl", json.text)
        #expect(home.run("keychain create copy --no-passcode").status == .ok)
        let refused = home.run("import found.jsonl --into copy")
        #expect(refused.status == .damaged)
        #expect(
            refused.messages == """
                kcbackup: error: line 1: the item was listed without its secret, since its seal is broken
                kcbackup: hint: nothing was written; leave the item out, and try again

                """)
        #expect(home.run("item find evil --keychain copy").status == .notFound)

        // A script gets the secret or nothing.
        let raw = home.run("item find evil --reveal")
        #expect(raw.status == .damaged && raw.text.isEmpty)
        #expect(raw.messages.contains("its seal is broken"))
        #expect(home.run("item find forum --reveal").text == "second-word")
    }
}
