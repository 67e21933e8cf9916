import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Undo of changes of a home where something is in the way", .waitsForPrograms)
struct HomeUndoTests {
    private let home: TestHome
    private static let undo = "undo --keychain home:"

    /// A home in which a restore replaced `.netrc` and made two files in `.ssh`.
    init() throws {
        home = try TestHome()
        try home.write("pass", "correct horse\n")
        for (name, text) in [(".netrc", "archived"), (".ssh/id_a", "key a"), (".ssh/id_b", "key b")] {
            try home.write("../home/" + name, text)
        }
        #expect(home.run("create --keychain home: h.kcb --passphrase file:pass").status == .ok)
        try remove(".ssh")
        try home.write("../home/.netrc", "own")
        #expect(home.run("restore h.kcb --passphrase file:pass --on-conflict overwrite").status == .ok)
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: home.home + "/" + name) }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: home.home + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    private func link(_ name: String) throws {
        try FileManager.default.moveItem(atPath: home.home + "/" + name, toPath: home.path("moved"))
        try FileManager.default.createSymbolicLink(
            atPath: home.home + "/" + name, withDestinationPath: home.path("moved"))
    }

    private func unlink(_ name: String) throws {
        try remove(name)
        try FileManager.default.moveItem(atPath: home.path("moved"), toPath: home.home + "/" + name)
    }

    @Test("All others are taken back, the one is named, and a later undo finishes; then both are taken back in turn")
    func inTheWay() throws {
        try link(".netrc")
        let plan = home.run(Self.undo + " --dry-run")
        #expect(plan.status == .incomplete)
        #expect(plan.text.contains("would be left: '~/.netrc': something else is in its place"), "\(plan.text)")
        let first = home.run(Self.undo + " --json")
        #expect(first.status == .incomplete)
        #expect(first.messages.contains("kcbackup: warning: left: '~/.netrc': something else"), "\(first.messages)")
        #expect(first.text.contains(#""blocked":["~/.netrc"]"#), "\(first.text)")
        #expect(text(".ssh/id_a") == nil && text(".ssh/id_b") == nil)
        #expect(try String(contentsOfFile: home.path("moved"), encoding: .utf8) == "archived")

        let second = home.run(Self.undo)
        #expect(second.status == .refused)
        #expect(second.messages.contains("something else is in the place of '~/.netrc'"), "\(second.messages)")
        #expect(text(".ssh/id_a") == nil)

        try unlink(".netrc")
        let third = home.run(Self.undo)
        #expect(third.status == .ok, "\(third.messages)")
        #expect(text(".netrc") == "own")
        // The last undo, and then the one before it.
        #expect(home.run(Self.undo).status == .ok)
        #expect(text(".netrc") == "archived")
        #expect(text(".ssh/id_a") == nil)
    }

    @Test("A rest that the user has taken back is used up, and the undo itself is not reversed")
    func nothingLeft() throws {
        try link(".ssh/id_a")
        #expect(home.run(Self.undo).status == .incomplete)
        try remove(".ssh/id_a")
        let plan = home.run(Self.undo + " --dry-run")
        #expect(plan.text.contains("would take back 'restore' of "), "\(plan.text)")
        #expect(plan.text.contains(": 1 folder removed"), "\(plan.text)")
        try remove(".ssh")
        let second = home.run(Self.undo + " -v")
        #expect(second.status == .ok)
        #expect(second.messages.contains("nothing is left to take back of 'restore'"), "\(second.messages)")
        #expect(text(".netrc") == "own" && text(".ssh/id_b") == nil)
        #expect(!FileManager.default.fileExists(atPath: home.home + "/.ssh"))
        // The rest is gone, so this is the undo of the undo.
        #expect(home.run(Self.undo).status == .ok)
        #expect(text(".netrc") == "archived")
    }

    @Test("Without a terminal, the way on is said")
    func wayOn() throws {
        try link(".netrc")
        #expect(
            home.run(Self.undo).messages.contains(
                "once nothing is in the way, 'kcbackup undo --keychain home:' takes back the rest\n"))
    }

    @Test("Also without a state of what is replaced, and where two restores are taken back together")
    func withoutState() throws {
        try home.write("../home/.netrc", "own again")
        #expect(home.run("restore h.kcb --passphrase file:pass --on-conflict overwrite").status == .ok)
        let names = home.run("undo --keychain home: --list --json").text.matches(of: /"name":"([^"]+)"/).map {
            String($0.1)
        }
        try link(".netrc")
        #expect(home.run(["undo", try #require(names.last), "--keychain", "home:", "--no-undo"]).status == .incomplete)
        #expect(text(".ssh/id_a") == nil)
        try unlink(".netrc")
        #expect(home.run(Self.undo).status == .ok)
        #expect(text(".netrc") == "own")
    }

    @Test(
        "Where nothing may be written, all others are taken back, and a later undo finishes",
        arguments: FileMark.allCases)
    func notPermitted(_ mark: FileMark) throws {
        let isMarked = try mark.on(home.home + "/.ssh") {
            let plan = home.run(Self.undo + " --dry-run")
            #expect(plan.status == .incomplete)
            #expect(plan.text.contains(/would be left: .*permission denied\n  '~\/.ssh\/id_a'/), "\(plan.text)")
            let first = home.run(Self.undo)
            #expect(first.status == .incomplete)
            #expect(first.messages.contains("warning: left: "), "\(first.messages)")
            #expect(first.messages.contains("\n  '~/.ssh/id_b'"), "\(first.messages)")
            #expect(text(".netrc") == "own" && text(".ssh/id_a") == "key a" && text(".ssh/id_b") == "key b")
            let second = home.run(Self.undo)
            #expect(second.status == .refused)
            #expect(second.messages.contains("or you may not write there"), "\(second.messages)")
        }
        guard isMarked else { return }
        #expect(home.run(Self.undo).status == .ok)
        #expect(text(".ssh/id_a") == nil && text(".ssh/id_b") == nil && text(".netrc") == "own")
        #expect(try !Path.exists(home.home + "/.ssh"))
    }

    @Test("A folder that may not be removed is named, and a later undo removes it")
    func folderStays() throws {
        // Its files may go, and a name in the home may not.
        let isMarked = try FileMark.appendOnly.on(home.home) {
            let outcome = home.run(Self.undo + " --no-undo")
            #expect(outcome.status == .incomplete, "\(outcome.messages)")
            #expect(outcome.messages.contains("\n  '~/.ssh'"), "\(outcome.messages)")
            #expect(text(".ssh/id_a") == nil && text(".netrc") == "archived")
        }
        guard isMarked else { return }
        #expect(home.run(Self.undo).status == .ok)
        #expect(try !Path.exists(home.home + "/.ssh"))
        #expect(text(".netrc") == "own")
    }

    @Test("A dry run foretells that only a folder is left to be removed")
    func onlyFolderLeft() throws {
        try remove(".ssh")
        #expect(home.run("restore h.kcb .ssh/id_a --passphrase file:pass").status == .ok)
        let isMarked = try FileMark.appendOnly.on(home.home) {
            #expect(home.run(Self.undo + " --no-undo").status == .incomplete)
            #expect(text(".ssh/id_a") == nil)
        }
        guard isMarked else { return }
        let plan = home.run(Self.undo + " --dry-run")
        #expect(plan.text.contains("would take back 'restore' of "), "\(plan.text)")
        #expect(plan.text.contains(": 1 folder removed\n"), "\(plan.text)")
        let outcome = home.run(Self.undo + " -v")
        #expect(outcome.status == .ok && outcome.messages.contains(": 1 folder removed\n"), "\(outcome.messages)")
        #expect(try !Path.exists(home.home + "/.ssh"))
    }

    @Test("A restore writes all but what may not be written, and says what that is", arguments: [FileMark.immutable])
    func restoreWithoutRights(_ mark: FileMark) throws {
        for name in [".ssh/id_a", ".ssh/id_b"] { try remove(name) }
        try home.write("../home/.netrc", "own")
        let isMarked = try mark.on(home.home + "/.ssh") {
            for option in ["--dry-run --json", "--json"] {
                let outcome = home.run("restore h.kcb --passphrase file:pass --on-conflict overwrite \(option)")
                #expect(outcome.status == .incomplete, "\(outcome.messages)")
                #expect(outcome.text.contains(#""problem":"not-permitted""#), "\(outcome.text)")
                #expect(outcome.text.contains(#""update":1"#) && outcome.text.contains(#""fail":2"#))
            }
            #expect(text(".netrc") == "archived" && text(".ssh/id_a") == nil)
            // A file that is as in the archive needs no right.
            #expect(home.run("restore h.kcb .netrc --passphrase file:pass").status == .ok)
        }
        guard isMarked else { return }
        #expect(home.run("restore h.kcb --passphrase file:pass").status == .ok)
        #expect(text(".ssh/id_a") == "key a")
    }

    @Test("If everything was taken back by hand, the state is named that is there already")
    func takenBackByHand() throws {
        try remove(".ssh")
        try home.write("../home/.netrc", "own")
        let outcome = home.run(Self.undo)
        #expect(outcome.status == .notFound)
        #expect(outcome.messages.contains("there is nothing to take back"), "\(outcome.messages)")
    }
}

@Suite(
    "Undo of a home that is killed", .waitsForPrograms,
    .traced)
struct KilledHomeUndoTests {
    /// Prints what is not there once the way is free and undo was run again, for a kill before each call that changes names.
    private static let script = """
        set -u
        umask 077
        kc() { "$program" "$@" -q 2> messages; }
        mkdir -p "$HOME/.ssh"
        cd "$HOME"
        printf 'correct horse\n' > pass
        echo archived > .netrc; echo a > .ssh/id_a; echo b > .ssh/id_b
        kc create --keychain home: h.kcb --passphrase file:pass || exit 2
        rm -r .ssh
        echo own > .netrc
        kc restore h.kcb --passphrase file:pass --on-conflict overwrite || exit 3
        state=$(kc undo --keychain home: --list --json | sed 's/.*"name":"\\([^"]*\\)".*/\\1/')
        mv .netrc moved; ln -s moved .netrc
        cp -a "$HOME" ../template
        killed=0
        for call in linkat renameat2 unlinkat; do for number in $(seq 20); do
          cd ..; rm -r "$HOME"; cp -a template "$HOME"; cd "$HOME"
          $STRACE -f -qq -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$number -- \
            "$program" undo --keychain home: -q > messages 2>&1
          status=$?
          rm .netrc; mv moved .netrc
          kc undo "$state" --keychain home: --yes || kc undo --keychain home: --yes
          [ "$(cat .netrc)" = own ] && [ ! -e .ssh ] || echo "killed before $call $number: $(ls -a .ssh) $(cat .netrc messages)"
          [ $status -eq 137 ] || break
          killed=$((killed + 1))
        done; done 2> /dev/null
        echo "$killed killed, then ended with $status"
        """

    /// The same, with nothing in the way; undo is told no state, and runs again only while the one it takes back is listed.
    private static let freeScript =
        script
        .replacing("mv .netrc moved; ln -s moved .netrc\n", with: "")
        .replacing("rm .netrc; mv moved .netrc\n", with: "")
        .replacing(
            #"kc undo "$state" --keychain home: --yes || kc undo --keychain home: --yes"#,
            with: #"kc undo --keychain home: --list --json | grep -q "\"$state\"" && kc undo --keychain home: --yes"#)

    @Test("Whenever that is, undo finishes it once nothing is in the way")
    func killed() throws {
        let outcome = try Self.run(Self.script)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(
            outcome.text.wholeMatch(of: /([5-9]|\d\d) killed, then ended with 3\n/) != nil,
            "\(outcome.text)\(outcome.errorText)")
    }

    @Test("Undo finishes it and does not reverse it, without being told the state")
    func killedInFreeHome() throws {
        let outcome = try Self.run(Self.freeScript)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(
            outcome.text.wholeMatch(of: /([3-9]|\d\d) killed, then ended with 0\n/) != nil,
            "\(outcome.text)\(outcome.errorText)")
    }

    private static func run(_ script: String) throws -> ExternalProgram.Outcome {
        let folder = try TemporaryFolder()
        let environment = [
            "HOME": folder.path("home"), "PATH": "/usr/bin:/bin", "program": try ExternalProgram.built("kcbackup"),
            "STRACE": Strace.command.joined(separator: " "), "SWIFT_BACKTRACE": "enable=no",
        ]
        return try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
    }
}

@Suite(
    "Homes of users without the rights of root", .waitsForPrograms,
    .enabled(if: geteuid() == 0, "becoming another user takes root"))
struct UnprivilegedHomeTests {
    @Test("A link into a folder that cannot be listed keeps no other file from being taken")
    func closedFolder() throws {
        let folder = try TemporaryFolder()
        let script = """
            set -eu
            chmod 711 .
            install -m 755 "$program" kcbackup
            mkdir -p home/.ssh closed
            chmod 711 closed
            echo key > home/.ssh/id
            echo x > closed/config
            ln -s "$PWD/closed/config" home/.ssh/config
            chown -R 64321 home
            HOME=$PWD/home setpriv --reuid=64321 --clear-groups ./kcbackup create --keychain home: --unencrypted \
              home/h.kcb -q 2>&1 || echo "ended with $?"
            """
        let environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "program": try ExternalProgram.built("kcbackup"),
        ]
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
        #expect(outcome.text.contains("1 file was left out: '~/.ssh/config'"), "\(outcome.text)")
        #expect(outcome.text.hasSuffix("ended with 3\n"), "\(outcome.text)\(outcome.errorText)")
    }
}
