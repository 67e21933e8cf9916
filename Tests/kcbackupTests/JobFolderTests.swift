import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The folder of a job")
struct JobFolderTests {
    private let home: TestHome
    private let files = FileManager.default

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        for line in [
            "keychain create --no-passcode", "import items.jsonl", "schedule add x --unencrypted --to b", "run x",
        ] { #expect(home.run(line).status == .ok) }
    }

    private func archives(_ folder: String) throws -> Int {
        try Path.names(in: home.path(folder)).filter { $0.hasSuffix(".kcb") }.count
    }

    private func link(_ name: String, to target: String) throws {
        try files.createSymbolicLink(atPath: home.path(name), withDestinationPath: home.path(target))
    }

    /// Puts a link to another folder in the place of the folder.
    private func replaceFolder() throws {
        try files.moveItem(atPath: home.path("b"), toPath: home.path("disk"))
        try Path.makeFolder(home.path("stick"))
        try link("b", to: "stick")
    }

    @Test("A link to another folder in its place is refused, until it is allowed once")
    func replacedByLink() throws {
        try replaceFolder()
        for line in ["run x", "doctor"] {
            let refused = home.run(line)
            #expect(refused.status == .refused, "\(line)")
            let told = refused.messages + refused.text
            #expect(told.contains("b' leads to '\(home.path("stick"))', and led to '\(home.path("b"))' when job 'x'"))
        }
        #expect(try archives("stick") == 0)
        #expect(home.run("run x --change").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(try archives("stick") == 2)
        #expect(try archives("disk") == 1)
    }

    @Test("A link that leads to another backup folder is refused, although its backups are known")
    func replacedByKnownFolder() throws {
        #expect(home.run("create --unencrypted --to other").status == .ok)
        try files.moveItem(atPath: home.path("b"), toPath: home.path("disk"))
        try link("b", to: "other")
        #expect(home.run("run x").status == .refused)
        #expect(try archives("other") == 1)
    }

    @Test("A link to another backup folder that was allowed once is the folder, although nothing had changed")
    func allowedWithoutChange() throws {
        #expect(home.run("schedule add y --unencrypted --if-changed --to c").status == .ok)
        #expect(home.run("run y").status == .ok)
        #expect(home.run("create --unencrypted --to other").status == .ok)
        try files.moveItem(atPath: home.path("c"), toPath: home.path("disk"))
        try link("c", to: "other")
        #expect(home.run("run y").status == .refused)
        #expect(home.run("run y --change").status == .ok)
        #expect(try archives("other") == 1)
        #expect(home.run("run y").status == .ok)
        #expect(home.run("status").status == .ok)
    }

    @Test("A catalogue that was altered decides how 'status' ends, and is that of the folder of its job")
    func alteredCatalogue() throws {
        let folder = "home/.local/share/kcbackup/backups"
        let name = try #require(try Path.names(in: home.folder.path(folder)).first { $0.hasSuffix(".catalogue") })
        var bytes = try home.folder.read("\(folder)/\(name)")
        bytes[bytes.count - 2] ^= 1
        try home.folder.write("\(folder)/\(name)", bytes)
        for line in ["status", "status --json"] {
            let status = home.run(line)
            #expect(status.status == .damaged, "\(line)")
            #expect(status.messages.contains("the catalogue of the backups in '\(home.path("b"))'"), "\(line)")
        }
    }

    @Test("A link that was the folder from the start may lead to nothing for a while, and to no other folder")
    func linkFromTheStart() throws {
        try Path.makeFolder(home.path("disk"))
        try link("c", to: "disk")
        #expect(home.run("schedule add y --unencrypted --to c").status == .ok)
        #expect(home.run("run y").status == .ok)
        #expect(home.run("run y").status == .ok)
        try files.removeItem(atPath: home.path("c"))
        try link("c", to: "b")
        #expect(home.run("run y").status == .refused)
        try files.removeItem(atPath: home.path("c"))
        // As with a disk that is not mounted.
        try files.moveItem(atPath: home.path("disk"), toPath: home.path("away"))
        try link("c", to: "disk")
        let missing = home.run("run y")
        #expect(missing.status == .notFound && missing.messages.contains("does not exist"))
    }

    private func loseCatalogues() throws {
        let folder = "home/.local/share/kcbackup/backups"
        for name in try Path.names(in: home.folder.path(folder)) {
            try Path.remove(home.folder.path("\(folder)/\(name)"))
        }
    }

    @Test("After a rebuild, a loss stops a run as before, although nobody has read the archives yet")
    func lossAfterRebuild() throws {
        #expect(home.run("keygen -o key").status == .ok)
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = try #require(key.firstMatch(of: /age1\w+/)).0
        for number in 1..<10 { #expect(home.run("item add --service s\(number) --generate").status == .ok) }
        for line in [
            "schedule add y -r \(recipient) --to c", "schedule add z --all -r \(recipient) --to d", "run y", "run z",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        try loseCatalogues()
        let rebuilt = home.run("list --rebuild c")
        #expect(rebuilt.status == .ok)
        #expect(rebuilt.messages.contains("1 archive is entered unread"), "\(rebuilt.messages)")
        #expect(home.run("run y").status == .ok, "as many as its last run had")
        try loseCatalogues()
        for name in ["c", "d"] { #expect(home.run("list --rebuild \(name)").status == .ok) }
        for number in 1..<10 { #expect(home.run("item delete --service s\(number)").status == .ok) }
        let loss = "'login' has 1 item to back up, and the last backup had 10"
        let one = home.run("run y")
        #expect(one.status == .shrunk && one.messages.contains(loss), "\(one.messages)")
        let all = home.run("run z")
        #expect(all.status == .shrunk && all.messages.contains("could not be told"), "\(all.messages)")
        let doctor = home.run("doctor")
        #expect(doctor.text.contains("could not be told") && doctor.text.contains("'kcbackup run z --accept-shrink'"))
        #expect(home.run("create --all -r \(recipient) --to d").status == .shrunk)
        #expect(home.run("verify d -i key").status == .ok)
        let known = home.run("run z")
        #expect(known.status == .shrunk && known.messages.contains(loss), "\(known.messages)")
        #expect(!home.run("doctor").text.contains("could not be told"))
        for name in ["y", "z"] { #expect(home.run("run \(name) --accept-shrink").status == .ok) }
    }

    @Test("After a rebuild, a job of all keychains misses one that was deleted before, until that is accepted")
    func deletedBeforeRebuild() throws {
        for line in [
            "keychain create work --no-passcode", "schedule add y --all --unencrypted --to c", "run y",
            "keychain delete work --confirm work",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        try loseCatalogues()
        for folder in ["b", "c"] { #expect(home.run("list --rebuild \(folder)").status == .ok) }
        let missing = "keychain 'work' no longer exists, and there are backups of it here"
        #expect(home.run("doctor").text.contains(missing))
        for _ in 0..<2 {
            let gone = home.run("run y")
            #expect(gone.status == .shrunk && gone.messages.contains(missing), "\(gone.messages)")
        }
        #expect(try archives("c") == 4)
        // Of the old one, nothing but the name is known.
        for line in [
            "keychain create work --no-passcode", "run y", "keychain delete work --confirm work",
            "run y --accept-shrink", "run y",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
    }

    @Test("A folder where no backup of the job is known is refused after a good run, until it is allowed once")
    func lostCatalogue() throws {
        try loseCatalogues()
        for line in ["run x", "doctor"] {
            let refused = home.run(line)
            #expect(refused.status == .notFound, "\(line)")
            #expect((refused.messages + refused.text).contains("job 'x' had backups, and none of them is known in"))
            #expect(!(refused.messages + refused.text).contains("job 'x': job 'x'"))
        }
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(try archives("b") == 2)
    }

    @Test("A run whose rules meet a damaged archive says so, and removes nothing")
    func damagedBeforePruning() throws {
        #expect(home.run("schedule edit x --keep-last 1").status == .ok)
        let name = try #require(Path.names(in: home.path("b")).first { $0.hasSuffix(".kcb") })
        var bytes = try home.folder.read("work/b/\(name)")
        bytes[bytes.count / 2] ^= 1
        try home.write("b/\(name)", bytes)
        for count in 2...3 {
            let found = home.run("run x")
            #expect(found.status == .damaged && found.messages.contains(name), "\(found.messages)")
            #expect(try archives("b") == count)
        }
        try Path.remove(home.path("b/\(name)"))
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(try archives("b") == 1)
    }

    @Test("Doctor reports an empty mount point in the place of the folder, as the run does")
    func emptyMountPoint() throws {
        try files.moveItem(atPath: home.path("b"), toPath: home.path("disk"))
        try Path.makeFolder(home.path("b"))
        for line in ["run x", "doctor", "prune b --keep-last 1"] {
            let refused = home.run(line)
            #expect(refused.status == .notFound, "\(line)")
            #expect((refused.messages + refused.text).contains("has lost the backup that it held"), "\(line)")
        }
    }

    @Test("'create --to' refuses a link in the place of a folder with backups, until they are entered or left behind")
    func create() throws {
        try replaceFolder()
        let refused = home.run("create --unencrypted --to b")
        #expect(refused.status == .refused)
        #expect(
            refused.messages.contains(
                "'b' leads to '\(home.path("stick"))', where no backup is known, and 1 backup was made"))
        #expect(try archives("stick") == 0)
        #expect(home.run("create --unencrypted --to b --change").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        // The disk itself has what was made there, and takes it after it was entered.
        try files.removeItem(atPath: home.path("b"))
        try link("b", to: "disk")
        #expect(home.run("create --unencrypted --to b").status == .refused)
        #expect(home.run("list --rebuild b").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(try archives("disk") == 2)
    }

    @Test("After a run that was refused, archives that lack items are not removed either")
    func refusedAndIncomplete() throws {
        try home.write("../home/.ssh/id_rsa", "key")
        let name = (home.home + "/.ssh/").utf8CString.dropLast() + [CChar(bitPattern: 0xff), 0]
        #expect(unsafe mkfifo(Array(name), 0o600) == 0)
        #expect(home.run("schedule add all --home --unencrypted --to all").status == .ok)
        for _ in 0..<2 { #expect(home.run("run all").status == .incomplete) }
        #expect(home.run("schedule edit all --keep-last 1").status == .ok)
        #expect(home.run("item delete --service a").status == .ok)
        #expect(home.run("run all").status == .shrunk)
        let states = home.run("list all --columns state").text.split(separator: "\n")
        #expect(states.count { $0 == "incomplete" } == 3)
        #expect(states.count { $0 == "ok" } == 2)
    }
}
