import ByteStreams
import Foundation
import TestSupport
import Testing

@testable import kcbackup

@Suite("What may happen to a folder of backups")
struct FolderAttackTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("item import items.jsonl").status == .ok)
    }

    private func archives(_ folder: String = "b") throws -> [String] {
        try Path.names(in: home.path(folder)).filter { $0.hasSuffix(".kcb") }.sorted()
    }

    private func rot(_ name: String) throws {
        var bytes = try home.folder.read("work/b/" + name)
        bytes[bytes.count / 2] ^= 1
        try home.write("b/" + name, bytes)
    }

    private func changeCatalogue(_ change: (inout [UInt8]) -> Void) throws {
        let folder = "home/.local/share/kcbackup/backups"
        let name = try #require(Path.names(in: home.folder.path(folder)).first { $0.hasSuffix(".catalogue") })
        var bytes = try home.folder.read("\(folder)/\(name)")
        change(&bytes)
        try home.folder.write("\(folder)/\(name)", bytes, mode: 0o600)
    }

    @Test("An archive that rotted takes no other's place when old ones are removed")
    func prune() throws {
        for _ in 0..<3 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        let names = try archives()
        try rot(names[2])
        #expect(home.run("prune b --keep-last 1").status == .ok)
        #expect(try archives() == [names[1], names[2]])
    }

    @Test("The newest backup is missed where its file is gone, and an older one is not")
    func newestGone() throws {
        for _ in 0..<3 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        let names = try archives()
        try Path.remove(home.path("b/" + names[0]))
        #expect(home.run("status").status == .ok)
        try Path.remove(home.path("b/" + names[2]))
        let gone = home.run("status --max-age 1d")
        #expect(gone.status == .notFound)
        #expect(
            gone.messages.contains("the newest backup of keychain 'login' is gone: '")
                && gone.messages.contains(names[2]))
        #expect(home.run("status --json").text.contains(#""missing":[{"keychain":"login","file":"/"#))
        #expect(home.run("status --prometheus").text.contains(#"kcbackup_newest_missing{keychain="login"} 1"#))
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("status").status == .ok)
    }

    @Test("A trash that leads elsewhere is refused, and nothing goes there")
    func trashIsLink() throws {
        for _ in 0..<2 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        try FileManager.default.createDirectory(atPath: home.path("elsewhere"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: home.path("b/.trash"), withDestinationPath: home.path("elsewhere"))
        let refused = home.run("prune b --keep-last 1")
        #expect(refused.status == .refused && refused.messages.contains("is not a folder of its own"))
        #expect(try archives().count == 2)
        #expect(try Path.names(in: home.path("elsewhere")).isEmpty)
    }

    @Test("An archive in the trash is not rekeyed, and comes back as it was")
    func rekeyInTrash() throws {
        try home.write("old", "correct horse battery\n")
        try home.write("new", "orbit lantern velvet\n")
        for _ in 0..<2 { #expect(home.run("create --passphrase file:old --to b").status == .ok) }
        let name = try archives()[0]
        #expect(home.run("prune b --keep-last 1").status == .ok)
        let refused = home.run("rekey b/.trash/\(name) --passphrase file:old --new-passphrase file:new")
        #expect(refused.status == .refused && refused.messages.contains("is in the trash"))
        #expect(home.run("prune b --undo").status == .ok)
        #expect(home.run("verify b/\(name) --passphrase file:old").status == .ok)
    }

    @Test(
        "A rekey that was ended half-way is finished with the old and the new key, and says so with the old one alone")
    func rekeyHalfDone() throws {
        #expect(home.run("keygen -o old.txt").status == .ok)
        #expect(home.run("keygen -o new.txt").status == .ok)
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let names = try archives()
        // As a run leaves it that was killed before the second archive.
        #expect(home.run("rekey b/\(names[0]) -i old.txt -r \(new)").status == .ok)
        let again = home.run("rekey b -i old.txt -r \(new) -v")
        #expect(again.status == .ok)
        #expect(again.messages.contains("has these keys already") && again.messages.contains("rekeyed"))
        #expect(home.run("create -r \(new) --to b").status == .ok)
        // What is not in the catalogue as rekeyed cannot be told from what another key opens.
        let third = "rekey b -i old.txt -r \(try recipient("third.txt", made: true))"
        let refused = home.run(third)
        #expect(refused.status == .wrongKey && refused.messages.contains("'-i OLD -i NEW'"))
        #expect(home.run(third + " -i new.txt").status == .ok)
        #expect(home.run("verify b -i third.txt").status == .ok)
    }

    private func recipient(_ name: String, made: Bool = false) throws -> String {
        if made { #expect(home.run("keygen -o \(name)").status == .ok) }
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    @Test("A full disk is told with the trash that could be emptied")
    func fullDisk() {
        var subjects = Failure.Subjects()
        subjects.trash = "b/.trash"
        let full = StreamFailure(.writing, .system(ENOSPC))
        #expect(Failure(full, subjects).explanation.hints.contains { $0.contains("b/.trash") })
        #expect(
            !Failure(StreamFailure(.writing, .system(EIO)), subjects).explanation.hints.contains {
                $0.contains("trash")
            })
    }

    @Test("A backup that rotted is no reason to make none")
    func unchanged() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try rot(try archives()[0])
        #expect(home.run("create --unencrypted --to b --if-changed").status == .ok)
        #expect(try archives().count == 2)
    }

    @Test("A catalogue that was altered is made anew, and hides no other in the status")
    func altered() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try changeCatalogue { $0[80] ^= 1 }
        #expect(home.run("create --unencrypted --to b").status == .damaged)
        #expect(home.run("create --unencrypted --to other").status == .ok)
        let status = home.run("status")
        #expect(status.status == .ok)
        #expect(status.text.contains("login") && status.messages.contains("was changed since this device wrote it"))
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(home.run("list b --columns state").text == "STATE\nok\nok\n")
    }

    @Test("Of all keychains, one that is gone or another fails for itself, and the rest are backed up")
    func all() throws {
        #expect(home.run("keychain create work --no-passcode").status == .ok)
        #expect(home.run("create --unencrypted --all --to b").status == .ok)
        #expect(home.run("keychain delete work --confirm work").status == .ok)
        let gone = home.run("create --unencrypted --all --to b")
        #expect(gone.status == .shrunk && gone.messages.contains("keychain 'work' no longer exists"))
        #expect(try archives().count == 3)
        #expect(home.run("keychain create work --no-passcode").status == .ok)
        let other = home.run("create --unencrypted --all --to b")
        #expect(other.status == .refused && other.messages.contains("deleted or replaced"))
        #expect(try archives().count == 4)
        #expect(home.run("keychain delete work --confirm work").status == .ok)
        #expect(home.run("create --unencrypted --all --to b --accept-shrink").status == .ok)
        #expect(home.run("create --unencrypted --all --to b").status == .ok)
    }

    @Test("A run that made nothing pins a folder to nothing")
    func failedFirst() throws {
        try home.write("passcode", "walnut lantern\n")
        try home.write("phrase", "correct horse battery\n")
        #expect(home.run("keychain create locked --passcode file:passcode").status == .ok)
        #expect(home.run("create --keychain locked --passphrase file:phrase --to b").status == .locked)
        #expect(home.run("create --unencrypted --to b").status == .ok)
    }

    @Test("A folder that is not mounted is not taken for one that was emptied, by a rebuild either")
    func unmounted() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try FileManager.default.moveItem(atPath: home.path("b"), toPath: home.path("disk"))
        try Path.makeFolder(home.path("b"))
        #expect(home.run("list --rebuild b").status == .notFound)
        #expect(home.run("create --unencrypted --to b").status == .notFound)
        #expect(try archives().isEmpty)
    }

    @Test("A passcode is read once")
    func passcodeOnce() throws {
        try home.write("passcode", "walnut lantern\n")
        #expect(home.run("keychain create locked --passcode file:passcode").status == .ok)
        #expect(home.run("keygen -o key").status == .ok)
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        let passcode = "--passcode=cmd:echo walnut lantern; echo read >> '\(home.path("log"))'"
        let outcome = home.run(
            ["create", "--keychain", "locked", "-r", String(recipient), "--to", "b", passcode])
        #expect(outcome.status == .ok)
        #expect(try home.folder.read("work/log") == Array("read\n".utf8))
    }

    @Test("Archives that the catalogue does not know keep their keys, and rekey says so")
    func rekeyUnlisted() throws {
        try home.write("old", "correct horse battery\n")
        try home.write("new", "orbit lantern velvet\n")
        for _ in 0..<2 { #expect(home.run("create --passphrase file:old --to b").status == .ok) }
        let name = try archives()[0]
        let other = name.replacing("login-", with: "renamed-")
        try FileManager.default.moveItem(atPath: home.path("b/" + name), toPath: home.path("b/" + other))
        let outcome = home.run("rekey b --passphrase file:old --new-passphrase file:new")
        #expect(outcome.status == .incomplete && outcome.messages.contains(other))
    }
}
