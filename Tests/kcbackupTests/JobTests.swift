import Foundation
import KCBackupJobs
import KCByteStreams
import KCKeychainModel
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Jobs")
struct JobTests {
    @Test("A run does not make the folder that 'schedule add' made, unless it is told to")
    func missingFolder() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b/c").status == .ok)
        #expect(FileManager.default.fileExists(atPath: home.path("b/c")))
        try FileManager.default.removeItem(atPath: home.path("b"))
        for line in ["run x", "doctor"] { #expect(home.run(line).status == .notFound, "\(line)") }
        #expect(!FileManager.default.fileExists(atPath: home.path("b")))
        #expect(home.run("run x --change").status == .ok)
        #expect(FileManager.default.fileExists(atPath: home.path("b/c")))
    }

    @Test("A job names the keychain that was meant when it was added")
    func namesItsKeychain() throws {
        let home = try TestHome()
        for name in ["login", "work"] { #expect(home.run("keychain create \(name) --no-passcode").status == .ok) }
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("schedule list --json").text.contains(#""--keychain","login""#))
        #expect(home.run("keychain default work").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("list b --columns keychain").text == "KEYCHAIN\nlogin\n")
        // The folder knows its keychain too.
        #expect(home.run("create --unencrypted --to b").status == .ok)
        #expect(home.run("list b --columns keychain").text == "KEYCHAIN\nlogin\nlogin\n")
    }

    @Test("A job that gets another folder runs there, and one that lost its backups there is noticed as before")
    func otherFolder() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("schedule edit x --to c").status == .ok)
        #expect(home.run("status").text.contains("never"), "there is no backup of it in its folder")
        #expect(home.run("run x").status == .ok)
        #expect(home.run("list c --columns keychain").text == "KEYCHAIN\nlogin\n")
        // The backups there are known.
        #expect(home.run("schedule edit x --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        try FileManager.default.removeItem(atPath: home.home + "/.local/share/kcbackup/backups")
        #expect(home.run("run x").status == .notFound)
    }

    @Test("A job keeps how long it waits for another run in its folder")
    func lockWait() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b --lock-wait 5m").status == .ok)
        #expect(home.run("schedule list --json").text.contains(#""--lock-wait","5m""#))
        #expect(home.run("schedule edit x --lock-wait 0s --keep-last 1").status == .ok)
        #expect(home.run("schedule list --json").text.contains(#""--lock-wait","0s""#))
        #expect(home.run("run x").status == .ok)
        #expect(home.run("schedule edit x --lock-wait soon").status == .usage)
        #expect(home.run("schedule edit x --remove lock-wait").status == .ok)
        #expect(!home.run("schedule list --json").text.contains("lock-wait"))
    }

    @Test("A job for a file works in every folder")
    func fileOfItems() throws {
        let home = try TestHome()
        try home.write("items.jsonl", "{\"class\":\"genp\",\"attributes\":{\"svce\":\"a\"},\"secret\":\"s\"}\n")
        let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
        let line = "schedule add x --keychain file:items.jsonl --to b -r \(recipient)"
        #expect(home.run(line).status == .ok)
        #expect(home.run("schedule list --json").text.contains("file:\(home.path("items.jsonl"))"))
    }

    @Test("Options that what is backed up lacks are refused when a job is added, not when it runs")
    func optionsThatDoNotFit() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("items.jsonl", "{\"class\":\"genp\",\"attributes\":{\"svce\":\"a\"},\"secret\":\"s\"}\n")
        for line in [
            "--unencrypted --keychain file:items.jsonl", "--unencrypted --skip-locked",
            "--all --unencrypted --skip-locked",
        ] {
            let outcome = home.run("schedule add x --to b \(line)")
            #expect(outcome.status == .usage, "\(line): \(outcome.messages)")
            #expect(home.run("schedule list").text.isEmpty)
        }
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
        let jobs = Jobs(home.world().machine)
        try jobs.save(RunRecord(began: .reference), of: "x")
        #expect(home.run("status").text.contains("was killed"))
        #expect(home.run("doctor").text.contains("was killed"))
        let lock = try jobs.lock("x", waitingAtMost: .zero)
        #expect(home.run("status").text.contains("runs since 2"))
        #expect(home.run("run x").status == .busy)
        #expect(home.run("schedule remove x").status == .busy)
        withExtendedLifetime(lock) {}
    }

    @Test("A new job is not taken for an earlier one of its name, whatever that has left")
    func leftRecords() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        try FileManager.default.removeItem(atPath: home.home + "/.local/share/kcbackup/jobs/x.job")
        #expect(home.run("schedule add x --unencrypted --to c").status == .ok)
        #expect(home.run("status").text.contains(/x +never/), "\(home.run("status").text)")
        #expect(home.run("run x").status == .ok)
    }

    @Test("A damaged job hides no other, is named by every command, and can be removed and added again")
    func damaged() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for name in ["bad", "good"] {
            #expect(home.run("schedule add \(name) --all --unencrypted --to \(name)").status == .ok)
        }
        #expect(home.run("run good").status == .ok)
        let path = "home/.local/share/kcbackup/jobs/bad.job"
        try home.folder.write(path, try home.folder.read(path) + Array("x\n".utf8), mode: 0o600)
        let remedy = "kcbackup: hint: 'kcbackup schedule remove bad', then add it again\n"
        let list = home.run("schedule list")
        #expect(list.status == .damaged && list.messages.hasSuffix(remedy), "\(list.messages)")
        #expect(list.text.contains("bad   ?      ?\n") && list.text.contains("good  daily  "), "\(list.text)")
        #expect(home.run("schedule list --json").text.contains(#""unreadable":[{"name":"bad","error":{"code":13,"#))
        let status = home.run("status --max-age 26h")
        #expect(status.status == .damaged && status.messages.contains(remedy), "\(status.messages)")
        #expect(status.text.contains("\nbad   ?   ") && status.text.contains("1  good\n"), "\(status.text)")
        #expect(status.messages.contains("no good backup in the last 26h: job 'bad'\n"), "\(status.messages)")
        #expect(!status.messages.contains("is in no job"))
        let metrics = home.run("status --prometheus")
        #expect(metrics.status == .damaged)
        #expect(metrics.text.contains("kcbackup_last_good_timestamp_seconds{job=\"bad\"} 0\n"), "\(metrics.text)")
        let doctor = home.run("doctor")
        #expect(doctor.status == .damaged && doctor.text.components(separatedBy: "is damaged").count == 2)
        #expect(home.run("run bad").messages.contains("'kcbackup schedule remove bad'"))
        #expect(home.run("schedule add bad --all --unencrypted --to bad").status == .exists)
        #expect(
            home.run("schedule remove bad --json").text.contains(#"{"jobs":[],"unreadable":[{"name":"bad","error":{"#))
        #expect(home.run("schedule add bad --all --unencrypted --to bad").status == .ok)
        #expect(home.run("schedule remove missing").status == .notFound)
        // A record of a run that is damaged is removed as well.
        try home.folder.write("home/.local/share/kcbackup/jobs/good.last", Array("x".utf8), mode: 0o600)
        #expect(home.run("status").status == .damaged)
        #expect(home.run("schedule remove good").status == .ok)
        #expect(home.run("status").status == .ok)
    }

    @Test("Doctor names each keychain that does not open, once, in a job or not")
    func closedKeychains() throws {
        let home = try TestHome()
        for name in ["login", "work"] {
            #expect(home.run("keychain create \(name) --no-passcode").status == .ok)
        }
        #expect(home.run("schedule add nightly --keychain login --unencrypted --to b").status == .ok)
        #expect(home.run("device adopt --new-key").status == .ok)
        let outcome = home.run("doctor")
        #expect(outcome.status == .refused)
        for name in ["login", "work"] {
            #expect(outcome.text.components(separatedBy: "keychain '\(name)' belongs to device").count == 2)
        }
        #expect(outcome.text.contains("kcbackup device import"))
    }

    @Test("A run that failed while the keychain was locked is a warning once it is open")
    func lockedBefore() throws {
        let home = try TestHome()
        try home.write("passcode", "correct horse battery\n")
        try home.write("phrase", "correct horse battery staple\n")
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("schedule add x --passphrase file:phrase --to b").status == .ok)
        #expect(home.run("run x").status == .locked)
        let locked = home.run("doctor")
        #expect(locked.status == .locked && locked.text.contains("its last run failed because of that"))
        #expect(
            home.run("keychain set-passcode --passcode file:passcode --no-passcode --yes").status == .ok)
        let open = home.run("doctor")
        #expect(open.status == .ok, "\(open.text)")
        #expect(!open.text.contains("--passcode file:PATH"))
        #expect(open.messages.contains("its last run failed, for a reason that is gone: "))
    }

    @Test("What a hint of a job names can be typed: a loss and a change are accepted once with 'run'")
    func acceptedOnce() throws {
        let home = try TestHome()
        let terminal = { ScriptedTerminal(showsMessages: true) }
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("import items.jsonl").status == .ok)
        #expect(home.run("schedule add x --unencrypted --to b").status == .ok)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("item delete --service a").status == .ok)
        let shrunk = home.run(["run", "x"], terminal: terminal())
        #expect(shrunk.status == .shrunk)
        #expect(shrunk.messages.contains("run 'kcbackup run x --accept-shrink' once"), "\(shrunk.messages)")
        #expect(home.run("doctor").text.contains("run 'kcbackup run x --accept-shrink' once"))
        #expect(home.run("run x --accept-shrink").status == .ok)
        #expect(home.run("run x").status == .ok)
        try FileManager.default.removeItem(atPath: home.path("b"))
        let gone = home.run(["run", "x"], terminal: terminal())
        #expect(gone.status == .notFound)
        #expect(gone.messages.contains("'kcbackup run x --change' starts over there"), "\(gone.messages)")
        #expect(home.run("run x --change").status == .ok)
        #expect(home.run("list b --columns state").text.hasSuffix("ok\n"))
        // By hand, the option is one of 'create'.
        try FileManager.default.removeItem(atPath: home.path("b"))
        let byHand = home.run("create --unencrypted --to b")
        #expect(byHand.messages.contains("'kcbackup create --to b --change …' starts over"), "\(byHand.messages)")
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

    @Test("After a backup that was refused, nothing is removed", arguments: ["", "--all "])
    func noPruneAfterFailure(all: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("import items.jsonl").status == .ok)
        #expect(home.run("schedule add x \(all)--unencrypted --to b").status == .ok)
        for _ in 0..<2 { #expect(home.run("run x").status == .ok) }
        #expect(home.run("schedule edit x --keep-last 1").status == .ok)
        #expect(home.run("item delete --service a").status == .ok)
        let outcome = home.run("run x")
        #expect(outcome.status == .shrunk)
        #expect(outcome.messages.split(separator: "\n").count == 1)
        #expect(home.run("list b --columns state").text == "STATE\nok\nok\n")
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
