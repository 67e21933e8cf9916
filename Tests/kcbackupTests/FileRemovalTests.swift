import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Taking imported records out of their file", .waitsForPrograms)
struct FileRemovalTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    private func file(_ name: String, _ text: String) throws { try home.write("../home/" + name, text) }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: home.home + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let netrc = """
        # mine
        machine a.example login ada password rose
        machine b.example
          login bob
          password tulip
        macdef init
        cd /pub

        machine e.example login eve password iris
        machine c.example login cy # of the office
          password lily
        machine d.example login dora

        """

    @Test("While git changes its credentials, they stay as they are, and its lock stays git's")
    func lockOfGit() throws {
        let line = "https://ada:rose@a.example\n"
        try file(".git-credentials", line)
        try file(".git-credentials.lock", "git's")
        for option in [" --dry-run", ""] {
            let outcome = home.run("import ~/.git-credentials --remove-from-file\(option)")
            #expect(outcome.status == .busy)
            #expect(outcome.messages.contains(".git-credentials.lock"), "\(outcome.messages)")
            #expect(outcome.messages.contains("a killed one has left this file: remove it"), "\(outcome.messages)")
            #expect(home.run("item list --json").text.contains(#""items":[]"#))
        }
        #expect(text(".git-credentials") == line)
        #expect(text(".git-credentials.lock") == "git's")
        try FileManager.default.removeItem(atPath: home.home + "/.git-credentials.lock")
        #expect(home.run("import ~/.git-credentials --remove-from-file").status == .ok)
        #expect(text(".git-credentials") == nil)
        #expect(text(".git-credentials.lock") == nil)
    }

    @Test("An undo of the import says that the file stays without the records, and what puts them back")
    func undoOfImport() throws {
        let line = "machine a.example login ada password rose\n"
        try file(".netrc", line)
        let warning = """
            kcbackup: warning: the records that this import took out of their file do not come back with this; \
            'kcbackup undo --keychain home:' puts them back

            """
        #expect(home.run("import ~/.netrc --remove-from-file").status == .ok)
        for option in [" --dry-run", ""] {
            let outcome = home.run("undo\(option)")
            #expect(outcome.status == .ok)
            #expect(outcome.messages.contains(warning), "\(outcome.messages)")
        }
        #expect(text(".netrc") == nil)
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".netrc") == line)
        // In the order that the import names, there is nothing to warn of.
        #expect(home.run("import ~/.netrc --remove-from-file").status == .ok)
        for command in ["undo --keychain home:", "undo"] {
            let outcome = home.run(command)
            #expect(outcome.status == .ok)
            #expect(!outcome.messages.contains("warning"), "\(outcome.messages)")
        }
        #expect(text(".netrc") == line)
    }

    @Test("States of the home that are not trusted do not keep an import into a keychain from being taken back")
    func undoBesideUntrustedStates() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        #expect(home.run("import ~/.netrc").status == .ok)
        let states = home.home + "/.local/share/kcbackup/undo/home-files"
        try FileManager.default.createDirectory(
            atPath: states, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: states)
        let outcome = home.run("undo")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.messages.contains("whether an import took records out of a file is not known"))
    }

    @Test("A lock for git that a killed run left is used up by the next run")
    func lockOfKilledRun() throws {
        try file(".git-credentials", "https://ada:rose@a.example\n")
        try file(".git-credentials.lock", "kcbackup\n")
        #expect(home.run("import ~/.git-credentials --remove-from-file").status == .ok)
        #expect(text(".git-credentials") == nil)
        #expect(text(".git-credentials.lock") == nil)
    }

    @Test("A repeated import says that the records were taken out, and frees the lock that a killed run left")
    func repeated() throws {
        try file(".git-credentials", "https://ada:rose@a.example\n")
        try file(".netrc", "# mine\nmachine a.example login ada password rose\n")
        for (name, status) in [(".git-credentials", ExitStatus.notFound), (".netrc", .damaged)] {
            #expect(home.run("import ~/\(name) --remove-from-file").status == .ok)
            try file(name + ".lock", "kcbackup\n")
            let outcome = home.run("import ~/\(name) --remove-from-file")
            #expect(outcome.status == status)
            #expect(
                outcome.messages.hasSuffix(
                    "kcbackup: hint: an earlier run took the records out of the file, and nothing is left to do; "
                        + "'kcbackup undo --keychain home:' puts them back\n"), "\(outcome.messages)")
            #expect(text(name + ".lock") == nil)
        }
        // Another file of that name is not what the run left.
        try file(".netrc", "# other\n")
        #expect(!home.run("import ~/.netrc --remove-from-file").messages.contains("an earlier run"))
    }

    @Test("A lock for git that another run of the program has is not taken, whatever data folder that one uses")
    func lockOfOtherRun() throws {
        let line = "https://ada:rose@a.example\n"
        try file(".git-credentials", line)
        let lock = try LockByName(home.home + "/.git-credentials.lock", mark: Array("kcbackup\n".utf8))
        #expect(home.run("import ~/.git-credentials --remove-from-file").status == .busy)
        #expect(text(".git-credentials") == line && text(".git-credentials.lock") == "kcbackup\n")
        try lock.release()
        #expect(home.run("import ~/.git-credentials --remove-from-file").status == .ok)
        #expect(text(".git-credentials") == nil)
    }

    @Test("Where the file may not be changed, that is said before anything is imported, and by a dry run too")
    func notPermitted() throws {
        try file(".config/git/credentials", "https://ada:rose@a.example\n")
        for mark in FileMark.allCases {
            try mark.on(home.home + "/.config/git") {
                for option in [" --dry-run", ""] {
                    let outcome = home.run("import ~/.config/git/credentials --remove-from-file\(option)")
                    #expect(outcome.status == .refused, "\(outcome.messages)")
                    #expect(outcome.messages.contains("permission denied"), "\(outcome.messages)")
                }
                #expect(home.run("item list --json").text.contains(#""items":[]"#))
            }
        }
    }

    @Test("A dry run says that the keychain cannot be written, as the run does")
    func keychainNotPermitted() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        try FileMark.immutable.on(home.home + "/.local/share/kcbackup/keychains/login.keychain") {
            for option in [" --dry-run", ""] {
                let outcome = home.run("import ~/.netrc --remove-from-file\(option)")
                #expect(outcome.status == .io, "\(outcome.messages)")
            }
        }
        #expect(text(".netrc")?.contains("rose") == true)
    }

    @Test("Where the state of the file cannot be kept, the import stands and the file stays")
    func stateNotKept() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        #expect(home.run("import ~/.netrc --remove-from-file").status == .ok)
        try file(".netrc", "machine b.example login bob password tulip\n")
        try FileMark.immutable.on(home.home + "/.local/share/kcbackup/undo/home-files") {
            let plan = home.run("import ~/.netrc --remove-from-file --dry-run")
            #expect(plan.messages.contains("'~/.netrc' stays as it is: its state cannot be kept"), "\(plan.messages)")
            let outcome = home.run("import ~/.netrc --remove-from-file")
            #expect(outcome.status != .ok && plan.status == outcome.status)
            #expect(
                outcome.messages.contains("'~/.netrc' stays as it is: its state cannot be kept for 'undo'"),
                "\(outcome.messages)")
            #expect(!outcome.messages.contains("nothing was changed"), "\(outcome.messages)")
            #expect(text(".netrc")?.contains("tulip") == true)
            #expect(home.run("item find --server b.example --reveal").text == "tulip")
        }
    }

    @Test("A change of a home whose record is missing or changed is damage, and later ones are taken back")
    func brokenRecord() throws {
        try file(".netrc", Self.netrc)
        #expect(home.run("import ~/.netrc --remove-from-file").status == .ok)
        let folder = home.home + "/.local/share/kcbackup/undo/home-files"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let record = folder + "/" + (try #require(names.first { $0.hasSuffix(".files") }))
        for change in [{ try Data("x\n".utf8).write(to: $0) }, { try FileManager.default.removeItem(at: $0) }] {
            try change(URL(filePath: record))
            let outcome = home.run("undo --keychain home: --yes")
            #expect(outcome.status.code == 13, "\(outcome.messages)")
            #expect(!outcome.messages.contains("unforeseen"), "\(outcome.messages)")
        }
    }

    @Test("What was imported is taken out, all else stays, and undo puts it back")
    func netrc() throws {
        try file(".netrc", Self.netrc)
        let plan = home.run("import ~/.netrc --remove-from-file --dry-run")
        #expect(plan.messages.contains("would take 2 records out of '~/.netrc': 2 records with comments, macros"))
        #expect(text(".netrc") == Self.netrc)
        let outcome = home.run("import ~/.netrc --remove-from-file -v")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.messages.contains("took 2 records out of '~/.netrc'"))
        #expect(outcome.messages.contains("'~/.netrc' still holds secrets: 2 records with comments"))
        #expect(
            text(".netrc") == """
                # mine
                machine b.example
                  login bob
                  password tulip
                macdef init
                cd /pub

                machine c.example login cy # of the office
                  password lily
                machine d.example login dora

                """)
        #expect(home.run("item find --server b.example --reveal").text == "tulip")
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".netrc") == Self.netrc)
        #expect(home.run("import ~/.netrc --remove-from-file --json").text.contains(#""removed":2"#))
    }

    @Test("A file of which nothing remains is removed, and comes back with its permissions")
    func git() throws {
        let lines = "https://ada:rose@a.example\nhttps://bob:tulip@b.example/x\n"
        try file(".git-credentials", lines)
        #expect(home.run("import ~/.git-credentials --remove-from-file").status == .ok)
        #expect(text(".git-credentials") == nil)
        #expect(home.run("undo --keychain home:").status == .ok)
        #expect(text(".git-credentials") == lines)
        let attributes = try FileManager.default.attributesOfItem(atPath: home.home + "/.git-credentials")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A file stays as it is if the keychain has another secret, or if a record was not imported")
    func stays() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        #expect(home.run("import ~/.netrc").status == .ok)
        let other = "machine a.example login ada password other\nmachine b.example login bob password tulip\n"
        try file(".netrc", other)
        let kept = home.run("import ~/.netrc --on-conflict keep --remove-from-file")
        #expect(kept.status == .incomplete)
        #expect(kept.messages.contains("'~/.netrc' stays as it is"))
        #expect(text(".netrc") == other)
        let damaged = "machine a.example login ada password rose\nmachine x login y login z password p\n"
        try file(".netrc", damaged)
        #expect(home.run("import ~/.netrc --on-conflict overwrite --remove-from-file").status == .incomplete)
        #expect(text(".netrc") == damaged)
    }

    @Test("A file of which no record can be taken out stays as it is, which is no success")
    func nothingToTake() throws {
        let line = "machine a.example login ada # of the office\npassword rose\n"
        try file(".netrc", line)
        for option in [" --dry-run", ""] {
            let outcome = home.run("import ~/.netrc --remove-from-file --json" + option)
            #expect(outcome.status == .incomplete)
            #expect(!outcome.text.contains(#""removed""#), "\(outcome.text)")
            #expect(outcome.messages.contains("1 record with comments"), "\(outcome.messages)")
        }
        #expect(text(".netrc") == line)
    }

    @Test("A dry run foretells that the file stays, and changes nothing")
    func foretold() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        #expect(home.run("import ~/.netrc").status == .ok)
        try file(".netrc", "machine a.example login ada password other\n")
        let plan = home.run("import ~/.netrc --on-conflict keep --remove-from-file --dry-run --json")
        #expect(plan.status == .incomplete)
        #expect(
            plan.messages.contains(
                "would leave '~/.netrc' as it is: the keychain would not have the secrets of all of its records\n"),
            "\(plan.messages)")
        #expect(!plan.text.contains(#""removed""#))
        let other = home.run("import ~/.netrc --on-conflict overwrite --remove-from-file --dry-run")
        #expect(other.status == .ok)
        #expect(other.messages.contains("would take 1 record out of '~/.netrc'\n"))
        #expect(text(".netrc") == "machine a.example login ada password other\n")
    }

    @Test("A file that cannot be changed is refused before anything is imported, in a dry run too")
    func unchangeable() throws {
        let line = "machine a.example login ada password rose\n"
        try file(".netrc", "#" + String(repeating: "x", count: 1 << 20) + "\n" + line)
        for option in ["", " --dry-run"] {
            let outcome = home.run("import ~/.netrc --remove-from-file" + option)
            #expect(outcome.status == .refused)
            #expect(outcome.messages.contains("'~/.netrc' cannot be changed: it is larger than"), "\(outcome.messages)")
        }
        #expect(!home.run("item list").text.contains("a.example"))
        guard geteuid() == 0 else { return }
        try file(".netrc", line)
        #expect(unsafe chown(home.home + "/.netrc", 1, 1) == 0)
        let outcome = home.run("import ~/.netrc --remove-from-file")
        #expect(outcome.status == .refused)
        #expect(outcome.messages.contains("'~/.netrc' cannot be changed: it belongs to another user"))
    }

    @Test("Another name of the file, which keeps the secrets, is told")
    func hardLink() throws {
        try file(".netrc", "machine a.example login ada password rose\n")
        try FileManager.default.linkItem(atPath: home.home + "/.netrc", toPath: home.path("other"))
        for option in [" --dry-run", ""] {
            let outcome = home.run("import ~/.netrc --remove-from-file" + option)
            #expect(outcome.messages.contains("'~/.netrc' has 1 more name (hard link)"), "\(outcome.messages)")
        }
        #expect(text(".netrc") == nil)
        #expect(try String(contentsOfFile: home.path("other"), encoding: .utf8).contains("rose"))
    }

    @Test("Other formats, files elsewhere and links are refused before anything is imported")
    func refusals() throws {
        try home.write("logins.csv", "name,url,username,password\na,https://a.example,ada,rose\n")
        try home.write("netrc", "machine a.example login ada password rose\n")
        for name in ["logins.csv", "netrc"] {
            #expect(home.run("import \(name) --remove-from-file").status == .usage, "\(name)")
        }
        #expect(home.run("item list").text.contains("a.example") == false)
        try FileManager.default.createSymbolicLink(
            atPath: home.home + "/.netrc", withDestinationPath: home.path("netrc"))
        let link = home.run("import ~/.netrc --remove-from-file").status
        #expect([.usage, .refused, .damaged].contains(link), "\(link)")
        #expect(text(".netrc")?.contains("rose") == true)
    }
}
