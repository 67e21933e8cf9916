import Foundation
import KCAgeEncryption
import KCByteStreams
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What is found out before a file is protected or decrypted", .waitsForPrograms, .serialized)
struct ProtectionPlanTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        for (name, text) in [
            ("passcode", "walnut lantern"), ("other", "orbit lantern velvet"), ("a", "one"), ("b", "two"),
        ] {
            try home.write(name, text + "\n")
        }
        for line in ["keychain create --passcode file:passcode", "keychain create work --passcode file:other"] {
            #expect(home.run(line).status == .ok)
        }
    }

    private func expect(_ line: String, _ status: KCTerminal.ExitStatus = .ok, says words: String = "") {
        let outcome = home.run(line)
        #expect(outcome.status == status, "\(line): \(outcome.messages)")
        #expect(words.isEmpty || outcome.messages.contains(words), "\(line): \(outcome.messages)")
    }

    private func files(_ names: String...) throws -> [Bool] { try names.map { try Path.exists(home.path($0)) } }

    @Test("A command that is repeated goes on after what an earlier run has done, with the same key alone")
    func repeated() throws {
        try home.write("c", "three\n")
        expect("protect a --class none")
        expect("protect a b c --class complete --passcode file:passcode", .exists, says: "a.age' is protected already")
        let other = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
        expect("protect a b --class none --also-to \(other)", .exists, says: "a.age' is protected already")
        #expect(try files("b", "c") == [true, true])
        let planned = home.run("protect a b c --class none --dry-run").text.split(separator: "\n")
        #expect(
            planned.map { $0.prefix { $0 != ":" } } == ["was protected", "would be protected", "would be protected"])
        expect("protect a b c --class none")
        expect("protect a b c --class none")
        #expect(try files("a", "b", "c", "a.age", "b.age", "c.age") == [false, false, false, true, true, true])
        for name in ["a", "b", "c"] { expect("unprotect \(name).age") }
        // Another file of that name is not what 'protect' has made.
        #expect(try files("a") == [true])
        try FileManager.default.moveItem(atPath: home.path("a"), toPath: home.path("d.age"))
        expect("protect d b --class none", .notFound)
    }

    @Test("If one of two keychains does not open, no file is decrypted, in whatever order they are given")
    func twoKeychains() throws {
        expect("protect a --class complete --passcode file:passcode")
        expect("protect b --class complete --keychain work --passcode file:other")
        expect("keychain lock")
        expect("keychain lock work")
        for option in [" --dry-run", ""] {
            expect("unprotect a.age b.age --passcode file:passcode\(option)", .usage, says: "and a passcode is of one")
            for order in ["a.age b.age", "b.age a.age"] {
                expect(
                    "unprotect \(order) --keychain work --passcode file:other\(option)", .locked,
                    says: "keychain 'login' is locked")
            }
        }
        // A passcode is no remedy for a keychain that it would not be tried on.
        let hint = "'--passcode SOURCE' opens it"
        for words in ["a.age --keychain work", "a.age b.age --keychain work --passcode file:other", "a.age b.age"] {
            let outcome = home.run("unprotect \(words)")
            #expect(outcome.status == .locked && outcome.messages.contains("'login' is locked"), "\(outcome.messages)")
            #expect(outcome.messages.contains("'kcbackup keychain unlock login'"), "\(words): \(outcome.messages)")
            #expect(!outcome.messages.contains(hint), "\(words): \(outcome.messages)")
        }
        for words in ["a.age", "a.age --keychain login", "b.age --keychain work"] {
            expect("unprotect \(words)", .locked, says: hint)
        }
        // A passcode is tried on the keychain that it was given for alone.
        #expect(try [home.wrongPasscodes("login"), home.wrongPasscodes("work")] == [0, 0])
        #expect(try files("a", "b", "a.age", "b.age") == [false, false, true, true])
    }

    @Test("A dry run says that the keychain cannot take the key that the first file needs, as the run does")
    func keychainNotPermitted() throws {
        let line = "protect a --class complete --passcode file:passcode"
        let folder = home.home + "/.local/share/kcbackup/keychains"
        try FileMark.immutable.on(folder) { expect(line + " --dry-run", .io) }
        try FileMark.immutable.on(folder + "/login.keychain") {
            for option in [" --dry-run", ""] { expect(line + option, .io) }
        }
        expect(line)
        // The keys are there now.
        try FileMark.immutable.on(folder + "/login.keychain") { expect("protect b --class unless-open --dry-run") }
    }

    @Test(
        "A dry run of a user who may only read the keychain says that it cannot be written, as the run does",
        .enabled(if: geteuid() == 0, "becoming another user takes root"))
    func keychainOnlyReadable() throws {
        let folder = try TemporaryFolder()
        let script = """
            set -eu
            chmod 711 .
            install -m 755 "$program" "${program%/*}/kcbackup-protect" .
            mkdir -m 700 home
            echo one > home/a
            chown -R 64321 home
            own() { HOME=$PWD/home setpriv --reuid=64321 --clear-groups ./kcbackup "$@" 2>&1 || echo "ended with $?"; }
            own keychain create --no-passcode -q
            chmod 400 home/.local/share/kcbackup/keychains/login.keychain
            own protect home/a --class complete --dry-run
            own protect home/a --class complete
            """
        let environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "program": try ExternalProgram.built("kcbackup"),
        ]
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
        for words in ["keychain 'login' cannot be written; nothing was changed\n", "ended with 74\n"] {
            #expect(outcome.text.ranges(of: words).count == 2, "\(outcome.text)\(outcome.errorText)")
        }
    }

    @Test("A file whose key does not fit changes none before it")
    func otherKey() throws {
        expect("protect a b --class none")
        var bytes = try home.folder.read("work/b.age")
        // The share of the first stanza, which then no key opens.
        let share = try #require(String(decoding: bytes, as: UTF8.self).firstRange(of: "-> X25519 "))
        let offset = String(decoding: bytes, as: UTF8.self)[..<share.upperBound].utf8.count
        bytes[offset] = bytes[offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        try home.write("b.age", bytes)
        #expect(home.run("unprotect a.age b.age").status != .ok)
        #expect(try files("a", "a.age") == [false, true])
    }

    @Test("A dry run tries the passcode that it is given")
    func passcodeOfDryRun() throws {
        for option in [" --dry-run", ""] {
            expect("protect a --class complete --passcode file:other\(option)", .wrongKey)
            expect("protect a --class complete --passcode file:none\(option)", .notFound)
        }
        expect("protect a --class complete --passcode file:passcode --dry-run")
        expect("protect a --class complete --passcode file:passcode")
        for option in [" --dry-run", ""] {
            expect("unprotect a.age --passcode file:other\(option)", .wrongKey)
            expect("unprotect a.age\(option)", .locked)
        }
        expect("unprotect a.age --passcode file:passcode --dry-run")
        #expect(try files("a", "a.age") == [false, true])
    }

    @Test("A file or a folder that takes no change is refused before one is changed", arguments: FileMark.allCases)
    func keptFromChanges(_ mark: FileMark) throws {
        let folder = home.path("kept")
        try home.write("kept/c", "three\n")
        func refused(_ line: String) {
            for option in [" --dry-run", ""] { expect(line + option, .io, says: "permission denied") }
        }
        for kept in ["\(folder)/c", folder] {
            try mark.on(kept) {
                refused("protect a kept/c --class none")
                let found = try files("a", "a.age", "kept/c")
                #expect(found == [true, false, true])
            }
        }
        expect("protect a kept/c --class none")
        try mark.on("\(folder)/c.age") {
            refused("unprotect a.age kept/c.age")
            let found = try files("a", "a.age", "kept/c", "kept/c.age")
            #expect(found == [false, true, false, true])
        }
    }

    @Test("A file whose key is in a keychain that does not open names the keychain, and how to get the key back")
    func unopenedKeychain() throws {
        expect("protect a --class complete --keychain work --passcode file:other")
        expect("protect b --class none")
        let keychain = home.home + "/.local/share/kcbackup/keychains/work.keychain"
        let whole = try Data(contentsOf: URL(filePath: keychain))
        try Data("no database".utf8).write(to: URL(filePath: keychain))
        for line in ["unprotect a.age", "protect status a.age"] {
            expect(line, .damaged, says: "keychain 'work' is not a kcbackup keychain")
        }
        let known = home.run("protect status a.age b.age")
        #expect(known.status == .damaged)
        #expect(known.text.contains(/a\.age.* not known: a keychain does not open\n.*b\.age.* can be opened\n/))
        let json = home.run("protect status a.age b.age --json")
        #expect(json.status == .damaged && json.messages.contains("keychain 'work' is not"), "\(json.messages)")
        #expect(
            json.text.contains(
                /a\.age","state":"unknown","error":\{"code":13,.*'work'.*"state":"open","class":"none"\}\]\}\n$/),
            "\(json.text)")
        // Naming the damaged keychain changes nothing.
        let named = home.run("protect status a.age b.age --keychain work")
        #expect(named.status == .damaged && named.text == known.text && named.messages == known.messages)
        let unneeded = home.run("protect status b.age --keychain work --json")
        #expect(unneeded.status == .damaged && unneeded.messages == known.messages, "\(unneeded.messages)")
        #expect(
            unneeded.text.contains(/b\.age","state":"open","class":"none"\}\],"error":\{"code":13,/),
            "\(unneeded.text)")
        expect("unprotect b.age --keychain work", .damaged, says: "keychain 'work' is not a kcbackup keychain")
        try whole.write(to: URL(filePath: keychain))
        expect("device export -o old.age --passphrase file:passcode")
        expect("device adopt --new-key")
        for line in ["unprotect a.age", "protect status a.age"] {
            let outcome = home.run(line)
            #expect(outcome.status == .refused, "\(outcome.messages)")
            #expect(outcome.messages.contains("keychain 'login' belongs to device"), "\(outcome.messages)")
            #expect(outcome.messages.contains("device import"), "\(outcome.messages)")
        }
        for name in ["login", "work"] { expect("keychain delete \(name) --confirm \(name)") }
        expect("unprotect b.age", .wrongKey, says: "'kcbackup device import FILE'")
    }

    @Test("A dry run meets what the run would meet")
    func dryRun() throws {
        let log = try #require(FileHandle(forWritingAtPath: home.path("a")))
        for option in [" --dry-run", ""] {
            expect("protect a --class none\(option)", .busy, says: "open for writing")
            expect("protect b b --class none\(option)", .usage, says: "is given twice")
        }
        try log.close()
        try home.write("a.age", "taken")
        for option in [" --dry-run", ""] {
            expect("protect b a --class none\(option)", .exists, says: "is the name that the file would get")
        }
        try FileManager.default.removeItem(atPath: home.path("a.age"))
        expect("protect a b --class none")
        try home.write("b", String(repeating: "long", count: 1_000))
        for option in [" --dry-run", ""] {
            expect("unprotect a.age b.age\(option)", .exists, says: "is the name that the file would get")
        }
        #expect(try files("a", "b", "a.age", "b.age") == [false, true, true, true])
    }

    @Test("A clear name that is taken stops the command before a file is changed, unless the contents are the same")
    func takenName() throws {
        expect("protect a b --class none")
        try home.write("b", "else\n")
        for option in [" --dry-run", ""] {
            expect("unprotect a.age b.age\(option)", .exists, says: "is the name that the file would get")
        }
        #expect(try files("a", "b", "a.age", "b.age") == [false, true, true, true])
        // As a killed run leaves it.
        try home.write("b", "two\n")
        expect("unprotect a.age b.age --dry-run")
        #expect(try files("a", "b", "a.age", "b.age") == [false, true, true, true])
        expect("unprotect a.age b.age")
        #expect(try files("a", "b", "a.age", "b.age") == [true, true, false, false])
    }

    @Test("A further key that cannot share the file is refused by a dry run too")
    func strengths() throws {
        expect("keygen --post-quantum -o pq.txt")
        let text = String(decoding: try home.folder.read("work/pq.txt"), as: UTF8.self)
        let recipient = String(try #require(text.firstMatch(of: /age1pq1\w+/)).0)
        for option in [" --dry-run", ""] {
            expect(
                "protect a --class none --also-to \(recipient)\(option)", .usage,
                says: "post-quantum recipients cannot share a file with others")
        }
        #expect(try files("a", "a.age") == [true, false])
    }

    @Test("An empty name is none of a file")
    func emptyName() {
        for verb in [["protect", "--class", "none"], ["protect", "status"], ["unprotect"]] {
            let outcome = home.run(verb + [""])
            #expect(outcome.status == .usage, "\(verb)")
            #expect(outcome.messages.contains("the name of the file is empty"), "\(outcome.messages)")
        }
    }

    @Test("A name is escaped once in a table")
    func escapedOnce() throws {
        try home.write("b\\c", "three\n")
        #expect(home.run(["protect", "b\\c", "--class", "none"]).status == .ok)
        let table = home.run(["protect", "status", "b\\c.age"]).text
        #expect(table.contains("/b\\\\c.age ") && !table.contains("\\\\\\"), "\(table)")
    }

    @Test("A keychain is not encrypted, wherever it is and whatever its name")
    func keychains() throws {
        expect("keychain create ./n.keychain --no-passcode")
        try FileManager.default.copyItem(atPath: home.path("n.keychain"), toPath: home.path("copy"))
        for name in ["n.keychain", "copy"] {
            for option in [" --dry-run", ""] {
                expect("protect a \(name) --class none\(option)", .refused, says: "is a file of kcbackup")
            }
        }
        #expect(try files("a", "n.keychain", "copy") == [true, true, true])
        expect("item list --keychain ./n.keychain")
    }

    @Test("A file that lacks only its name keeps its keys, so other ones are refused")
    func otherwise() throws {
        expect("keygen -o key.txt")
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        expect("protect a --class none")
        try FileManager.default.moveItem(atPath: home.path("a.age"), toPath: home.path("a"))
        for words in [
            "--class complete --passcode file:passcode", "--class none --also-to \(recipient)",
            "--class complete --passcode file:passcode --also-to \(recipient)",
        ] {
            for option in [" --dry-run", ""] {
                expect("protect b a \(words)\(option)", .exists, says: "with the class 'none', and lacks only its")
            }
        }
        #expect(try files("a", "b", "a.age", "b.age") == [true, true, false, false])
        expect("protect a b --class none")
        #expect(try files("a", "b", "a.age", "b.age") == [false, false, true, true])
        expect("unprotect a.age")
        expect("protect a --class complete --keychain work --passcode file:other")
        try FileManager.default.moveItem(atPath: home.path("a.age"), toPath: home.path("a"))
        expect(
            "protect a --class complete --passcode file:passcode", .exists, says: "--class complete --keychain work'")
        expect("protect a --class complete --keychain work --passcode file:other")
    }

    @Test("A public key that is given twice is one")
    func once() throws {
        expect("keygen -o key.txt")
        expect("keygen -o key.txt", .exists, says: "choose another name: if that file is a key")
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        try home.write("keys.txt", "# mine\n\(recipient)\n\(recipient)\n")
        func stanzas(_ name: String) throws -> Int {
            String(decoding: try home.folder.read("work/" + name), as: UTF8.self).split(separator: "-> X25519").count
                - 1
        }
        expect("protect a --class none --also-to \(recipient) --also-to \(recipient)")
        #expect(try stanzas("a.age") == 2)
        expect("device export -o device.age -R keys.txt -r \(recipient)")
        #expect(try stanzas("device.age") == 1)
    }

    @Test("An archive for the key of this device alone says that no other opens it")
    func aloneHere() throws {
        let identity = home.run("protect identity --class none")
        let recipient = String(try #require(identity.text.firstMatch(of: /age1\w+/)).0)
        expect("item add --service x --secret file:a --passcode file:passcode")
        let made = home.run("create a.kcb --keychain login -r \(recipient) --passcode file:passcode -v")
        #expect(
            made.messages.contains("opens on this device alone, since no other has a key of it"), "\(made.messages)")
        #expect(!made.messages.contains("on any device"))
        // As the plugin finds it.
        let key = try home.world().machine.deviceFileIdentity()
        try home.write("own.txt", IdentityFile.text(of: .x25519(key), comments: []).bytesForTest())
        let seen = home.run("inspect a.kcb -i own.txt")
        #expect(seen.text.contains("1 public key, of this device alone"), "\(seen.text) \(seen.messages)")
        expect("inspect a.kcb -i own.txt --html a.html")
        let page = String(decoding: try home.folder.read("work/a.html"), as: UTF8.self)
        #expect(
            page.contains("Only the device that made it has a key of it.") && !page.contains("Every item.</b> None"))
        expect("keygen -o key.txt")
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let other = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        expect(
            "create b.kcb --keychain login -r \(recipient) -r \(other) --passcode file:passcode -v",
            says: "all of it restores on any device that has one of the keys")
        expect(
            "schedule add nightly --keychain login --to folder -r \(recipient) --passcode file:passcode",
            says: "the archive opens on this device alone")
    }

    @Test("An archive for a key that may be of a locked keychain is not said to restore everywhere")
    func perhapsAloneHere() throws {
        let identity = home.run("protect identity --class complete --passcode file:passcode")
        let recipient = String(try #require(identity.text.firstMatch(of: /age1\w+/)).0)
        expect("keychain lock")
        try home.write("items.jsonl", Array(#"{"class":"genp","attributes":{"svce":"x"},"secret":"y"}"#.utf8))
        let words = "all of it restores on any device"
        expect("create a.kcb --keychain file:items.jsonl -r \(recipient) -v", says: "\(words) that has the key")
        // The keychain of the key is none of those that are searched.
        expect("keychain lock")
        expect("create b.kcb --keychain file:items.jsonl -r \(recipient) --passphrase file:a -v", says: "\(words)\n")
        expect("inspect b.kcb --passphrase file:a --html b.html")
        #expect(try page("b.html").contains("Every item.</b> None"))
        expect("keygen -o key.txt")
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let other = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        expect("create c.kcb --keychain file:items.jsonl -r \(other) -v", says: "\(words) that has the key")
        expect("inspect c.kcb -i key.txt --html c.html")
        #expect(try page("c.html").contains("Every item, if it has the key.</b> None"))
        // No archive tells that one of its keys is that of a kit, which can be typed anywhere.
        expect("recovery make -o kit.txt")
        let create = "create d.kcb --keychain file:items.jsonl -r \(other) -v"
        expect(create, says: "\(words) that has one of the keys")
        expect("inspect d.kcb -i key.txt --html d.html")
        #expect(try page("d.html").contains("Every item, if it has one of the keys.</b> None"))
    }

    @Test("An archive for an earlier key of an unlocked keychain is said to open on this device alone")
    func earlierKey() throws {
        let identity = home.run("protect identity --class complete --passcode file:passcode")
        let recipient = String(try #require(identity.text.firstMatch(of: /age1\w+/)).0)
        expect("keychain set-passcode --passcode file:passcode --new-passcode file:other --yes")
        try home.write("items.jsonl", Array(#"{"class":"genp","attributes":{"svce":"x"},"secret":"y"}"#.utf8))
        func create(_ name: String) -> String { "create \(name) --keychain file:items.jsonl -r \(recipient) -v" }
        expect("keychain unlock --passcode file:other")
        expect(create("a.kcb"), says: "opens on this device alone, since no other has a key of it")
        expect("keychain lock")
        expect(create("b.kcb"), says: "all of it restores on any device that has the key")
    }

    private func page(_ name: String) throws -> String {
        String(decoding: try home.folder.read("work/\(name)"), as: UTF8.self)
    }

    @Test("What is bound to the key of this device is named before it gets another one")
    func newKey() {
        expect("schedule add nightly --keychain login --to folder --unencrypted")
        let outcome = home.run("device adopt --new-key")
        #expect(outcome.status == .ok)
        for words in [
            "files that 'kcbackup protect' encrypted will not open with the new key",
            "job 'nightly' will not run with the new key",
        ] { #expect(outcome.messages.contains(words), "\(outcome.messages)") }
    }

    @Test("A key that comes back runs its own jobs, and not those that were made in between")
    func ownJobs() throws {
        expect("keygen -o key.txt")
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        let recipient = String(try #require(text.firstMatch(of: /age1\w+/)).0)
        expect("schedule add nightly --keychain login --to folder --unencrypted")
        expect("device export -o own.age -r \(recipient)")
        expect("device adopt --new-key")
        expect("keychain create between --no-passcode")
        expect("schedule add weekly --keychain between --to other-folder --unencrypted")
        let outcome = home.run("device import own.age -i key.txt --yes")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.messages.contains("job 'weekly' will not run with the new key"), "\(outcome.messages)")
        #expect(!outcome.messages.contains("'nightly'"), "\(outcome.messages)")
        expect("schedule show nightly")
    }

    @Test("No passcode is asked for to restore items that the device key alone opens")
    func needless() {
        expect("item add --service x --secret file:a --accessible Always --passcode file:passcode")
        expect("create a.kcb --keychain login --unencrypted")
        expect("keychain create third --no-passcode")
        expect("restore a.kcb --keychain third")
        #expect(home.run("item find --service x --keychain third --reveal").text == "one")
        expect("item add --service y --secret file:a --passcode file:passcode")
        expect("create b.kcb --keychain login --unencrypted")
        #expect(home.run("restore b.kcb --keychain third").status != .ok)
    }
}
