import Foundation
import KCByteStreams
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Keychains that other programs have changed")
struct DamagedKeychainTests {
    private let home: TestHome
    private let path: String

    init() throws {
        home = try TestHome()
        path = home.folder.path("home/.local/share/kcbackup/keychains/login.keychain")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for name in ["ann", "bob"] {
            try home.write("secret", "secret of \(name)")
            #expect(home.run("item add --service \(name) --secret file:secret").status == .ok)
        }
        try home.write("code", "walnut stapler 93")
    }

    /// Changes columns of the item of a service.
    private func alter(_ assignment: String, of service: String) throws {
        try SQLiteFile(path).run("UPDATE genp SET \(assignment) WHERE svce = CAST('\(service)' AS BLOB)")
    }

    /// The sealed data of another item.
    private let brokenSeal = "data = (SELECT data FROM genp WHERE svce = CAST('bob' AS BLOB))"
    private let noItem = "mdat = 9223372036854775807"

    @Test(
        "Revealing a row that is not a valid item ends as incomplete, not as a usage error",
        arguments: ["", "--json"])
    func revealedRow(json: String) throws {
        try alter(noItem, of: "ann")
        let outcome = home.run("item find --service ann --reveal \(json)")
        #expect(outcome.status == .incomplete)
        #expect(outcome.text == (json.isEmpty ? "" : "{\"items\":[]}\n"))
        #expect(outcome.messages.contains("1 item cannot be read: the keychain is damaged"))
        // Other items that match are shown.
        let both = home.run("item find --class genp --reveal \(json)")
        #expect(both.status == .incomplete)
        #expect(both.text.contains("secret of bob"))
    }

    @Test("What is not found in an archive that lacks items may be among these, and no key is needed to say so")
    func notInIncompleteArchive() throws {
        try alter(noItem, of: "ann")
        try home.write("passphrase", "lantern orbit 9 quarry mist\n")
        #expect(home.run("create a.kcb --passphrase file:passphrase").status == .incomplete)
        let outcome = home.run("item find nothing --in a.kcb --reveal --json --passphrase file:passphrase")
        #expect(outcome.status == .incomplete && outcome.text == "{\"items\":[]}\n", "\(outcome.messages)")
    }

    @Test("A broken seal is reported as damage, and nothing of a secret is shown")
    func revealedSeal() throws {
        try alter(brokenSeal, of: "ann")
        let raw = home.run("item find --service ann --reveal")
        #expect(raw.status == .damaged)
        #expect(raw.messages.contains("its seal is broken"))
        #expect(raw.text.isEmpty)
        let json = home.run("item find --service ann --reveal --json")
        #expect(json.status == .incomplete)
        #expect(json.text.contains("\"sealBroken\":true") && !json.text.contains("\"secret\""))
    }

    @Test("Setting a passcode names the items that could not be resealed, and ends as incomplete")
    func resealing() throws {
        try alter(brokenSeal, of: "ann")
        #expect(home.run("item add --service carol --secret file:code").status == .ok)
        try alter(noItem, of: "carol")
        let set = home.run("keychain set-passcode --new-passcode file:code")
        #expect(set.status == .incomplete)
        #expect(
            set.messages == """
                kcbackup: warning: left as it was, since it cannot be opened:
                  generic password 'ann'
                  an unreadable row

                """)
        // The passcode is changed nevertheless, and intact items open.
        let bob = home.run("item find --service bob --reveal --passcode file:code")
        #expect(bob.text == "secret of bob")
        #expect(home.run("item find --service ann --reveal --passcode file:code").status == .damaged)
        let create = home.run("create --unencrypted a.kcb --passcode file:code")
        #expect(create.status == .incomplete)
        #expect(create.messages.contains("generic password 'ann'"))
    }

    @Test("A keychain file with a second hard link is refused, with a hint how to find the names")
    func secondName() throws {
        try FileManager.default.linkItem(atPath: path, toPath: home.path("copy"))
        let outcome = home.run("item list")
        #expect(outcome.status == .damaged)
        #expect(
            outcome.messages == """
                kcbackup: error: keychain 'login' has more than one name, each of which would have a journal of its own: \
                '\(path)'
                kcbackup: hint: 'find / -xdev -samefile \(path)' shows the names; remove all but one

                """)
        try FileManager.default.removeItem(atPath: home.path("copy"))
        #expect(home.run("item list").status == .ok)
    }

    @Test("A foreign journal is refused and named, with a hint what to do", arguments: ["-wal", "-shm", "-journal"])
    func foreignJournal(suffix: String) throws {
        try Data(repeating: 1, count: 512).write(to: URL(filePath: path + suffix))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
        let outcome = home.run("item list")
        #expect(outcome.status == .damaged)
        #expect(
            outcome.messages == """
                kcbackup: error: a journal that kcbackup did not write lies beside keychain 'login': '\(path)\(suffix)'
                kcbackup: hint: if no other program has the keychain open, move that file to another folder, and try again

                """)
        try FileManager.default.moveItem(atPath: path + suffix, toPath: home.path("away"))
        #expect(home.run("item list").status == .ok)
    }

    @Test(
        "A passcode for a keychain that has none is not read, and only --verbose says so",
        arguments: [
            "item list", "item find --service ann", "item find --service ann --reveal", "create --unencrypted a.kcb",
            "keychain unlock", "item update --service ann --set labl=x",
        ])
    func uselessPasscode(words: String) {
        let told = "keychain 'login' has no passcode, so '--passcode' is not read"
        let nightly = home.run("\(words) --passcode file:missing")
        #expect(nightly.status == .ok && nightly.messages == "", "\(nightly.messages)")
        let verbose = home.run("\(words.replacing("a.kcb", with: "b.kcb")) --passcode file:missing --verbose")
        #expect(verbose.status == .ok && verbose.messages.contains(told), "\(verbose.messages)")
        // A secret that was typed instead of its source is refused, even if the keychain has no passcode.
        #expect(home.run("\(words.replacing("a.kcb", with: "c.kcb")) --passcode swordfish").status == .usage)
    }

    @Test("set-passcode does not read a present passcode either if the keychain has none")
    func uselessPresentPasscode() {
        let outcome = home.run("keychain set-passcode --passcode file:missing --new-passcode file:code --verbose")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("so '--passcode' is not read"))
    }
}
