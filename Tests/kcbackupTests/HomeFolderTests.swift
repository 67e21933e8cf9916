import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Everything in a home: one command to back it up, and one to restore it", .waitsForPrograms)
struct HomeFolderTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("pass", "correct horse\n")
        try home.write("tulip", "tulip\n")
        try home.write("../home/.netrc", "machine example.org login ada password tulip\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("item add --service Bank --account ada --secret file:tulip").status == .ok)
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: home.home + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    private func archives() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path("backups")).filter { $0.hasSuffix(".kcb") }
            .sorted()
    }

    @Test("What one command backed up comes back with one command, and nothing is written twice")
    func roundTrip() throws {
        let made = home.run("create --home --to backups --passphrase file:pass -v")
        #expect(made.status == .ok, "\(made.messages)")
        #expect(made.messages.contains("no desktop keyring runs here"))
        #expect(made.messages.contains("home: saved and verified 1 item"))
        #expect(try archives().map { $0.prefix { $0 != "K" } } == ["home-files-", "login-"])

        try FileManager.default.removeItem(atPath: home.home + "/.netrc")
        #expect(home.run("keychain delete --confirm login").status == .ok)
        let command = "restore --home backups --passphrase file:pass --passcode file:pass"
        let plan = home.run(command + " --dry-run")
        #expect(plan.status == .ok, "\(plan.messages)")
        #expect(plan.text.contains("would be created: file '~/.netrc'\n"))
        #expect(plan.text.contains("would be created: generic password 'Bank', account 'ada'\n"))
        #expect(text(".netrc") == nil)

        let restored = home.run(command)
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(text(".netrc") == "machine example.org login ada password tulip\n")
        #expect(home.run("item find --service Bank --reveal --passcode file:pass").text == "tulip")
        let again = home.run(command + " --dry-run")
        #expect(again.text.matches(of: /would restore nothing/).count == 2)
    }

    @Test("Of several stores, only one that a restore has changed is said to have something to take back")
    func undoHints() throws {
        #expect(home.run("create --home --to backups --passphrase file:pass").status == .ok)
        #expect(home.run("item add --service Precious --account ada --secret file:tulip").status == .ok)
        try FileManager.default.removeItem(atPath: home.home + "/.netrc")
        let restored = home.run("restore --home backups --passphrase file:pass -v")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(restored.messages.matches(of: /takes that back/).count == 1, "\(restored.messages)")
        #expect(restored.messages.contains("home:' takes that back"), "\(restored.messages)")
    }

    @Test("The newest archive of each store is taken, and one that is damaged keeps no other back")
    func newest() throws {
        for text in ["old", "new"] {
            try home.write("../home/.netrc", text)
            #expect(home.run("create --home --to backups --passphrase file:pass").status == .ok)
        }
        try FileManager.default.removeItem(atPath: home.home + "/.netrc")
        let damaged = home.path("backups/" + (try #require(try archives().last { $0.hasPrefix("login-") })))
        try Data("x".utf8).write(to: URL(filePath: damaged))
        let outcome = home.run("restore --home backups --passphrase file:pass")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains("is not a kcbackup archive"))
        #expect(text(".netrc") == "new")
    }

    @Test("One passcode of several keychains is tried on none of them, and all else is restored")
    func passcodeOfSeveral() throws {
        try home.write("other", "orbit lantern velvet\n")
        for (name, passcode) in [("third", "other"), ("work", "pass")] {
            #expect(home.run("keychain create \(name) --passcode file:\(passcode)").status == .ok)
        }
        #expect(home.run("create --home --to backups --unencrypted").status == .ok)
        let before = home.run("undo --list").text
        let restore = "restore --home backups --passcode file:pass"
        for option in [" --dry-run", ""] {
            try FileManager.default.removeItem(atPath: home.home + "/.netrc")
            let refused = home.run(restore + option)
            #expect(refused.status == .usage, "\(refused.messages)")
            let words = "keychains 'third', 'work' have a passcode each, and '--passcode' gives that of one"
            #expect(refused.messages.ranges(of: words).count == 2, "\(refused.messages)")
            #expect(!refused.messages.contains("wrong passcode"))
            #expect((text(".netrc") == nil) == (option == " --dry-run"))
            try home.write("../home/.netrc", "machine example.org login ada password tulip\n")
        }
        #expect(try ["third", "work"].map { try home.wrongPasscodes($0) } == [0, 0])
        #expect(home.run("undo --list").text == before)

        // A keychain that the run makes gets it, and is none of those on which it would be tried.
        #expect(home.run("keychain delete --confirm third third").status == .ok)
        let restored = home.run(restore)
        #expect(restored.status == .ok, "\(restored.messages)")
    }

    @Test("Where several keychains are locked, no hint says to give a passcode, which would be refused")
    func hintsOfSeveral() throws {
        for name in ["third", "work"] {
            for line in ["create \(name)", "unlock \(name)"] {
                #expect(home.run("keychain \(line) --passcode file:pass").status == .ok, "\(line)")
            }
        }
        #expect(home.run("create --home --to backups --passphrase file:pass").status == .ok)
        for name in ["third", "work"] { #expect(home.run("keychain lock \(name)").status == .ok) }
        let restore = "restore --home backups --passphrase file:pass"
        let several = home.run(restore)
        #expect(several.status == .locked && !several.messages.contains("--passcode"), "\(several.messages)")
        let hint = "hint: restore the archive of each by itself, with its own passcode"
        #expect(several.messages.ranges(of: hint).count == 2, "\(several.messages)")
        #expect(home.run("keychain set-passcode third --passcode file:pass --no-passcode --yes").status == .ok)
        #expect(home.run(restore).messages.contains("'--passcode SOURCE'"))
    }

    @Test("The newest archive of each store is restored from a remote, too")
    func remote() throws {
        let rclone = try FakeRclone(home)
        func run(_ line: String) -> TestHome.Outcome {
            home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
        }
        for text in ["old", "new"] {
            try home.write("../home/.netrc", text)
            #expect(run("create --home --to backups --passphrase file:pass").status == .ok)
        }
        #expect(run("copy backups --to nas:x").status == .ok)
        try FileManager.default.removeItem(atPath: home.home + "/.netrc")
        let restored = run("restore --home nas:x --passphrase file:pass --json")
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(restored.text.contains(#""path":"nas:x/home-files-"#), "\(restored.text)")
        #expect(text(".netrc") == "new")
        #expect(run("restore --home nas:empty --passphrase file:pass").status == .notFound)
    }

    @Test("A folder without archives, is refused, and so are contradictions")
    func refusals() throws {
        try FileManager.default.createDirectory(atPath: home.path("empty"), withIntermediateDirectories: true)
        #expect(home.run("restore --home empty").status == .notFound)
        #expect(home.run("restore --home missing").status == .notFound)
        #expect(home.run("restore --home pass").status == .usage)
        #expect(home.run("create --home --to backups --unencrypted").status == .ok)
        let name = try #require(try archives().first)
        let other = name.replacing(/KC-[A-Z2-7]{8}/, with: "KC-AAAAAAAA")
        try FileManager.default.copyItem(atPath: home.path("backups/" + name), toPath: home.path("backups/" + other))
        let passed = home.run("restore --home backups --dry-run")
        #expect(passed.status == .ok && passed.messages.contains("'\(other)': passed over"), "\(passed.messages)")
        for line in [
            "create --home --unencrypted a.kcb", "create --home --all --to backups --unencrypted",
            "create --home --keychain login --to backups --unencrypted", "restore --home backups --keychain login",
            "restore --home backups --replace",
        ] {
            #expect(home.run(line).status == .usage, "\(line)")
        }
    }

    @Test("A copy under another name is not taken for the newest archive")
    func renamed() throws {
        #expect(home.run("create --home --to backups --unencrypted").status == .ok)
        let name = try #require(try archives().first { $0.hasPrefix("home-files-") })
        let later = name.replacing(/\d{8}T/, with: "20260302T")
        try FileManager.default.copyItem(atPath: home.path("backups/" + name), toPath: home.path("backups/" + later))
        #expect(home.run("restore --home backups --dry-run").status == .damaged)
    }

    @Test("A job backs up everything, and can be edited")
    func job() throws {
        #expect(home.run("schedule add all --home --to backups --unencrypted").status == .ok)
        #expect(home.run("run all").status == .ok)
        #expect(try archives().count == 2)
        try FileManager.default.createSymbolicLink(atPath: home.home + "/.pgpass", withDestinationPath: "stick")
        #expect(home.run("doctor").text.contains("1 file would be in no archive: '~/.pgpass'"))
        #expect(home.run("schedule install all --system").status == .usage)
        #expect(home.run("schedule edit all --all").status == .ok)
        #expect(!home.run("schedule show all").text.contains("--home"))
    }

    @Test("A keychain named as archives of the home begin, or the home, is set aside alone, and all else is backed up")
    func namesake() throws {
        let backup = "create --home --to backups --unencrypted"
        #expect(home.run(backup).status == .ok)
        #expect(home.run("keychain create home-files --no-passcode").status == .ok)
        let words = "its archives would have the name of those of"
        for count in [4, 6] {
            let outcome = home.run(backup)
            #expect(outcome.status == .refused)
            #expect(
                outcome.messages.contains("keychain 'home-files': \(words) the files of the home\n"),
                "\(outcome.messages)")
            #expect(outcome.messages.contains("'kcbackup keychain delete home-files'"))
            #expect(try archives().count == count)
        }
        #expect(home.run("restore --home backups --dry-run").status == .ok)

        // A folder that has archives of neither takes the keychain first.
        let other = home.run("create --home --to other --unencrypted")
        #expect(other.status == .refused)
        #expect(
            other.messages.contains("the files of the home: \(words) keychain 'home-files'\n"), "\(other.messages)")
        #expect(other.messages.contains("'kcbackup keychain delete home-files'"))
    }

    @Test("Keychains whose names differ in what would be the ending of a file have archives of their own")
    func endings() throws {
        for name in ["work", "work.json"] {
            #expect(home.run("keychain create \(name) --no-passcode").status == .ok)
        }
        let made = home.run("create --all --to backups --unencrypted")
        #expect(made.status == .ok, "\(made.messages)")
        #expect(try archives().map { $0.prefix { $0 != "K" } } == ["login-", "work-", "work.json-"])
        let restored = home.run("restore --home backups --dry-run")
        #expect(restored.status == .ok, "\(restored.messages)")
    }

    @Test("Secrets in the clear are warned of, with what mends it, and encrypted ones are not")
    func doctor() throws {
        let shell = try ProgramShell()(
            """
            mkdir -p "$HOME/.ssh"
            ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/open"
            ssh-keygen -q -t ed25519 -N 'secret' -f "$HOME/.ssh/closed"
            ssh-keygen -q -t rsa -m PEM -N '' -f "$HOME/.ssh/pem"
            ssh-keygen -q -t rsa -m PEM -N 'secret' -f "$HOME/.ssh/closed-pem"
            printf 'machine example.org login ada password tulip\\n' > "$HOME/.netrc"
            printf 'tulip' > "$HOME/.vault-token"
            # Files that say nothing hold no secret.
            mkdir "$HOME/.aws" "$HOME/.cargo"
            printf '[default]\\n' > "$HOME/.aws/credentials"
            printf '# host:port:database:user:password\\n' > "$HOME/.pgpass"
            printf '[registry]\\ntoken = "tulip"\\n' > "$HOME/.cargo/credentials.toml"
            "$KCBACKUP" doctor 2>&1 | grep -o "~/[^']*' holds.*: 'kcbackup [a-z]*\\|~/[^']*' holds.*: 'ssh-keygen -p"
            """)
        #expect(
            shell.text == """
                ~/.ssh/open' holds a private key without a passphrase: 'ssh-keygen -p
                ~/.ssh/pem' holds a private key without a passphrase: 'ssh-keygen -p
                ~/.netrc' holds passwords in the clear: 'kcbackup import
                ~/.vault-token' holds a secret in the clear: 'kcbackup item
                ~/.cargo/credentials.toml' holds a secret in the clear: 'kcbackup item

                """, "\(shell.text)\(shell.errorText)")
    }
}
