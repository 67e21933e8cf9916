import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Lists of a keychain that another program changed")
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
}
