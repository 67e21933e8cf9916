import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Undo if the keychain file is damaged or missing")
struct DamagedKeychainUndoTests {
    private let home: TestHome
    private let file = "home/.local/share/kcbackup/keychains/login.keychain"

    /// Makes a keychain with one kept state.
    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"tulip"}"# + "\n")
        for line in [
            "keychain create --passcode file:passcode", "import items.jsonl --no-undo --passcode file:passcode",
            "create a.kcb --unencrypted",
            "item update --service Bank --set icmt=kept --no-undo --passcode file:passcode",
            "restore a.kcb --on-conflict overwrite --passcode file:passcode",
        ] {
            #expect(home.run(line).status == .ok)
        }
    }

    private func damage() throws {
        var bytes = try home.folder.read(file)
        for position in 0..<min(bytes.count, 4_096) { bytes[position] ^= 0x5a }
        try home.folder.write(file, bytes, mode: 0o600)
    }

    private func names(_ part: String) throws -> [String] { try home.folder.list().filter { $0.contains(part) } }

    private func expectBroughtBack() throws {
        let found = home.run("item find --service Bank --json --reveal --passcode file:passcode")
        #expect(
            found.text.contains(#""icmt":"kept""#) && found.text.contains(#""secret":"tulip""#), "\(found.messages)")
    }

    @Test("After a confirmation, the newest state replaces a damaged file, and the damaged bytes are kept")
    func damagedFile() throws {
        try damage()
        let damaged = try home.folder.read(file)
        #expect(home.run("item list").status == .damaged)
        let listed = home.run("undo --list --json")
        #expect(listed.status == .ok && listed.text.contains(#""items":1"#), "\(listed.messages)")
        #expect(home.run("undo").status == .refused)
        #expect(home.run("undo --dry-run").text.contains("(now it does not open)"))
        let no = home.run(["undo"], terminal: ScriptedTerminal(answers: ["n"]))
        #expect(no.status == .refused)
        #expect(try home.folder.read(file) == damaged && names(".damaged-").isEmpty)
        let outcome = home.run(["undo"], terminal: ScriptedTerminal(answers: ["y"]))
        #expect(outcome.status == .ok, "\(outcome.messages)")
        try expectBroughtBack()
        let old = try #require(try names(".damaged-").first)
        #expect(try home.folder.read(old) == damaged)
        #expect(home.run("keychain list --json").text.components(separatedBy: "\"name\"").count == 2)
        #expect(home.run("undo --yes").status == .notFound)
    }

    @Test("A missing file is restored too, and a journal left beside it is not used for the new file")
    func missingFile() throws {
        try FileManager.default.removeItem(atPath: home.folder.path(file))
        try home.folder.write(file + "-journal", Array("not of this file".utf8), mode: 0o600)
        let outcome = home.run("undo --yes --json")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.text.contains(#""items":1"#) && !outcome.text.contains("oldFile"), "\(outcome.text)")
        try expectBroughtBack()
        #expect(try names("-journal").allSatisfy { $0.contains(".damaged-") })
    }

    @Test("A keychain that damage makes unrecognizable is told what brings it back", arguments: [0, 16])
    func unrecognizable(kept: Int) throws {
        var bytes = try home.folder.read(file)
        if kept == 0 { bytes = [] } else { for position in 0..<kept { bytes[position] = 0 } }
        try home.folder.write(file, bytes, mode: 0o600)
        let outcome = home.run("item list")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("'kcbackup undo' brings back its state"), "\(outcome.messages)")
        #expect(home.run("undo --yes").status == .ok)
        try expectBroughtBack()
    }

    @Test("A keychain that lost its file is told by status and doctor, and what brings it back comes first")
    func lostFile() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(home.run("status --max-age 26h").status == .ok)
        try FileManager.default.removeItem(atPath: home.folder.path(file))
        for line in ["status", "status --max-age 26h --quiet", "doctor"] {
            let outcome = home.run(line)
            let all = outcome.text + outcome.messages
            #expect(outcome.status == .notFound, "\(line): \(all)")
            #expect(all.contains("keychain 'login' has lost its file"), "\(line): \(all)")
        }
        let list = home.run("item list")
        let hints = list.messages.split(separator: "\n").filter { $0.contains("hint: ") }
        #expect(list.status == .notFound && hints.count == 3, "\(list.messages)")
        #expect(hints.first?.contains("'kcbackup undo --keychain login'") == true, "\(list.messages)")
        #expect(hints.dropFirst().first?.contains("'kcbackup restore ARCHIVE --keychain login'") == true)
        #expect(home.run("undo --yes").status == .ok)
        #expect(home.run("restore a.kcb --on-conflict overwrite --passcode file:passcode").status == .ok)
        #expect(home.run("keychain delete login --confirm login").status == .ok)
        let status = home.run("status --verbose")
        #expect(status.status == .ok, "\(status.messages)")
        #expect(status.messages.contains("keychain 'login' is no longer here"), "\(status.messages)")
    }

    @Test("The states of a lost keychain are named in the list of one that was made in its place")
    func replacedKeychain() throws {
        let moved = home.folder.path("moved.keychain")
        try FileManager.default.moveItem(atPath: home.folder.path(file), toPath: moved)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let words = "1 state of another keychain that was in this place before"
        let change = ["item", "update", "--keychain", moved, "--service", "Bank", "--set", "icmt=new"]
        #expect(home.run(change + ["--passcode", "file:passcode"]).status == .ok)
        #expect(!home.run("undo --list --verbose").messages.contains(words))
        try FileManager.default.removeItem(atPath: moved)
        let listed = home.run("undo --list --verbose")
        #expect(listed.status == .ok && listed.messages.contains(words), "\(listed.messages)")
        // The remedy that the note names.
        try FileManager.default.moveItem(atPath: home.folder.path(file), toPath: home.folder.path("new.keychain"))
        let states = try names("/undo/").filter { $0.hasSuffix(".keychain") }
        let dates = states.compactMap { $0.split(separator: "/").last?.split(separator: "-").first }
        let name = try #require(dates.min())
        #expect(home.run("undo --list").text.contains(name))
        #expect(home.run("undo \(name) --yes").status == .ok)
        try expectBroughtBack()
    }

    @Test("Deleting a moved keychain says which states stay, since the file in its old place may be a copy")
    func movedAndDeleted() throws {
        let moved = home.folder.path("moved.keychain")
        try FileManager.default.moveItem(atPath: home.folder.path(file), toPath: moved)
        try home.folder.write(file, Array("no keychain".utf8), mode: 0o600)
        let outcome = home.run(["keychain", "delete", moved, "--confirm", moved])
        #expect(outcome.status == .ok)
        let words = "1 earlier state may be of a copy of the keychain, and stayed in"
        #expect(outcome.messages.contains(words) && outcome.messages.contains("login.keychain"), "\(outcome.messages)")
        #expect(try names("/undo/").contains { $0.hasSuffix(".keychain") })
    }

    @Test("A state that is damaged too replaces nothing")
    func damagedState() throws {
        try damage()
        let damaged = try home.folder.read(file)
        let state = try #require(try names("/undo/").first { $0.hasSuffix(".keychain") })
        var bytes = try home.folder.read(state)
        bytes[bytes.count - 1] ^= 1
        try home.folder.write(state, bytes, mode: 0o600)
        #expect(home.run("undo --yes").status == .damaged)
        #expect(try home.folder.read(file) == damaged && names(".damaged-").isEmpty)
    }

    @Test("A damaged state of an intact keychain is named as a state, and the others can be brought back")
    func onlyStateDamaged() throws {
        #expect(home.run("item update --service Bank --set icmt=newest --passcode file:passcode").status == .ok)
        let states = try names("/undo/").filter { $0.hasSuffix(".keychain") }.sorted()
        let newest = try #require(states.last)
        var bytes = try home.folder.read(newest)
        bytes[bytes.count - 1] ^= 1
        try home.folder.write(newest, bytes, mode: 0o600)
        let outcome = home.run("undo --yes")
        #expect(outcome.status == .damaged)
        let name = try #require(newest.split(separator: "/").last?.split(separator: "-").first)
        #expect(
            outcome.messages == """
                kcbackup: error: state \(name) of keychain 'login' is damaged: it is not as it was kept
                kcbackup: hint: 'kcbackup undo --list --keychain login' shows the others, and 'kcbackup undo STATE --keychain login' brings one of them back

                """)
        let listed = home.run("undo --list --json")
        #expect(listed.status == .incomplete && listed.messages.contains("warning: state \(name) of keychain 'login'"))
        let other = try #require(listed.text.firstMatch(of: /"name":"([0-9TZ.]+)"/)?.output.1)
        #expect(home.run("undo \(other) --yes").status == .ok)
        try expectBroughtBack()
    }

    @Test("The states of a keychain that was there before a new one do not replace the new one, unless one is named")
    func statesOfEarlierKeychain() throws {
        try FileManager.default.removeItem(atPath: home.folder.path(file))
        #expect(home.run("keychain create login --passcode file:passcode").status == .ok)
        try damage()
        let damaged = try home.folder.read(file)
        let outcome = home.run("undo --keychain login --yes")
        #expect(outcome.status == .refused && outcome.messages.contains("may be of another one"), "\(outcome.messages)")
        #expect(try home.folder.read(file) == damaged && names(".damaged-").isEmpty)
        let listed = home.run("undo --keychain login --list --json")
        let name = try #require(listed.text.firstMatch(of: /"name":"([0-9TZ.]+)"/)?.output.1)
        #expect(home.run("undo \(name) --keychain login --yes").status == .ok)
        try expectBroughtBack()
    }

    @Test("The states of a keychain that was moved do not make a second one of it, unless one is named")
    func statesOfMovedKeychain() throws {
        let moved = file.replacingOccurrences(of: "login", with: "work")
        try FileManager.default.moveItem(atPath: home.folder.path(file), toPath: home.folder.path(moved))
        let outcome = home.run("undo --keychain login --yes")
        #expect(outcome.status == .refused && outcome.messages.contains("work.keychain"), "\(outcome.messages)")
        #expect(try names("login.keychain").allSatisfy { $0.contains("/undo/") || $0.hasSuffix(".lock") })
        // The keychain itself finds them.
        #expect(home.run("undo --keychain work --yes").status == .ok)
    }

    @Test("Undo of a keychain without states reports what is wrong with the keychain")
    func noState() throws {
        #expect(home.run("keychain delete login --confirm login").status == .ok)
        #expect(home.run("undo --yes").status == .notFound)
        try home.write("other.keychain", "no keychain\n")
        #expect(home.run("undo --yes --keychain ./other.keychain").status == .damaged)
        #expect(try home.folder.read("work/other.keychain") == Array("no keychain\n".utf8))
    }

    @Test("Deleting a keychain that does not open deletes its states, with a warning")
    func deleted() throws {
        try damage()
        let outcome = home.run("keychain delete login --confirm login")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: 1 state of it from before changes will be deleted as well"))
        #expect(try names("/undo/").allSatisfy { !$0.hasSuffix(".keychain") })
    }
}
