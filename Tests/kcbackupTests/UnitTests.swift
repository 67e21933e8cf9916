import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite(
    "systemd units", .waitsForPrograms,
    .enabled(if: ExternalProgram.locate("systemd-analyze") != nil, "systemd is not installed"))
struct UnitTests {
    private func units(_ option: String) throws -> TemporaryFolder {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("phrase", "correct horse battery\n")
        #expect(
            home.run("schedule add nightly --passphrase cred:phrase --to b --at Mon..Fri --on-change").status == .ok)
        let folder = try TemporaryFolder()
        for file in home.run("schedule show nightly \(option)").text.components(separatedBy: "# kcbackup-").dropFirst()
        {
            let (name, text) = try #require(file.firstIndex(of: "\n").map { (file[..<$0], file[$0...]) })
            // systemd-analyze requires that the program in ExecStart exists.
            let program = text.replacing(/ExecStart=[^ ]+/, with: "ExecStart=/bin/true")
            try folder.write("kcbackup-\(name)", Array(program.utf8))
        }
        return folder
    }

    @Test(
        "systemd-analyze finds no faults in the units, also with an escaped name of the unit for failures",
        arguments: ["", "--system", #"--failure-unit notify@home-ada\x2dx.service"#])
    func verify(option: String) throws {
        let folder = try units(option)
        let files = ["service", "timer", "changed.service", "changed.path"]
            .map { folder.path("kcbackup-nightly.\($0)") }
        let outcome = try ExternalProgram.run("systemd-analyze", ["verify", "--man=no"] + files)
        #expect(outcome.status == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
    }

    @Test("A system unit names folders as systemd does, without '..' and links")
    func normalized() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add nightly --unencrypted --to b/../c").status == .ok)
        let unit = home.run("schedule show nightly --system").text
        let places = try #require(unit.components(separatedBy: "\n").first { $0.hasPrefix("ReadWritePaths=") })
        #expect(!places.contains("..") && places.hasSuffix("/c"), "\(places)")
    }

    @Test("The sample units equal those that a job gets")
    func samples() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add nightly --unencrypted --to b").status == .ok)
        for file in home.run("schedule show nightly").text.components(separatedBy: "# kcbackup-").dropFirst() {
            let (name, unit) = try #require(file.firstIndex(of: "\n").map { (file[..<$0], String(file[$0...])) })
            func lines(_ text: String) -> [String] {
                text.components(separatedBy: "\n").filter { line in
                    !line.isEmpty && !["#", "ExecStart=", "Environment="].contains { line.hasPrefix($0) }
                }
            }
            let sample = lines(try Project.text("Samples/unattended/kcbackup-\(name)"))
            #expect(lines(unit) == sample, "\(lines(unit).difference(from: sample))")
        }
    }

    @Test("The sample script backs up and prunes, and stops after an incomplete backup")
    func script() throws {
        let folder = try TemporaryFolder()
        let program = try ExternalProgram.built("kcbackup")
        let script = """
            set -eu
            export XDG_DATA_HOME=$PWD/data KCBACKUP=$0 FOLDER=$PWD/b
            "$0" keychain create --no-passcode -q
            "$0" keygen -o key -q
            RECIPIENT=$(sed -n 's/^# public key: //p' key)
            export RECIPIENT
            "$1"
            "$1"
            ls b | wc -l
            "$0" device adopt --new-key -q > renewed
            "$1" && echo wrong || echo "ended with $?"
            """
        let outcome = try ExternalProgram.run(
            "bash", ["-c", script, program, Project.path("Samples/unattended/backup.sh")],
            environment: ["PATH": "/usr/bin:/bin"], in: folder.path)
        #expect(outcome.text == "1\nended with 4\n", "\(outcome.text)\(outcome.errorText)")
    }

    @Test(
        "A timer and a line of a crontab start a job at the same time",
        arguments: [
            ("hourly", "*-*-* *:17:00", "17 * * * * "), ("daily", "*-*-* 03:17:00", "17 3 * * * "),
            ("weekly", "Mon *-*-* 03:17:00", "17 3 * * 1 "), ("monthly", "*-*-01 03:17:00", "17 3 1 * * "),
        ])
    func times(at: String, timer: String, cron: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b --at \(at)").status == .ok)
        #expect(home.run("schedule show x").text.contains("\nOnCalendar=\(timer)\n"))
        #expect(home.run("schedule show x --crontab").text.hasPrefix(cron))
        let outcome = try ExternalProgram.run("systemd-analyze", ["calendar", timer])
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }

    @Test(
        "A time may have a time zone, whatever its name",
        arguments: ["*-*-* 03:00 America/New_York", "Mon 03:00 Etc/GMT+5"])
    func timeZones(at: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let added = home.run(["schedule", "add", "x", "--unencrypted", "--to", "b", "--at", at])
        #expect(added.status == .ok, "\(added.messages)")
        #expect(home.run("schedule show x").text.contains("\nOnCalendar=\(at)\n"))
    }

    @Test("A job looks for programs in no folder that other users can write to")
    func sharedPrograms() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --to b --passphrase cmd:true").status == .ok)
        for (name, mode) in [("own", 0o755), ("group", 0o775), ("everyone", 0o777)] {
            let folder = "\(home.home)/\(name)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
        }
        let path = ["own", "group", "everyone"].map { "\(home.home)/\($0)" }.joined(separator: ":")
        for form in ["schedule show x", "schedule show x --crontab"] {
            let text = home.run(form.split(separator: " ").map(String.init), environment: ["PATH": path]).text
            #expect(text.contains("PATH=") && text.contains("\(home.home)/own"), "\(text)")
            #expect(!text.contains("\(home.home)/group") && !text.contains("\(home.home)/everyone"))
        }
    }

    @Test("A time that never comes is told when a job gets it", arguments: ["2020-01-01", "*-02-30 03:00"])
    func never(at: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let added = home.run(["schedule", "add", "x", "--unencrypted", "--to", "b", "--at", at])
        #expect(added.status == .ok && added.messages.contains("the time '\(at)' never comes"), "\(added.messages)")
        #expect(!home.run("schedule edit x --at daily").messages.contains("never comes"))
        let edited = home.run(["schedule", "edit", "x", "--at", at])
        #expect(edited.messages.contains("so no timer will start job 'x'"), "\(edited.messages)")
    }

    @Test("A system unit has a low exposure according to systemd-analyze")
    func exposure() throws {
        let folder = try units("--system")
        let outcome = try ExternalProgram.run(
            "systemd-analyze",
            ["security", "--offline=true", "--threshold=30", folder.path("kcbackup-nightly.service")])
        #expect(outcome.status == 0, "\(outcome.text.suffix(200))")
    }
}

@Suite(
    "Runs by cron", .waitsForPrograms,
    .enabled(
        if: ExternalProgram.locate("cron") != nil && geteuid() == 0, "cron is not installed, or needs root"))
struct CronTests {
    @Test(
        "A job runs from the real cron, with its empty environment, and prints nothing",
        arguments: ["home", "100% '\u{301};touch said; \"$(touch said)` é"])
    func reboot(home: String) throws {
        let folder = try TemporaryFolder()
        let program = try ExternalProgram.built("kcbackup")
        let script = """
            set -eu
            export HOME="$PWD/$1"
            mkdir "$HOME"
            "$0" keychain create --no-passcode -q
            echo walnut > secret; chmod 600 secret
            "$0" item add --service a --secret file:secret -q
            "$0" schedule add nightly --unencrypted --to "$HOME/b" --on-success "echo done > told" -q
            line=$("$0" schedule show nightly --crontab)
            mount -t tmpfs none /run
            mount -t tmpfs none /var/spool/cron/crontabs
            # What cron would do at three in the morning it does at once.
            echo "@reboot cd $PWD; ${line#* * * * * } > said 2>&1" > /var/spool/cron/crontabs/root
            chmod 600 /var/spool/cron/crontabs/root
            cron -f &
            daemon=$!
            for _ in $(seq 3000); do [ ! -s told ] || break; read -r -t 0.1 _ <> <(:) || :; done
            kill "$daemon"
            cat said told
            ls "$HOME/b"
            """
        let outcome = try ExternalProgram.run(
            "unshare", ["-m", "bash", "-c", script, program, home],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], in: folder.path)
        let lines = outcome.text.split(separator: "\n")
        try #require(lines.count == 2, "\(outcome.text)\(outcome.errorText)")
        #expect(lines[0] == "done")
        #expect(lines[1].hasPrefix("login-KC-") && lines[1].hasSuffix(".kcb"))
    }

    @Test("A job runs even without an environment, a home folder, a terminal or open descriptors")
    func bare() throws {
        let folder = try TemporaryFolder()
        let program = try ExternalProgram.built("kcbackup")
        let script = """
            set -eu
            export XDG_DATA_HOME=$PWD/data
            "$0" keychain create --no-passcode -q
            "$0" schedule add nightly --unencrypted --to "$PWD/b" -q
            env -i XDG_DATA_HOME="$PWD/data" "$0" run nightly <&- >&- 2>&-
            env -i TMPDIR=/proc XDG_DATA_HOME="$PWD/data" "$0" run nightly < /dev/null
            ls b | wc -l
            """
        let outcome = try ExternalProgram.run(
            "unshare", ["-m", "bash", "-c", script, program], environment: ["PATH": "/usr/bin:/bin"], in: folder.path)
        #expect(outcome.text == "2\n", "\(outcome.text)\(outcome.errorText)")
    }
}
