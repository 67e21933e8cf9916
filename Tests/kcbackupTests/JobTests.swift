import ByteStreams
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import kcbackup

@Suite("Jobs")
struct JobTests {
    @Test("A job and the record of a run are read as they were written, and altered ones are not")
    func spelling() throws {
        var job = Job(name: "nightly", create: ["--to", "/b", "--all"], folder: "/b", keep: ["--keep-daily", "7"])
        job.onFailure = "mail -s 'no backup' ada"
        job.hookTimeout = "30s"
        #expect(Job(name: "nightly", parsing: job.spelling) == job)
        for (old, new) in [("end\n", ""), ("job 1", "job 2"), (" --all\n", ""), ("time", "more x\ntime")] {
            let changed = job.spelling.replacing(old, with: new)
            #expect(Job(name: "nightly", parsing: changed) != job, "\(changed)")
        }
        var record = RunRecord(began: .reference)
        #expect(RunRecord(parsing: record.spelling) == record)
        record.ended = .reference
        record.status = .locked
        record.message = "keychain 'login' is locked"
        record.hints = ["unlock it", "or give a passcode"]
        record.good = .reference
        record.items = 85
        #expect(RunRecord(parsing: record.spelling) == record)
        #expect(RunRecord(parsing: record.spelling + "x") == nil)
    }

    @Test("A word with a line feed is refused, since it could change the meaning of a job")
    func lineFeed() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let outcome = home.run([
            "schedule", "add", "x", "--unencrypted", "--to", "b", "--on-failure", "true\nfolder /elsewhere",
        ])
        #expect(outcome.status == .usage)
        #expect(home.run("schedule list").text.isEmpty)
    }

    @Test("A killed run is reported as killed, and a run in progress as running")
    func killed() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        let jobs = Jobs(home.world())
        try jobs.save(RunRecord(began: .reference), of: "x")
        #expect(home.run("status").text.contains("was killed"))
        #expect(home.run("doctor").text.contains("was killed"))
        let lock = try jobs.lock("x", waitingAtMost: .zero)
        #expect(home.run("status").text.contains("runs now"))
        #expect(home.run("run x").status == .busy)
        withExtendedLifetime(lock) {}
    }

    @Test("A job that was edited so that it cannot run is reported as damaged, not as an internal error")
    func changedByHand() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        let path = "home/.local/share/kcbackup/jobs/x.job"
        let text = String(decoding: try home.folder.read(path), as: UTF8.self)
        try home.folder.write(path, Array(text.replacing(" --unencrypted", with: " --unencryptd").utf8), mode: 0o600)
        for line in ["run x", "doctor"] { #expect(home.run(line).status == .damaged, "\(line)") }
    }

    @Test("A line of a unit, a crontab or a script is recognised by the job that it runs")
    func starters() {
        for line in [
            "ExecStart=/usr/bin/kcbackup run nightly", "17 3 * * * XDG_DATA_HOME=/x '/opt/kcbackup' run nightly",
            "kcbackup run -v nightly >/dev/null", "@daily kcbackup run \"nightly\"",
        ] {
            #expect(JobStarter.starts("nightly", "[Service]\n\(line)\n"), "\(line)")
        }
        for line in [
            "# 17 3 * * * kcbackup run nightly", "kcbackup run nightly2", "kcbackup schedule show nightly",
            "nightly kcbackup run", "other run nightly", "",
        ] {
            #expect(!JobStarter.starts("nightly", line), "\(line)")
        }
    }

    @Test("Doctor warns of a job that nothing starts, until a timer is enabled or cron has a line for it")
    func nothingStarts() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        func doctor(_ crontab: String) throws -> TestHome.Outcome {
            try home.write("bin/crontab", "#!/bin/sh\n\(crontab)\n", mode: 0o700)
            return home.run(["doctor", "-v"], environment: ["PATH": "\(home.path("bin")):/usr/bin:/bin"])
        }
        let none = "echo 'no crontab for ada' >&2; exit 1"
        let idle = try doctor(none)
        #expect(idle.status == .ok && idle.messages.contains("nothing that kcbackup can see starts it"))
        #expect(idle.messages.contains("no problem, 1 warning\n"))
        #expect(try !doctor("echo '0 3 * * * kcbackup run x'").messages.contains("warning"))
        #expect(try doctor("echo '0 3 * * * kcbackup run y'").messages.contains("warning"))
        let unknown = try doctor("echo 'you are not allowed to use this program' >&2; exit 1").messages
        #expect(unknown.contains("what cron starts cannot be seen") && !unknown.contains("warning"))
        #expect(home.run("schedule install x").status == .ok)
        #expect(try doctor(none).messages.contains("not enabled"))
        let units = home.home + "/.config/systemd/user"
        try FileManager.default.createDirectory(
            atPath: units + "/timers.target.wants", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: units + "/timers.target.wants/kcbackup-x.timer", withDestinationPath: units + "/kcbackup-x.timer")
        #expect(try !doctor(none).messages.contains("warning"))
    }

    @Test("Doctor reports a failure once, whether or not its cause is still there")
    func failureOnce() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("p", "walnut lantern\n")
        #expect(home.run("schedule add x --passphrase file:p --to b").status == .ok)
        try FileManager.default.removeItem(atPath: home.path("p"))
        #expect(home.run("run x").status == .notFound)
        let present = home.run("doctor").text
        #expect(present.components(separatedBy: "does not exist").count == 2, "\(present)")
        #expect(present.contains("; its last run failed because of that\n"))
        #expect(present.contains("(umask 077; cat > "))
        try home.write("p", "walnut lantern\n")
        let past = home.run("doctor").text
        #expect(past.hasPrefix("job 'x': its last run failed: ") && past.contains("does not exist"), "\(past)")
    }

    @Test("Doctor reports an identity file beside the archives")
    func identityBesideArchives() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("doctor").status == .ok)
        #expect(home.run("keygen -o b/key.txt").status == .ok)
        let outcome = home.run("doctor")
        #expect(outcome.status == .refused && outcome.text.contains("b/key.txt"))
    }

    @Test("After an incomplete backup, nothing is removed")
    func noPruneAfterFailure() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("item import items.jsonl").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b --keep-last 1").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("item delete --service a").status == .ok)
        let outcome = home.run("run x")
        #expect(outcome.status == .shrunk)
        #expect(outcome.messages.split(separator: "\n").count == 1)
        #expect(home.run("list b --columns state").text == "STATE\nok\n")
    }

    @Test("Archives that were not verified for a week are verified again, and a corrupted one fails the run")
    func rot() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        let name = try #require(try Path.names(in: home.path("b")).first { $0.hasSuffix(".kcb") })
        var bytes = try home.folder.read("work/b/" + name)
        bytes[bytes.count / 2] ^= 1
        try home.write("b/" + name, bytes)
        #expect(home.run("run x").status == .ok)
        for _ in 0..<(8 * 24 * 60) { _ = home.nextTime() }
        let outcome = home.run("run x")
        #expect(outcome.status == .damaged)
        #expect(outcome.messages.contains(name))
    }
}

@Suite("systemd units", .enabled(if: ExternalProgram.locate("systemd-analyze") != nil, "systemd is not installed"))
struct UnitTests {
    private func units(_ option: String) throws -> TemporaryFolder {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("phrase", "correct horse battery\n")
        #expect(
            home.run("schedule add nightly --passphrase cred:phrase --to b --at Mon..Fri").status == .ok)
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

    @Test("systemd-analyze finds no faults in the units", arguments: ["", "--system"])
    func verify(option: String) throws {
        let folder = try units(option)
        let files = ["kcbackup-nightly.service", "kcbackup-nightly.timer"].map(folder.path)
        let outcome = try ExternalProgram.run("systemd-analyze", ["verify", "--man=no"] + files)
        #expect(outcome.status == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
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
            "$0" device renew --yes -q > renewed
            "$1" && echo wrong || echo "ended with $?"
            """
        let outcome = try ExternalProgram.run(
            "bash", ["-c", script, program, Project.path("Samples/unattended/backup.sh")],
            environment: ["PATH": "/usr/bin:/bin"], in: folder.path)
        #expect(outcome.text == "1\nended with 4\n", "\(outcome.text)\(outcome.errorText)")
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
    "Runs by cron",
    .enabled(
        if: ExternalProgram.locate("cron") != nil && geteuid() == 0, "cron is not installed, or needs root"))
struct CronTests {
    @Test("A job runs from the real cron, with its empty environment, and prints nothing")
    func reboot() throws {
        let folder = try TemporaryFolder()
        let program = try ExternalProgram.built("kcbackup")
        let script = """
            set -eu
            export HOME=$PWD/home
            mkdir home
            "$0" keychain create --no-passcode -q
            "$0" schedule add nightly --unencrypted --to "$HOME/b" --on-success "echo done > $HOME/told" -q
            line=$("$0" schedule show nightly --crontab)
            mount -t tmpfs none /run
            mount -t tmpfs none /var/spool/cron/crontabs
            # What cron would do at three in the morning it does at once.
            echo "@reboot ${line#* * * * * } > $HOME/said 2>&1" > /var/spool/cron/crontabs/root
            chmod 600 /var/spool/cron/crontabs/root
            cron -f &
            daemon=$!
            for _ in $(seq 600); do [ ! -s home/told ] || break; read -r -t 0.1 _ <> <(:) || :; done
            kill "$daemon"
            cat home/said home/told
            ls home/b
            """
        let outcome = try ExternalProgram.run(
            "unshare", ["-m", "bash", "-c", script, program], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            in: folder.path)
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
