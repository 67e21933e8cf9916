import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Damage and attacks in a backup folder")
struct FolderAttackTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("import items.jsonl").status == .ok)
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

    @Test("A corrupted archive does not count as kept when old ones are pruned")
    func prune() throws {
        for _ in 0..<3 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        let names = try archives()
        try rot(names[2])
        #expect(home.run("prune b --keep-last 1").status == .ok)
        #expect(try archives() == [names[1], names[2]])
    }

    @Test("A missing file of the newest backup is reported, that of an older one is not")
    func newestGone() throws {
        for _ in 0..<3 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        let names = try archives()
        try Path.remove(home.path("b/" + names[0]))
        #expect(home.run("status").status == .ok)
        try Path.remove(home.path("b/" + names[2]))
        let gone = home.run("status --max-age 1d")
        #expect(gone.status == .notFound)
        #expect(
            gone.messages.contains(/the newest backup of keychain 'login' in '.*' is gone: '/)
                && gone.messages.contains(names[2]))
        #expect(home.run("status --json").text.contains(#""missing":[{"keychain":"login","file":"/"#))
        #expect(home.run("status --prometheus").text.contains(#"kcbackup_newest_missing{keychain="login"} 1"#))
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("status").status == .ok)
    }

    @Test("A catalogue that was altered is in every form of the status")
    func alteredCatalogue() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(home.run("status --json").text.contains(#""unreadableCatalogues":[]"#))
        try changeCatalogue { $0[$0.count / 2] ^= 1 }
        for form in ["", "--json", "--prometheus"] {
            #expect(home.run("status \(form)").status == .damaged, "\(form)")
        }
        #expect(home.run("status --json").text.contains(#""unreadableCatalogues":[{"code":13,"#))
        #expect(home.run("status --prometheus").text.contains("kcbackup_unreadable_catalogues 1\n"))
    }

    @Test("A trash folder that is a symbolic link is refused, and nothing is moved there")
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

    @Test("An archive in the trash is not rekeyed, and is restored from it unchanged")
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
        "A file under the name of an archive in the trash is listed, and keeps undo from bringing back none but that one"
    )
    func nameOfTrashed() throws {
        for _ in 0..<3 { #expect(home.run("create --unencrypted --to b").status == .ok) }
        let names = try archives()
        #expect(home.run("prune b --keep-last 1").status == .ok)
        try home.write("b/" + names[0], [1, 2, 3])
        func states() -> [String] {
            home.run("list b --columns archive,state").text.split(separator: "\n").dropFirst().map(String.init)
        }
        let (first, second, last) = (names[0] + "  ", names[1] + "  ", names[2] + "  ")
        #expect(
            states() == [
                first + "no-archive", last + "ok", "in the trash:", first + "trashed", second + "trashed",
            ])
        let undone = home.run("prune b --undo --json")
        #expect(undone.status == .incomplete)
        #expect(
            undone.text.contains(#""broughtBack":["\#(names[1])"],"notBroughtBack":[{"file":"\#(names[0])","reason":""#)
        )
        #expect(
            undone.messages.contains("'\(names[0])' stays in the trash: ") && undone.messages.contains("exists already")
        )
        // Taken back by hand, which the next run enters.
        try Path.remove(home.path("b/" + names[0]))
        try Path.move(home.path("b/.trash/" + names[0]), to: home.path("b/" + names[0]))
        #expect(states() == [first + "ok", second + "ok", last + "ok"])
    }

    @Test(
        "An interrupted rekey is finished with the old and the new key, and asks for both if it has only the old one")
    func rekeyHalfDone() throws {
        #expect(home.run("keygen -o old.txt").status == .ok)
        #expect(home.run("keygen -o new.txt").status == .ok)
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let names = try archives()
        // The state left by a run that was killed before the second archive.
        #expect(home.run("rekey b/\(names[0]) -i old.txt -r \(new)").status == .ok)
        let again = home.run("rekey b -i old.txt -r \(new) -v")
        #expect(again.status == .ok)
        #expect(again.messages.contains("has these keys already") && again.messages.contains("rekeyed"))
        #expect(home.run("create -r \(new) --to b").status == .ok)
        // An archive that is not recorded as rekeyed cannot be distinguished from one that only another key opens.
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

    @Test("The error for a full disk names the trash that could be emptied")
    func fullDisk() {
        func hints(_ code: Int32, trash: String?) -> [String] {
            Failure(StreamFailure(.writing, .system(code))).blaming(trash: trash).explanation.hints
        }
        #expect(hints(ENOSPC, trash: "b/.trash").contains { $0.contains("'b/.trash'") })
        #expect(!hints(ENOSPC, trash: nil).contains { $0.contains("trash") })
        #expect(!hints(EIO, trash: "b/.trash").contains { $0.contains("trash") })
    }

    @Test("A corrupted backup is not a reason to skip a new one")
    func unchanged() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try rot(try archives()[0])
        #expect(home.run("create --unencrypted --to b --if-changed").status == .ok)
        #expect(try archives().count == 2)
    }

    @Test("An altered catalogue can be rebuilt, and hides no other folder in the status")
    func altered() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try changeCatalogue { $0[80] ^= 1 }
        #expect(home.run("create --unencrypted --to b").status == .damaged)
        #expect(home.run("create --unencrypted --to other").status == .ok)
        let status = home.run("status")
        #expect(status.status == .damaged)
        #expect(status.text.contains("login") && status.messages.contains("was changed since this device wrote it"))
        // Only the name of the catalogue's file is known, which is no folder.
        #expect(status.messages.contains("'kcbackup list --rebuild FOLDER' rebuilds it"), "\(status.messages)")
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(home.run("list b --columns state").text == "STATE\nok\nok\n")
    }

    @Test("With --all, a deleted or replaced keychain fails on its own, and the others are backed up")
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

    @Test("With --all, a keychain that was never backed up here may go, and another one may have its name")
    func goneWithoutBackup() throws {
        try home.write("passcode", "walnut lantern\n")
        try home.write("phrase", "correct horse battery\n")
        let create = "create --all --passphrase file:phrase --to b"
        for next in ["keychain list", "keychain create work --no-passcode"] {
            #expect(home.run("keychain create work --passcode file:passcode").status == .ok)
            #expect(home.run(create).status == .locked)
            #expect(home.run("keychain delete work --confirm work").status == .ok)
            #expect(home.run(next).status == .ok)
            let outcome = home.run(create)
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
        #expect(home.run("keychain delete work --confirm work").status == .ok)
        #expect(home.run(create).status == .shrunk)
    }

    @Test("A run that makes no archive does not pin the folder")
    func failedFirst() throws {
        try home.write("passcode", "walnut lantern\n")
        try home.write("phrase", "correct horse battery\n")
        #expect(home.run("keychain create locked --passcode file:passcode").status == .ok)
        #expect(home.run("create --keychain locked --passphrase file:phrase --to b").status == .locked)
        #expect(home.run("create --unencrypted --to b").status == .ok)
    }

    @Test("An unmounted folder is not mistaken for an emptied one, not even by a rebuild")
    func unmounted() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try FileManager.default.moveItem(atPath: home.path("b"), toPath: home.path("disk"))
        try Path.makeFolder(home.path("b"))
        #expect(home.run("list --rebuild b").status == .refused)
        #expect(home.run("create --unencrypted --to b").status == .notFound)
        #expect(try archives().isEmpty)
        #expect(home.run("status").status == .notFound)
    }

    @Test("A folder that was moved, emptied or removed for good is forgotten after a question, and status ends with 0")
    func forgotten() throws {
        #expect(home.run("create --unencrypted --to b").status == .ok)
        try FileManager.default.moveItem(atPath: home.path("b"), toPath: home.path("c"))
        #expect(home.run("list --rebuild c").status == .ok)
        let status = home.run("status")
        #expect(status.status == .notFound)
        #expect(
            status.messages.contains("'kcbackup list --rebuild \(home.path("b"))' forgets it"), "\(status.messages)")
        let refused = home.run("list --rebuild b")
        #expect(refused.status == .refused && refused.messages.contains("Forget the 1 backup that it held?"))
        let no = home.run(["list", "--rebuild", "b"], terminal: ScriptedTerminal(answers: ["n"]))
        #expect(no.status == .refused && home.run("status").status == .notFound)
        let yes = home.run(["list", "--rebuild", "b"], terminal: ScriptedTerminal(answers: ["y"]))
        #expect(yes.status == .ok && home.run("status").status == .ok, "\(yes.messages)")
        #expect(home.run("list --rebuild b --yes").status == .notFound)
        // Emptied, and with a foreign file in the place of the archives.
        for name in try FileManager.default.contentsOfDirectory(atPath: home.path("c")) {
            try home.write("c/\(name)", "x")
        }
        let lost = home.run("list --rebuild c --yes")
        #expect(lost.status == .ok && lost.messages.contains("it is damaged, or no archive"), "\(lost.messages)")
        #expect(home.run("status").status == .ok)
        // A catalogue that was changed is of no more use than none.
        #expect(home.run("create --unencrypted --to d").status == .ok)
        try FileManager.default.removeItem(atPath: home.path("d"))
        let catalogues = "home/.local/share/kcbackup/backups"
        for name in try FileManager.default.contentsOfDirectory(atPath: home.folder.path(catalogues))
        where name.hasSuffix(".catalogue") {
            try home.folder.write("\(catalogues)/\(name)", Array("x".utf8), mode: 0o600)
        }
        #expect(home.run("list --rebuild d --yes").status == .ok)
        #expect(home.run("list --yes c").status == .usage)
    }

    @Test("An entry of a file that cannot be read is named once, in a folder of backups or not")
    func namedOnce() throws {
        try home.write(
            "netrc",
            "machine g login \(String(repeating: "x", count: 70_000)) password h\nmachine a login b password c\n")
        try home.write("phrase", "correct horse battery\n")
        for target in ["--to f", "f.kcb"] {
            let outcome = home.run("create --keychain file:netrc --passphrase file:phrase \(target)")
            #expect(outcome.status == .incomplete)
            #expect(outcome.messages.components(separatedBy: "warning: ").count == 2, "\(outcome.messages)")
        }
    }

    @Test("A rebuild names what it leaves out, and why")
    func leftOut() throws {
        #expect(home.run("create --unencrypted mine.kcb").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        let name = try #require(try archives().first)
        let other = try TestHome()
        #expect(other.run("keychain create --no-passcode").status == .ok)
        #expect(other.run("create --unencrypted --to b").status == .ok)
        let foreign = try #require(try Path.names(in: other.path("b")).first { $0.hasSuffix(".kcb") })
        try home.write("b/\(foreign)", try other.folder.read("work/b/\(foreign)"))
        try home.write("b/mine.kcb", try home.folder.read("work/mine.kcb"))
        try home.write("b/x-\(name.drop { $0 != "-" }.dropFirst())", "no archive")
        let outcome = home.run("list --rebuild b")
        #expect(outcome.status == .ok)
        for line in [
            "'mine.kcb' is left out: its name is not one that 'create --to' gives",
            "'\(foreign)' is left out: another device signed it", "is left out: it is damaged, or no archive",
        ] {
            #expect(
                outcome.messages.contains("kcbackup: warning: \(line)\n") || outcome.messages.contains(line), "\(line)")
        }
        #expect(outcome.messages.components(separatedBy: "is left out").count == 4, "\(outcome.messages)")
    }

    @Test("A passcode is read only once")
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

    @Test("Archives that are not in the catalogue keep their keys, and rekey says so")
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
