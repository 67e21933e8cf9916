import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The files of a home: backup, restore, undo")
struct HomeTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("pass", "correct horse\n")
    }

    private func file(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try home.write("../home/" + name, text, mode: mode)
    }

    private func text(_ name: String) -> String? {
        (FileManager.default.contents(atPath: home.home + "/" + name)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: home.home + "/" + name) }

    /// Makes an archive of three files.
    private func back() throws {
        try file(".ssh/id_rsa", "key")
        try file(".ssh/config", "Host a\n", mode: 0o644)
        try file(".netrc", "machine a")
        #expect(home.run("create --keychain home: h.kcb --passphrase file:pass").status == .ok)
    }

    private func restore(_ options: String = "") -> TestHome.Outcome {
        home.run("restore h.kcb --passphrase file:pass\(options.isEmpty ? "" : " " + options)")
    }

    @Test("Lost files come back with their bytes and permissions, and a second restore changes nothing")
    func roundTrip() throws {
        try back()
        for name in [".ssh", ".netrc"] { try remove(name) }
        let plan = restore("--dry-run")
        #expect(plan.text.contains("\n  file '~/.ssh/id_rsa'\n"))
        #expect(text(".netrc") == nil)
        #expect(restore().status == .ok)
        #expect(text(".ssh/id_rsa") == "key")
        #expect(text(".netrc") == "machine a")
        let attributes = try FileManager.default.attributesOfItem(atPath: home.home + "/.ssh/config")
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        #expect(restore("--dry-run").text == "would restore nothing into the files of the home: 3 the same\n")
    }

    @Test("A file that differs is kept and named, and replaced only on request; undo takes it back")
    func conflict() throws {
        try back()
        try file(".netrc", "machine b")
        let kept = restore()
        #expect(kept.status == .ok)
        #expect(kept.messages.contains("kept: file '~/.netrc'\n"))
        #expect(text(".netrc") == "machine b")
        #expect(restore("--on-conflict fail").status == .exists)
        #expect(restore("--on-conflict overwrite").status == .ok)
        #expect(text(".netrc") == "machine a")
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".netrc") == "machine b")
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".netrc") == "machine a")
    }

    @Test("Undo removes only what the restore wrote, and asks about what was changed since")
    func undo() throws {
        try back()
        try remove(".ssh")
        #expect(restore().status == .ok)
        try file(".ssh/id_new", "of the user")
        #expect(home.run("undo --keychain home: --dry-run").text.contains("2 removed"))
        try file(".ssh/config", "Host b\n")
        let asked = home.run("undo --keychain home:")
        #expect(asked.status == .refused)
        #expect(asked.messages.contains("file '~/.ssh/config' (changed here since)"))
        #expect(asked.messages.contains(", and also remove 1 file that was changed since?"))
        #expect(text(".ssh/config") == "Host b\n")
        #expect(home.run("undo --keychain home: --yes").status == .ok)
        #expect(text(".ssh/config") == nil)
        #expect(text(".ssh/id_rsa") == nil)
        #expect(text(".ssh/id_new") == "of the user")
        #expect(home.run("undo --keychain home: --list").text.contains("undo"))
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".ssh/config") == "Host b\n")
    }

    @Test("Two restores are taken back together, to the state before the first")
    func undoOfTwo() throws {
        try back()
        for name in [".ssh", ".netrc"] { try remove(name) }
        #expect(restore("netrc").status == .ok)
        #expect(restore().status == .ok)
        let states = home.run("undo --keychain home: --list --json").text
        let names = states.matches(of: /"name":"([^"]+)"/).map { String($0.1) }
        #expect(names.count == 2)
        #expect(home.run(["undo", try #require(names.last), "--keychain", "home:"]).status == .ok)
        #expect(text(".netrc") == nil)
        #expect(text(".ssh/config") == nil)
    }

    @Test("Two restores of one file are taken back together, to what was there before the first")
    func undoOfTwoInOnePlace() throws {
        try back()
        for word in ["b", "c"] {
            try file(".netrc", "machine \(word)")
            #expect(restore("netrc --on-conflict overwrite").status == .ok)
        }
        let states = home.run("undo --keychain home: --list --json").text
        let names = states.matches(of: /"name":"([^"]+)"/).map { String($0.1) }
        #expect(home.run(["undo", try #require(names.last), "--keychain", "home:", "--yes"]).status == .ok)
        #expect(text(".netrc") == "machine b")
    }

    @Test("Undo removes the folders that the restore made, unless something else is in them")
    func undoneFolders() throws {
        for name in [".config/age/a.key", ".config/borg/keys/b", ".ssh/id_rsa"] { try file(name, "key") }
        #expect(home.run("create --keychain home: h.kcb --passphrase file:pass").status == .ok)
        for name in [".config", ".ssh"] { try remove(name) }
        #expect(restore().status == .ok)
        try file(".config/borg/mine", "x")
        #expect(home.run("undo --keychain home:").status == .ok)
        func folders() throws -> [String] {
            try home.folder.list().filter { $0.hasPrefix("home/") && !$0.contains(".local") }
        }
        let left = ["home/.config", "home/.config/borg", "home/.config/borg/mine"]
        #expect(try folders() == left)
        // Taken back in turn, and once more.
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".config/age/a.key") == "key")
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(try folders() == left)
    }

    @Test("An archive that names other files, or the same one twice, writes none of them")
    func hostileArchive() throws {
        func line(_ path: String, group: String = "kcbackup", mode: String = "0777", more: String = "") -> String {
            #"{"class":"genp","attributes":{"svce":"kcbackup.home-file","acct":"\#(path)","agrp":"\#(group)"\#(more)},"#
                + #""extra":{"home.mode":"\#(mode)"},"secret":"evil"}"#
        }
        let paths = [
            ".bashrc", "../outside", "/etc/cron.d/x", ".ssh/../.profile", ".ssh/rc", ".config/autostart/x.desktop",
            ".password-store/.git/hooks/post-commit", ".ssh//x", ".ssh/agent/x", "~/.netrc",
        ]
        let lines =
            paths.map { line($0) } + [
                line(".netrc", group: "a"), line(".netrc", group: "b"), line(".ssh/a"), line(".ssh/a/b"),
                line(".ssh/bound", more: #","pdmn":"aku""#), line(".ssh/mode", mode: "4777"),
                #"{"class":"genp","attributes":{"svce":"Bank","acct":"ada"},"secret":"x"}"#,
            ]
        try home.write("evil.jsonl", lines.joined(separator: "\n") + "\n")
        let made = home.run("create --keychain file:evil.jsonl evil.kcb --passphrase file:pass")
        #expect(made.status == .ok, "\(made.messages)")
        let outcome = home.run("restore evil.kcb --keychain home: --passphrase file:pass --json")
        #expect(outcome.status == .incomplete)
        let files = try home.folder.list().filter { $0.hasPrefix("home/") && !$0.contains(".local") }
        #expect(files == ["home/.netrc", "home/.ssh", "home/.ssh/a"], "\(outcome.text)")
        let attributes = try FileManager.default.attributesOfItem(atPath: home.home + "/.netrc")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        #expect(outcome.text.contains(#""problem":"not-a-home-file""#))
    }

    @Test("What is in the way stays as it is")
    func inTheWay() throws {
        try back()
        for name in [".ssh", ".netrc"] { try remove(name) }
        try FileManager.default.createSymbolicLink(
            atPath: home.home + "/.ssh", withDestinationPath: home.workingFolder)
        try FileManager.default.createDirectory(atPath: home.home + "/.netrc", withIntermediateDirectories: true)
        let outcome = restore("--json")
        #expect(outcome.status == .incomplete)
        #expect(outcome.text.contains(#""problem":"in-the-way""#))
        #expect(!FileManager.default.fileExists(atPath: home.path("id_rsa")))
    }

    @Test("A file that is left and should be kept is said in one line, to a program too, and the backup is incomplete")
    func missed() throws {
        try back()
        for name in ["config", "id_old"] { try home.write("../home/dot/\(name)", "x") }
        try remove(".ssh/config")
        for name in ["config", "id_old"] {
            try FileManager.default.createSymbolicLink(
                atPath: home.home + "/.ssh/" + name, withDestinationPath: "../dot/" + name)
        }
        let outcome = home.run("create --keychain home: i.kcb --passphrase file:pass")
        #expect(outcome.status == .incomplete)
        #expect(
            outcome.messages == """
                kcbackup: warning: 2 files were left out (-v shows all); first, '~/.ssh/config': a symbolic link, which is \
                not followed; if you do not need it, add '--accept-missing ~/.ssh/config'

                """)
        let json = home.run("create --keychain home: j.kcb --passphrase file:pass --json")
        #expect(json.text.contains(#"{"path":"~/.ssh/config","reason":"link","missed":true}"#), "\(json.text)")
        #expect(home.run("inspect i.kcb --passphrase file:pass --json").text.contains(#""complete":false"#))
        for (word, found) in [("netrc", "machine a"), ("nothing", "")] {
            let looked = home.run("item find \(word) --in i.kcb --passphrase file:pass --reveal")
            #expect(looked.status == .incomplete, "\(word)")
            #expect(looked.text == found)
            #expect(looked.messages.contains("2 items are not in the archive: left out, or not readable, when"))
        }
        // A list, or an item that is asked for by name, is not incomplete for that reason.
        #expect(home.run("item list --keychain home:").status == .ok)

        #expect(home.run("schedule add nightly --keychain home: --unencrypted --to backups").status == .ok)
        let ran = home.run(["run", "nightly"], terminal: ScriptedTerminal(showsMessages: true))
        #expect(ran.status == .incomplete)
        #expect(
            ran.messages.contains(
                "hint: if you do not need it, run 'kcbackup schedule edit nightly --accept-missing PATH'"))
        #expect(ran.messages.contains("2 items were left out, and are in no new archive"), "\(ran.messages)")
        let state = home.run("status")
        #expect(state.text.contains("~/.ssh/config"), "\(state.text)")
    }

    @Test("What the user does without is no gap: the archive is whole, and a job is good")
    func acceptedGap() throws {
        try back()
        try home.write("../home/dot/config", "x")
        try remove(".ssh")
        try FileManager.default.createSymbolicLink(atPath: home.home + "/.ssh", withDestinationPath: "dot")
        let create = "create --keychain home: --passphrase file:pass"
        #expect(home.run("\(create) k.kcb").status == .incomplete)
        for (number, path) in ["~/.ssh", home.home + "/.ssh", home.home + "/.ssh/"].enumerated() {
            let outcome = home.run("\(create) a\(number).kcb --accept-missing \(path)")
            #expect(outcome.status == .ok, "\(outcome.messages)")
            #expect(outcome.messages == "")
        }
        #expect(home.run("inspect a0.kcb --passphrase file:pass --json").text.contains(#""complete":true"#))
        #expect(home.run("\(create) b.kcb --accept-missing ~/.gnupg").status == .incomplete)
        #expect(home.run("create --keychain login c.kcb --accept-missing ~/.ssh").status == .usage)
        #expect(home.run("\(create) d.kcb --accept-missing /elsewhere").status == .usage)

        let add = "schedule add nightly --unencrypted --to backups --accept-missing ~/.ssh"
        #expect(home.run("\(add) --keychain home:").status == .ok)
        #expect(home.run("run nightly").status == .ok)
        #expect(!home.run("status").text.contains(".ssh"))
        #expect(home.run("create --home --unencrypted --to whole --accept-missing ~/.ssh").status == .ok)
    }

    @Test("A backup that lacks what could not be read says so, and does not advise to give that up")
    func shrunkByGap() throws {
        try back()
        #expect(home.run("schedule add nightly --keychain home: --unencrypted --to backups").status == .ok)
        #expect(home.run("run nightly").status == .ok)
        try remove(".ssh")
        try FileManager.default.createSymbolicLink(atPath: home.home + "/.ssh", withDestinationPath: "stick")
        let examined = home.run("doctor")
        #expect(
            examined.text.contains("1 file would be in no archive: '~/.ssh': a symbolic link, which is not followed"),
            "\(examined.text)")
        let stopped = home.run(["run", "nightly"], terminal: ScriptedTerminal(showsMessages: true))
        #expect(stopped.status == .shrunk)
        #expect(stopped.messages.contains("; 1 item was left out: '~/.ssh'\n"), "\(stopped.messages)")
        #expect(stopped.messages.contains("'kcbackup schedule edit nightly --accept-missing PATH'"))
        #expect(!stopped.messages.contains("--accept-shrink"))
        #expect(!home.run("doctor").text.contains("--accept-shrink"))
        #expect(home.run("status").text.contains("'~/.ssh'"))

        #expect(home.run("schedule edit nightly --accept-missing ~/.ssh").status == .ok)
        #expect(!home.run("doctor").text.contains("would be in no archive"))
        let accepted = home.run(["run", "nightly"], terminal: ScriptedTerminal(showsMessages: true))
        #expect(accepted.messages.contains("run 'kcbackup run nightly --accept-shrink' once"), "\(accepted.messages)")
    }

    @Test("A home that does not exist is not made")
    func noHome() throws {
        try FileManager.default.removeItem(atPath: home.home)
        for line in ["--keychain home: x.kcb", "--keychain home: --to folder", "--home --to folder"] {
            let outcome = home.run("create \(line) --unencrypted")
            #expect(outcome.status == .notFound, "\(line): \(outcome.messages)")
        }
        #expect(home.run("create --keychain file:missing x.kcb --passphrase file:pass").status == .notFound)
        #expect(!FileManager.default.fileExists(atPath: home.home))
    }

    @Test("A file that cannot be read makes the backup incomplete, and is named")
    func unreadable() throws {
        try back()
        let name = (home.home + "/.ssh/").utf8CString.dropLast() + [CChar(bitPattern: 0xff), 0]
        #expect(unsafe mkfifo(Array(name), 0o600) == 0)
        let outcome = home.run("create --keychain home: i.kcb --passphrase file:pass")
        #expect(outcome.status == .incomplete)
        #expect(outcome.messages.contains("left out: '~/.ssh/"))

        // Only what a rule leaves can be accepted.
        for name in ["pubring.db", "pubring.db-journal"] { try file(".gnupg/public-keys.d/" + name, "x") }
        let accept = "--accept-missing ~/.gnupg/public-keys.d/pubring.db --accept-missing ~/.netrc"
        let refused = home.run("create --keychain home: j.kcb --passphrase file:pass -v \(accept)")
        #expect(refused.status == .incomplete)
        #expect(refused.messages.contains("/pubring.db' cannot be read, and '--accept-missing' is only for"))
        #expect(refused.messages.contains("'~/.netrc' is not missing, so '--accept-missing' is not needed for it"))
    }

    @Test(
        "Connections of the system are counted, with the command that backs them up, and are listed with their secrets")
    func connections() throws {
        try back()
        try home.write(
            "system-connections/Caf\u{e9} 1.nmconnection",
            "[connection]\nid=Caf\u{e9}\nuuid=1\ntype=wifi\n"
                + "[wifi]\nssid=Caf\u{e9}\n[wifi-security]\npsk=tulip\n")
        let outcome = home.run("create --keychain home: i.kcb --passphrase file:pass -v --json")
        #expect(outcome.messages.contains("1 connection of NetworkManager is the system's: 'sudo kcbackup create "))
        #expect(outcome.text.contains(#""systemConnections":1"#))
        let listed = home.run("inspect system-connections")
        #expect(listed.status == .ok, "\(listed.messages)")
        #expect(listed.text.contains("1 Wi-Fi password, 1 attachment"))
        #expect(home.run("item find --keychain file:system-connections AirPort --reveal").text == "tulip")
    }

    @Test("Options that mean nothing for files are refused, and so are commands that change items")
    func refusals() throws {
        try back()
        #expect(restore("--replace").status == .usage)
        #expect(home.run("create --keychain home: x.kcb --passcode file:pass").status == .usage)
        #expect(home.run("item add --keychain home: --service a --generate").status == .usage)
        #expect(home.run("keychain info home:").status == .usage)
        let unfinished = home.run("create --keychain home x.kcb --passphrase file:pass")
        #expect(unfinished.status == .notFound)
        #expect(unfinished.messages.contains("did you mean '--keychain home:'?"))
        #expect(home.run("undo --keychain home:").status == .notFound)
    }
}
