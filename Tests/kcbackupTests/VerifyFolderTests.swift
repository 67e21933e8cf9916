import ArgumentParser
import Foundation
import KCBackupTasks
import KCByteStreams
import KCKeychainModel
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Verifying backup folders, and trials", .waitsForPrograms)
struct VerifyFolderTests {
    private let home: TestHome

    /// Makes a keychain with two archives in a folder, the second with one item more.
    init() throws {
        home = try TestHome()
        try home.write("passphrase", "correct horse battery\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        for line in [
            "keychain create --no-passcode", "import items.jsonl",
            "create --passphrase file:passphrase --to b", "item add --service b --account c --generate",
            "create --passphrase file:passphrase --to b",
        ] { #expect(home.run(line).status == .ok) }
    }

    private func names() throws -> [String] {
        try Path.names(in: home.path("b")).filter { $0.hasSuffix(".kcb") }.sorted()
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func times(_ member: String) throws -> [String?] {
        let json = try JSONSerialization.jsonObject(with: Data(home.run("list b --json").text.utf8))
        let backups = try #require((json as? [String: Any])?["backups"] as? [[String: Any]])
        return backups.map { $0[member] as? String }
    }

    @Test("A missing archive file is an error of its own, and the other archives are verified")
    func missing() throws {
        let names = try names()
        try Path.remove(home.path("b/" + names[0]))
        let outcome = home.run("verify b -v")
        #expect(outcome.status == .notFound)
        #expect(outcome.messages.contains("'b/\(names[0])' is in the catalogue, and its file is gone"))
        #expect(outcome.text.contains("b/\(names[1]): genuine"))
        try Path.remove(home.path("b/" + names[1]))
        let empty = home.run("verify b")
        #expect(empty.status == .notFound)
        #expect(empty.messages.contains("'b' has lost all 2 backups that it held"))
        try FileManager.default.removeItem(atPath: home.path("b"))
        #expect(home.run("verify b").messages.contains("'b' has lost all 2 backups that it held"))
    }

    @Test("An archive under another's name is not taken for it", arguments: ["", "--passphrase file:passphrase"])
    func swapped(key: String) throws {
        let names = try names()
        try home.write("b/" + names[1], try home.folder.read("work/b/" + names[0]))
        let outcome = home.run("verify b \(key)")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("'b/\(names[1])' is not the archive that was made under this name"))
        #expect(outcome.messages.split(separator: "\n").count == 2)
        #expect(home.run("verify b/\(names[1]) --outside").status == .damaged)
        #expect(home.run("verify b/\(names[0]) --outside").status == .ok)
    }

    @Test("An archive that another device signed is not the recorded one")
    func foreignSigner() throws {
        let other = try TestHome()
        try other.write("passphrase", "correct horse battery\n")
        #expect(other.run("keychain create --no-passcode").status == .ok)
        #expect(other.run("create x.kcb --passphrase file:passphrase").status == .ok)
        try home.write("b/" + names()[0], try other.folder.read("work/x.kcb"))
        let outcome = home.run("verify b")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("another device signed it"))
    }

    @Test("A corrupted archive is damaged and not recorded as verified; an intact one is recorded")
    func rot() throws {
        let names = try names()
        let before = try times("verified")
        var bytes = try home.folder.read("work/b/" + names[0])
        bytes[bytes.count / 2] ^= 1
        try home.write("b/" + names[0], bytes)
        #expect(home.run("verify b").status == .damaged)
        let after = try times("verified")
        #expect(after[0] == nil)
        #expect(after[1] != before[1] && after[1] != nil)
    }

    @Test("Damage that verify found is told by list and status, until verify finds the archive intact")
    func foundDamage() throws {
        let newest = try #require(try names().last)
        let whole = try home.folder.read("work/b/" + newest)
        // The last byte of the secrets, which are before the list of checksums.
        let sums = try #require(
            stride(from: 0, to: whole.count, by: 512).first { whole[$0...].starts(with: "SHA256SUMS\0".utf8) })
        var bytes = whole
        bytes[try #require(whole[..<sums].lastIndex { $0 != 0 })] ^= 1
        try home.write("b/" + newest, bytes)
        #expect(home.run("status --max-age 26h").status == .ok)
        #expect(home.run("verify b").status == .damaged)
        #expect(try times("state") == ["ok", "damaged"])
        let status = home.run("status --max-age 26h")
        #expect(status.status == .damaged && status.messages.contains(newest), "\(status.messages)")
        try home.write("b/" + newest, whole)
        #expect(try times("state") == ["ok", "damaged"])
        #expect(home.run("verify b").status == .ok)
        #expect(try times("state") == ["ok", "ok"])
        #expect(home.run("status --max-age 26h").status == .ok)
    }

    @Test("Files that are not archives are errors, and a pipe is not waited for")
    func strangers() throws {
        try home.write("b/stray.kcb", "no archive")
        #expect(try ExternalProgram.run("mkfifo", [home.path("b/pipe.kcb")]).status == 0)
        let outcome = home.run("verify b")
        #expect(outcome.status != .ok)
        #expect(outcome.messages.contains("'b/stray.kcb' is not a kcbackup archive"))
        #expect(outcome.messages.contains("pipe.kcb"))
    }

    @Test("A folder of another device is verified without a catalogue, even if others can write to it")
    func foreignFolder() throws {
        let other = try TestHome()
        try Path.makeFolder(other.path("copy"))
        for name in try names() { try other.write("copy/" + name, try home.folder.read("work/b/" + name)) }
        try setMode(0o777, of: other.path("copy"))
        let outcome = other.run("verify copy -v")
        #expect(outcome.status == .ok)
        #expect(outcome.text.contains("origin: unknown"))
        #expect(outcome.messages == "2 archives: 2 intact\n")
    }

    @Test("A folder that others can write to is verified, and a message says that this is not recorded")
    func sharedFolder() throws {
        try setMode(0o777, of: home.path("b"))
        let outcome = home.run("verify b")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("is not noted"))
        try setMode(0o700, of: home.path("b"))
        #expect(home.run("verify b").messages.isEmpty)
    }

    @Test("An altered catalogue is an error, and the archives are verified nevertheless")
    func alteredCatalogue() throws {
        let folder = home.world().machine.catalogues
        let name = try #require(try Path.names(in: folder).first { $0.hasSuffix(".catalogue") })
        try PrivateFile.replace(folder + "/" + name, Array("{}\n".utf8).span)
        let outcome = home.run("verify b -v")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("was changed since this device wrote it"))
        #expect(try names().allSatisfy { outcome.text.contains("b/\($0): genuine") })
    }

    @Test("An archive that is pruned before its turn is not an error")
    func pruned() throws {
        let context = Session(home.world(), OutputStyle()).context
        let archives = PlacedArchive.all(at: ["b"], in: context)
        #expect(archives.count == 2)
        #expect(home.run("prune b --keep-last 1").status == .ok)
        let verification = Verification(VerifyRequest(depth: .outside), in: context)
        let isGone = if case .gone = try verification.verify(archives[0]) { true } else { false }
        let isThere = if case .outside = try verification.verify(archives[1]) { true } else { false }
        #expect(isGone && isThere)
    }

    @Test("A trial leaves nothing behind, and removes what a killed one left")
    func leavesNothing() throws {
        let data = home.world().machine.dataFolder.path
        let before = try Path.names(in: data).sorted()
        let old = data + "/.restoring-left000000000"
        try Path.makeFolder(old)
        try PrivateFile.replace(old + "/trial.keychain", Array("x".utf8).span)
        #expect(home.run("verify --drill b --passphrase file:passphrase").status == .ok)
        #expect(try Path.names(in: data).sorted() == before)
        #expect(home.run("verify --drill b").status == .wrongKey)
        #expect(try Path.names(in: data).sorted() == before)
    }

    @Test("A trial while the clock was fast does not keep doctor from asking for one after three months")
    func fastTrial() throws {
        for line in ["schedule add j --passphrase file:passphrase --to b", "run j"] {
            #expect(home.run(line).status == .ok, "\(line)")
        }
        home.pass(hours: 24 * 4_000)
        #expect(home.run("verify --drill b --passphrase file:passphrase").status == .ok)
        home.pass(hours: -24 * 4_000)
        #expect(home.run("doctor").status == .ok)
        home.pass(hours: 24 * 91)
        let doctor = home.run("doctor")
        #expect(doctor.status == .stale && doctor.text.contains("verify --drill"), "\(doctor.text)")
    }

    @Test("A trial is recorded, and doctor asks for one after three months without, even if its archive is gone")
    func doctor() throws {
        for line in [
            "schedule add j --passphrase file:passphrase --to b", "run j", "doctor",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        func wait(days: Int) { for _ in 0..<(days * 24 * 60) { _ = home.nextTime() } }
        wait(days: 91)
        let stale = home.run("doctor")
        #expect(stale.status == .stale)
        let command = try #require(stale.text.firstMatch(of: /'kcbackup (verify --drill [^ ]+) -i FILE'/)).1
        #expect(home.run("\(command) --passphrase file:passphrase").status == .ok)
        #expect(home.run("doctor").status == .ok)
        #expect(try times("drilled").compactMap(\.self).count == 1)
        for line in ["run j", "prune b --keep-last 1"] { #expect(home.run(line).status == .ok) }
        for days in [1, 30, 1] {
            wait(days: days)
            #expect(home.run("prune b --keep-last 1").status == .ok)
        }
        #expect(try times("drilled").compactMap(\.self).isEmpty)
        #expect(home.run("doctor").status == .ok)
        wait(days: 60)
        #expect(home.run("doctor").status == .stale)
    }

    @Test("An inspect key is not enough for a trial")
    func inspectKey() throws {
        func recipient(_ name: String) throws -> Substring {
            #expect(home.run("keygen -o \(name)").status == .ok)
            let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
            return try #require(text.firstMatch(of: /age1\w+/)).0
        }
        let (restores, inspects) = (try recipient("restore-key"), try recipient("inspect-key"))
        #expect(home.run("create x.kcb -r \(restores) --inspect-recipient \(inspects)").status == .ok)
        #expect(home.run("verify --drill x.kcb -i inspect-key").status == .wrongKey)
        #expect(home.run("verify --drill x.kcb -i restore-key").status == .ok)
    }
}
