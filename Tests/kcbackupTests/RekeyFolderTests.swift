import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("New keys for the archives of a folder")
struct RekeyFolderTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("import items.jsonl").status == .ok)
        for name in ["old.txt", "new.txt"] { #expect(home.run("keygen -o \(name)").status == .ok) }
    }

    private func archives() throws -> [String] {
        try Path.names(in: home.path("b")).filter { $0.hasSuffix(".kcb") }.sorted()
    }

    private func recipient(_ name: String) throws -> String {
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    private func identities(_ name: String) throws -> [NativeIdentity] {
        try IdentityFile.parse(SecretBytes(copying: home.folder.read("work/" + name))).identities
    }

    /// The file keys of both streams of each archive.
    private func fileKeys(_ paths: [String], _ identity: NativeIdentity) throws -> [[UInt8]] {
        try paths.flatMap { path in
            try ["metadata.jsonl.gz.age", "secrets.jsonl.gz.age"].map { name in
                try OpenedMember(name, ofArchiveAt: path, identity).fileKey.bytesForTest()
            }
        }
    }

    @Test("After a rekey from key to key, the old key opens no archive of the folder, and the new key opens each")
    func oldKey() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<2 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        #expect(home.run("rekey b -i old.txt -r \(new)").status == .ok)
        for name in try archives() {
            for verb in ["verify", "inspect", "restore --dry-run"] {
                #expect(home.run("\(verb) b/\(name) -i old.txt").status == .wrongKey)
                #expect(home.run("\(verb) b/\(name) -i new.txt").status == .ok)
            }
        }
        #expect(home.run("verify b -i old.txt").status == .incomplete)
        #expect(home.run("rekey b -i old.txt -r \(old)").status == .wrongKey)
    }

    @Test("Every archive of the folder that keeps its keys is named, whatever its name")
    func others() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        #expect(home.run("create -r \(old) --to b").status == .ok)
        #expect(home.run("create -r \(old) b/keep.kcb").status == .ok)
        let outcome = home.run("rekey b -i old.txt -r \(new)")
        #expect(outcome.status == .incomplete, "\(outcome.messages)")
        #expect(outcome.messages.contains("'b/keep.kcb' is not in the catalogue, and keeps the keys that it has"))
    }

    @Test("An archive that is missing, or is a link now, is named, and a link keeps the folder from its new keys")
    func absent() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let names = try archives()
        try FileManager.default.removeItem(atPath: home.path("b/\(names[0])"))
        let missing = home.run("rekey b -i old.txt -r \(new)")
        #expect(missing.status == .incomplete && missing.messages.contains(names[0]), "\(missing.messages)")
        #expect(home.run("verify b/\(names[2]) -i new.txt").status == .ok)
        try FileManager.default.moveItem(atPath: home.path("b/\(names[1])"), toPath: home.path("moved.kcb"))
        try FileManager.default.createSymbolicLink(
            atPath: home.path("b/\(names[1])"), withDestinationPath: "../moved.kcb")
        let link = home.run("rekey b -i new.txt -r \(old)")
        #expect(link.status != .ok && link.messages.contains(names[1]), "\(link.messages)")
        #expect(home.run("create -r \(old) --to b").status != .ok, "the folder has the new keys")
    }

    @Test("A folder of unencrypted archives is refused, as one of them is")
    func unencrypted() throws {
        #expect(home.run("create --unencrypted --to u").status == .ok)
        let outcome = home.run("rekey u -i old.txt -r \(try recipient("new.txt"))")
        #expect(outcome.status == .usage && outcome.messages.contains("'u' is unencrypted"), "\(outcome.messages)")
    }

    @Test("A rekey that ends early says how many archives have the new keys")
    func endsEarly() throws {
        try home.write("one", "correct horse battery")
        try home.write("two", "orbit lantern velvet")
        for (name, passphrase) in [("a", "one"), ("b", "two")] {
            #expect(home.run("create \(name).kcb --passphrase file:\(passphrase)").status == .ok)
        }
        let ended = home.run(
            ["rekey", "a.kcb", "b.kcb", "-r", try recipient("new.txt")],
            terminal: ScriptedTerminal(answers: ["correct horse battery"]))
        #expect(ended.status != .ok && ended.messages.contains("1 archive rekeyed"), "\(ended.messages)")
        #expect(home.run("verify a.kcb -i new.txt").status == .ok)
    }

    @Test("A rekey that was interrupted and goes on leaves no archive with a file key that another file ever had")
    func halfDone() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let paths = try archives().map { home.path("b/" + $0) }
        var fileKeys = try fileKeys(paths, #require(identities("old.txt").first))
        let newIdentity = try #require(identities("new.txt").first)
        // The state left by a run that was killed before the second archive.
        #expect(home.run("rekey \(paths[0]) -i old.txt -r \(new)").status == .ok)
        fileKeys += try self.fileKeys([paths[0]], newIdentity)
        // Both keys are given, so all archives get the new key, the first one for the second time.
        #expect(home.run("rekey b -i old.txt -i new.txt -r \(new)").status == .ok)
        fileKeys += try self.fileKeys(paths, newIdentity)
        #expect(fileKeys.count == 14 && Set(fileKeys).count == 14)
    }

    /// Makes two archives with the old key and rekeys them, and then puts the copy of the newest from before back.
    private func putBackOld() throws -> String {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<2 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let name = try #require(try archives().last)
        let copy = try home.folder.read("work/b/" + name)
        #expect(home.run("rekey b -i old.txt -r \(new)").status == .ok)
        try home.write("b/" + name, copy)
        return name
    }

    @Test("On a terminal, two keys of an archive do not look like one")
    func keysOnATerminal() throws {
        let keys = [try recipient("old.txt"), try recipient("new.txt")].sorted()
        #expect(home.run("create -r \(keys[0]) -r \(keys[1]) --to b").status == .ok)
        let terminal = ScriptedTerminal(answers: [], showsOutput: true)
        let text = home.run(["list", "--keys", "b"], terminal: terminal).text
        let heads = keys.map { $0.prefix(12) + "…" }.joined(separator: ", ")
        #expect(text.contains("2 keys: \(heads)\n"), "\(text)")
        #expect(home.run("list --keys b").text.contains("  \(keys.joined(separator: ", "))\n"))
    }

    @Test("A copy from before a rekey under the name of the archive is named by each verb that looks at the folder")
    func putBack() throws {
        let name = try putBackOld()
        #expect(home.run("list b --columns state").text == "STATE\nok\nreplaced\n")
        let list = home.run("list b --json")
        #expect(list.status == .ok && list.text.contains(#""state":"replaced""#))
        #expect(list.messages.contains("1 file in 'b' is not what was made under its name: 'kcbackup verify b'"))
        let keys = home.run("list --keys b")
        #expect(keys.status == .incomplete && keys.messages.contains("is not what was made under its name"))
        #expect(keys.text.contains("\(name)  ?\n"), "\(keys.text)")
        #expect(home.run("list --keys b -i old.txt -i new.txt").text.contains("\(name)  old.txt\n"))
        let status = home.run("status")
        #expect(status.status == .damaged && status.messages.contains("it has other keys"))
        let found = home.run("status --json").text
        #expect(found.contains(#""missing":[],"newestReplaced":[{"keychain":"login","file":"/"#))
        #expect(home.run("status --prometheus").text.contains(#"kcbackup_newest_missing{keychain="login"} 1"#))
        let verify = home.run("verify b")
        #expect(verify.status == .damaged && verify.messages.contains("rekey b/\(name) --identity OLD"))
        #expect(verify.messages.contains("it has other keys, as a copy from before a 'rekey' has"))
        let prune = home.run("prune b --keep-last 1")
        #expect(prune.status == .ok && prune.messages.contains("is not counted, and stays: it has other keys"))
        #expect(try archives().count == 2)
        let made = home.run("create -r \(try recipient("new.txt")) --to b --if-changed")
        #expect(try made.status == .ok && archives().count == 3)
    }

    @Test("An archive that is missing or damaged has no known keys")
    func keysOfLost() throws {
        let old = try recipient("old.txt")
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let names = try archives()
        try Path.remove(home.path("b/" + names[0]))
        try home.write("b/" + names[1], [1, 2, 3])
        let keys = home.run("list --keys b")
        #expect(keys.status == .incomplete)
        #expect(keys.text.contains("\(names[0])  ?\n\(names[1])  ?\n\(names[2])  age1"), "\(keys.text)")
        #expect(keys.messages.contains("\(names[0])' is in the catalogue, and its file is gone"))
        #expect(keys.messages.contains("\(names[1])' was intact when it was made, and is damaged now"))
        #expect(home.run("list --keys b -i old.txt").status == .incomplete)
    }

    @Test("A rekey of an archive copied back from the trash leaves what the catalogue knows in the trash")
    func copiedFromTrash() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<2 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        #expect(home.run("prune b --keep-last 1").status == .ok)
        let name = try #require(try Path.names(in: home.path("b/.trash")).first)
        try home.write("b/" + name, try home.folder.read("work/b/.trash/" + name))
        #expect(home.run("rekey b/\(name) -i old.txt -r \(new)").status == .ok)
        try Path.remove(home.path("b/" + name))
        #expect(home.run("prune b --undo").status == .ok)
        #expect(home.run("list --keys b").text.contains("\(name)  \(old)\n"))
        #expect(home.run("verify b/\(name) -i old.txt").status == .ok)
    }

    @Test("A copy from before a rekey does not count as rekeyed when neither key is given, and a rekey mends it")
    func rekeyedAgain() throws {
        let name = try putBackOld()
        let new = try recipient("new.txt")
        let refused = home.run("rekey b -i new.txt -r \(new)")
        #expect(refused.status == .wrongKey && refused.messages.contains(name))
        #expect(home.run("rekey b/\(name) -i old.txt -r \(new)").status == .ok)
        #expect(home.run("verify b -i new.txt").status == .ok)
        #expect(home.run("status").status == .ok)
        #expect(home.run("list b --columns state").text == "STATE\nok\nok\n")
    }

    @Test("A damaged archive fails a rekey of its folder, which then keeps its keys")
    func damaged() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<2 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let name = try #require(try archives().last)
        try home.write("b/" + name, Array(try home.folder.read("work/b/" + name).dropLast(512)))
        #expect(home.run("rekey b -i old.txt -r \(new)").status == .damaged)
        #expect(home.run("create -r \(old) --to b").status == .ok)
    }

    @Test("An archive that was rekeyed elsewhere counts once rebuilding has entered it and a key has opened it")
    func rebuilt() throws {
        let name = try putBackOld()
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("status").status == .ok)
        #expect(home.run("list --keys b").text.contains("\(name)  ?\n"))
        #expect(home.run("prune b --keep-last 1").messages.contains("was not read since the catalogue was rebuilt"))
        #expect(home.run("verify b/\(name) -i old.txt").status == .ok)
        let prune = home.run("prune b --keep-last 1")
        #expect(try prune.status == .ok && archives() == [name])
    }
}
