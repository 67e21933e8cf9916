import Foundation
import KCBackupJobs
import KCByteStreams
import KCRemotes
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The copies of a job", .waitsForPrograms)
struct JobCopiesTests {
    private let home: TestHome
    private let rclone: FakeRclone

    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        for line in [
            "keychain create --no-passcode", "import items.jsonl",
            "schedule add x --unencrypted --metadata-readable --to b --copy-to nas:x",
        ] { #expect(run(line).status == .ok, "\(line)") }
    }

    private func run(_ line: String) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
    }

    private func names(_ folder: String) throws -> Set<String> {
        let path = home.path(folder)
        return Path.isFolder(path) ? Set(try Path.names(in: path).filter { $0.hasSuffix(".kcb") }) : []
    }

    /// Makes the remote answer nothing but a failure, or answer again.
    private func cut(_ isCut: Bool) throws {
        let (path, other) = (home.path("bin/rclone"), home.path("bin/away"))
        if isCut {
            try FileManager.default.moveItem(atPath: path, toPath: other)
            try home.write(
                "bin/rclone", "#!/bin/sh\n[ $1 = config ] && exec \(other) \"$@\"\necho 'no such host' >&2; exit 1\n",
                mode: 0o700)
        } else {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: other, toPath: path)
        }
    }

    private func count(_ name: String) throws -> String? {
        run("status --json").text.firstMatch(of: try Regex("\"\(name)\":(\\d+)")).flatMap { $0[1].substring }.map(
            String.init)
    }

    @Test("A night on a bucket takes four calls, however many archives are copied or read back")
    func calls() throws {
        #expect(run("schedule edit x --copy-to bucket:x").status == .ok)
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        #expect(try rclone.calls().suffix(4) == ["config", "lsf", "copy", "hashsum"])
        try FileManager.default.removeItem(atPath: home.path("bin/rclone.calls"))
        #expect(run("copy b --to bucket:y --metadata-readable").status == .ok)
        #expect(try names("remote/y") == names("b") && rclone.calls() == ["config", "lsf", "copy", "hashsum"])
    }

    @Test("Credentials that may only write are enough for a job, which says that nothing was read back")
    func writeOnly() throws {
        #expect(run("schedule edit x --copy-to bucket:x").status == .ok)
        try rclone.refuse("lsf cat hashsum")
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        #expect(try names("remote/x") == names("b"))
        #expect(try count("notReadBack") == "2" && run("status").text.contains("ok: 2 not read back"))
        #expect(run("run x -v").messages.contains("3 copies in 'bucket:x' were not read back"))
        let copied = run("copy b --to bucket:x --metadata-readable")
        #expect(
            copied.status == .ok && copied.messages.contains("was not read back, since these credentials may not read"))
        try rclone.refuse("")
        #expect(run("run x").status == .ok)
        #expect(try count("there") == "4" && count("notReadBack") == "2", "one was read in turn, and the new one")
    }

    @Test("A folder that could be listed once must stay so, until '--change'")
    func narrowed() throws {
        #expect(run("schedule edit x --copy-to bucket:x").status == .ok)
        #expect(run("run x").status == .ok)
        try rclone.refuse("lsf cat hashsum")
        let outcome = run("run x")
        #expect(outcome.status == .notCopied && outcome.messages.contains("refuses access"), "\(outcome.messages)")
        #expect(run("run x --change").status == .ok && run("run x").status == .ok)
        #expect(try names("remote/x") == names("b"))
    }

    @Test("Without a listing, what could be read once and cannot be read anymore is no copy")
    func unlistedLoss() throws {
        #expect(run("schedule edit x --copy-to bucket:x").status == .ok)
        try rclone.refuse("lsf hashsum")
        #expect(run("run x").status == .ok && run("status").text.contains("ok: may not be listed"))
        try rclone.refuse("lsf cat hashsum")
        #expect(run("run x").status == .notCopied)
    }

    @Test("Where the remote cannot be reached, copy says so once, and tries no further archive")
    func unreachable() throws {
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        try cut(true)
        let outcome = run("copy b --to nas:y --metadata-readable")
        #expect(outcome.status != .ok)
        #expect(outcome.messages.components(separatedBy: "error: ").count == 2, "\(outcome.messages)")
        try cut(false)
        #expect(run("copy b --to nas:y --metadata-readable").status == .ok)
    }

    @Test("Each run copies its archive, and status says so")
    func copies() throws {
        #expect(run("status").text.contains("never ran"))
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        #expect(try names("remote/x") == names("b") && names("b").count == 2)
        let status = run("status").text
        #expect(status.contains(/nas:x +x +20\d\d/), "\(status)")
        #expect(
            run("status --prometheus").text.contains(
                #"kcbackup_copies_last_good_timestamp_seconds{job="x",to="nas:x"} 1"#))
        #expect(run("doctor").text.contains("nas") == false)
    }

    @Test(
        "A failed copy has an exit code and a line of its own, and the backup counts; the next run copies what is missing"
    )
    func failure() throws {
        #expect(run("run x").status == .ok)
        try cut(true)
        let failed = run("run x")
        #expect(failed.status == .notCopied)
        #expect(
            failed.messages.hasPrefix(
                "kcbackup: error: job 'x': the backup is good, but is not copied to 'nas:x': 'nas:x' cannot be reached"),
            "\(failed.messages)")
        #expect(run("run x --json").text.contains(#""result":"not-copied""#))
        #expect(run("status").text.contains("io: 'nas:x' cannot be reached"))
        #expect(run("status --json").text.contains(#""result":"not-copied""#))
        #expect(run("status --max-age 1h").status == .ok, "it was copied a moment ago")
        #expect(run("doctor").text.contains("cannot be reached"))
        try cut(false)
        #expect(run("run x").status == .ok)
        #expect(try names("remote/x") == names("b") && names("b").count == 4)
    }

    @Test("Copies that are too old make status fail, as backups do; those that never were do, too")
    func stale() throws {
        try cut(true)
        #expect(run("run x").status == .notCopied)
        let stale = run("status --max-age 1h")
        #expect(stale.status == .stale && stale.messages.contains("copies of job 'x' on 'nas:x'"), "\(stale.messages)")
    }

    @Test("The first run copies the newest archive, not all that there ever were")
    func first() throws {
        #expect(run("schedule edit x --remove copy-to --remove metadata-readable").status == .ok)
        for _ in 0..<3 { #expect(run("run x").status == .ok) }
        #expect(run("schedule edit x --copy-to nas:x --metadata-readable").status == .ok)
        #expect(run("run x").status == .ok)
        #expect(try names("remote/x").count == 1 && names("remote/x").isSubset(of: names("b")))
    }

    @Test("A newest copy that somebody deleted is made again; one that somebody changed is left, and reported")
    func tampering() throws {
        #expect(run("run x").status == .ok)
        let older = try #require(names("remote/x").first)
        #expect(run("schedule edit x --if-changed").status == .ok)
        #expect(run("item add --service b --account b --generate").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").subtracting([older]).first)
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(name)"))
        let again = run("run x")
        #expect(
            again.status == .notCopied
                && again.messages.contains("'\(name)' had been copied to 'nas:x', and was gone from there"),
            "\(again.messages)")
        #expect(run("status").text.contains("1 copy was gone"))
        #expect(run("run x").messages.isEmpty)
        #expect(try names("remote/x") == [older, name])
        try home.write("remote/x/\(name)", "other")
        try FileManager.default.removeItem(atPath: home.home + "/.local/share/kcbackup/jobs/x.copies")
        #expect(run("run x").status == .notCopied)
        #expect(try home.folder.read("work/remote/x/\(name)") == Array("other".utf8))
    }

    @Test("After one run with a fast clock, later archives are copied, too")
    func fastClock() throws {
        #expect(run("run x").status == .ok)
        home.pass(hours: 400 * 24)
        #expect(run("run x").status == .ok)
        home.pass(hours: -400 * 24)
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        #expect(try names("remote/x") == names("b") && names("b").count == 4)
    }

    @Test(
        "If older copies were removed, the next run says so to nobody's terminal, copies them again, and ends with 19")
    func removed() throws {
        for _ in 0..<4 { #expect(run("run x").status == .ok) }
        let names = try self.names("remote/x").sorted()
        for name in names[1...2] { try FileManager.default.removeItem(atPath: home.path("remote/x/\(name)")) }
        let found = run("run x")
        #expect(found.status == .notCopied, "\(found.messages)")
        #expect(
            found.messages.contains(
                "copies were lost at 'nas:x': 2 copies were gone, the newest of them '\(names[2])', and are there again"
            ),
            "\(found.messages)")
        #expect(try self.names("remote/x") == self.names("b") && self.names("b").count == 5)
        let status = run("status")
        #expect(status.status == .notCopied && status.text.contains("2 copies were gone"), "\(status.text)")
        #expect(run("run x").status == .ok && run("status").status == .ok)
        let figures = run("status --prometheus").text
        #expect(figures.contains(#"kcbackup_copies_there{job="x",to="nas:x"} 6"#), "\(figures)")
        #expect(figures.contains(/kcbackup_copies_oldest_timestamp_seconds\{.*\} 1[67]\d{8}\n/), "\(figures)")
        #expect(run("status --json").text.contains(#""there":6,"missing":0,"damaged":0,"notReadBack":0,"oldest":"20"#))
    }

    @Test("Lost copies are told beside another failure, and stay due")
    func removedAndCut() throws {
        for _ in 0..<3 { #expect(run("run x").status == .ok) }
        let names = try self.names("remote/x").sorted()
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(names[1])"))
        // Another file has the name of the newest.
        try home.write("remote/x/\(names[2])", "other")
        let found = run("run x")
        #expect(
            found.status == .notCopied && found.messages.contains("exists and is another file"), "\(found.messages)")
        #expect(
            found.messages.contains("1 copy was gone from 'nas:x', which no rule by age explains"),
            "\(found.messages)")
        #expect(try self.names("remote/x").contains(names[1]))
    }

    @Test("A newest copy that was cut off is reported by the next run")
    func truncated() throws {
        #expect(run("schedule edit x --if-changed").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").first)
        try home.write("remote/x/\(name)", home.folder.read("work/remote/x/\(name)").dropLast())
        let found = run("run x")
        #expect(
            found.status == .notCopied && found.messages.contains("exists and is another file"), "\(found.messages)")
    }

    @Test(
        "A place that has lost all its copies gets none, and each run, status and doctor ask if its disk is mounted, until '--change'",
        arguments: ["nas:x", "/x"], [false, true])
    func emptied(place: String, isOther: Bool) throws {
        let folder = place == "/x" ? home.path("remote/x") : place
        try FileManager.default.createDirectory(atPath: home.path("remote"), withIntermediateDirectories: true)
        #expect(run("schedule edit x --copy-to \(folder)").status == .ok)
        for _ in 0..<3 { #expect(run("run x").status == .ok) }
        let (mounted, away) = (home.path("remote/x"), home.path("away"))
        try FileManager.default.moveItem(atPath: mounted, toPath: away)
        if isOther { try home.write("remote/x/other.kcb", "other") }
        let question = "'\(folder)' has lost all 3 copies that it held: is the disk mounted?"
        for _ in 0..<2 {
            let found = run("run x")
            #expect(found.status == .notCopied && found.messages.contains(question), "\(found.messages)")
            #expect(try names("remote/x") == (isOther ? ["other.kcb"] : []))
            let status = run("status")
            #expect(status.status == .notCopied && status.text.contains("is the disk mounted?"), "\(status.text)")
            #expect(run("status --max-age 26h").status == .stale)
            #expect(run("status --prometheus").text.contains(/kcbackup_copies_last_good_timestamp_seconds\{.*\} 0\n/))
            let doctor = run("doctor")
            #expect(doctor.status == .notCopied && doctor.text.contains(question), "\(doctor.text)")
        }
        if isOther {
            let started = run("run x --change --json")
            #expect(started.messages.contains("was gone from there, as are 2 older archives"), "\(started.messages)")
            #expect(started.text.contains(#""gone":["login-"#) && started.text.contains(#""goneBefore":["login-"#))
            // The newest of then, and what was made since.
            #expect(try names("remote/x").count == 5 && names("b").count == 6)
        } else {
            if Path.isFolder(mounted) { try FileManager.default.removeItem(atPath: mounted) }
            try FileManager.default.moveItem(atPath: away, toPath: mounted)
            #expect(run("run x").status == .ok)
            #expect(try names("remote/x") == names("b") && names("b").count == 6)
        }
        #expect(run("status --max-age 26h").status == .ok)
        let next = run("run x --json")
        #expect(next.status == .ok && next.messages.isEmpty && !next.text.contains("gone"), "\(next.messages)")
    }

    @Test("While the place of the copies is away, no rule removes what it held last, nor what was made since")
    func notPrunedWhileAway() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        for _ in 0..<2 { #expect(run("run x").status == .ok) }
        try FileManager.default.moveItem(atPath: home.path("remote/x"), toPath: home.path("away"))
        for count in 2...4 {
            #expect(run("run x").status == .notCopied)
            #expect(try names("b").count == count)
        }
    }

    @Test("An archive that is damaged here ends a run with 13, also while no copy can be made")
    func damagedWhileCut() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("b").first)
        var bytes = try home.folder.read("work/b/\(name)")
        bytes[bytes.count / 2] ^= 1
        try home.write("b/\(name)", bytes)
        try cut(true)
        let found = run("run x")
        #expect(found.status == .damaged && found.messages.contains(name), "\(found.messages)")
        #expect(found.messages.contains("; before that: the backup is good, but is not copied to 'nas:x'"))
        #expect(try names("b").count == 2)
        #expect(run("status").status == .damaged)
    }

    @Test("A folder of this machine gets copies, is made when the job is added, and never by a run")
    func folderHere() throws {
        let usb = home.path("usb")
        #expect(run("schedule add y --unencrypted --metadata-readable --to c --copy-to ./usb/kc").status == .notFound)
        try FileManager.default.createDirectory(atPath: usb, withIntermediateDirectories: true)
        #expect(run("schedule add y --unencrypted --metadata-readable --to c --copy-to ./usb/kc").status == .ok)
        #expect(run("schedule show y").text.contains("RestrictAddressFamilies=none"), "it starts no program")
        try FileManager.default.moveItem(atPath: usb, toPath: home.path("away"))
        let absent = run("run y -v")
        #expect(
            absent.status == .notCopied && absent.messages.contains("usb/kc' does not exist")
                && absent.messages.contains("is the disk mounted?"), "\(absent.messages)")
        #expect(run("doctor").text.contains("usb/kc' does not exist"))
        #expect(try !Path.exists(usb))
        try FileManager.default.moveItem(atPath: home.path("away"), toPath: usb)
        #expect(run("run y").status == .ok)
        #expect(try names("usb/kc") == names("c") && names("c").count == 2)
        #expect(run("copy c --to ./usb/other --metadata-readable").status == .ok)
        #expect(try names("usb/other") == names("c"))
        #expect(run("copy c --to ./usb/other --metadata-readable").text.contains("there already"))
        #expect(run("verify usb/other").status == .ok)
        for line in ["copy c --to usb --metadata-readable", "schedule edit y --copy-to ./c"] {
            #expect(run(line).status == .usage, "\(line)")
        }
        #expect(run("copy c --to ./none/usb --metadata-readable").status == .notFound)
    }

    @Test(
        "What was left of a copy that was broken off is named by doctor, and removed by the next run; that of others stays"
    )
    func leftParts() throws {
        #expect(run("run x").status == .ok)
        let own = "\(try #require(names("b").first)).0123abcd.0123456789abcdef.part"
        let others = ["login-KC-AAAAAAAA-20260101T000000Z.kcb.0123abcd.0123456789abcdef.part", "notes.part"]
        for name in [own] + others { try home.write("remote/x/\(name)", "half") }
        let doctor = run("doctor")
        #expect(doctor.messages.contains("'nas:x/\(own)' is left of a copy that was broken off"), "\(doctor.messages)")
        #expect(others.allSatisfy { !doctor.messages.contains($0) })
        #expect(run("run x").status == .ok)
        #expect(try !Path.exists(home.path("remote/x/\(own)")))
        for name in others { #expect(try Path.exists(home.path("remote/x/\(name)"))) }
        #expect(!run("doctor").messages.contains("broken off"))
    }

    @Test("A run that removes nothing since another job cannot be read says so, and ends with 3")
    func pruningLeftOut() throws {
        #expect(run("schedule edit x --keep-last 1 --remove copy-to --remove metadata-readable").status == .ok)
        #expect(run("schedule add y --unencrypted --to c").status == .ok)
        #expect(run("run x").status == .ok)
        let job = home.home + "/.local/share/kcbackup/jobs/y.job"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: job)
        let found = run("run x")
        #expect(
            found.status == .incomplete && found.messages.contains("nothing is removed in")
                && found.messages.contains("job 'y' cannot be read"), "\(found.messages)")
        #expect(try names("b").count == 2)
        #expect(run("status --prometheus").text.contains(#"kcbackup_last_exit_code{job="x"} 3"#))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: job)
        #expect(run("run x").status == .ok)
        #expect(try names("b").count == 1)
    }

    @Test("What is not copied yet is not removed here, whatever the rules")
    func notPruned() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        #expect(run("run x").status == .ok)
        try cut(true)
        for _ in 0..<3 { #expect(run("run x").status == .notCopied) }
        #expect(try names("b").count == 3, "the copied one may go")
        try cut(false)
        #expect(run("run x").status == .ok)
        #expect(try names("remote/x").count == 5)
        #expect(run("run x").status == .ok)
        #expect(try names("b").count <= 2)
    }

    @Test("What was made since the first try is not removed here before it is copied, also if no copy ever succeeded")
    func notPrunedBeforeTheFirst() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        try cut(true)
        for _ in 0..<3 { #expect(run("run x").status == .notCopied) }
        #expect(try names("b").count == 3)
        try cut(false)
        #expect(run("run x").status == .ok)
        #expect(try names("remote/x").count == 4 && names("b").count == 1)
    }

    @Test("What a job has not copied yet is removed neither by 'prune' nor by another job of the folder")
    func notPrunedByOthers() throws {
        #expect(run("run x").status == .ok)
        try cut(true)
        for _ in 0..<3 { #expect(run("run x").status == .notCopied) }
        let plan = run("prune b --keep-last 1 --dry-run")
        #expect(plan.text.ranges(of: "  to be copied\n").count == 2, "\(plan.text)")
        #expect(run("prune b --keep-last 1").status == .ok)
        #expect(try names("b").count == 3, "the copied one may go")
        #expect(run("schedule add y --unencrypted --to b --keep-last 1").status == .ok)
        #expect(run("run y").status == .ok)
        #expect(try names("b").count == 4)
        try cut(false)
        #expect(run("run x").status == .ok)
        #expect(try names("remote/x").count == 6 && names("b").count == 5)

        try Data("x".utf8).write(to: URL(fileURLWithPath: home.home + "/.local/share/kcbackup/jobs/y.job"))
        let refused = run("prune b --keep-last 1")
        #expect(
            refused.status == .incomplete && refused.messages.contains("job 'y' cannot be read"), "\(refused.messages)")
        #expect(try names("b").count == 5)
        #expect(run("schedule remove y").status == .ok)
        let last = run("prune b --keep-last 1")
        #expect(last.status == .ok && last.messages.isEmpty, "\(last.messages)")
        #expect(try names("b").count == 1)
    }

    @Test("A copy that is not what it should be is reported until it is mended, and its archive stays here")
    func damagedCopy() throws {
        #expect(run("schedule edit x --keep-last 2").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").first)
        let whole = try home.folder.read("work/remote/x/\(name)")
        try home.write("remote/x/\(name)", "")
        for _ in 0..<4 {
            let found = run("run x")
            #expect(found.status == .notCopied && found.messages.contains(name), "\(found.messages)")
        }
        #expect(try names("b").contains(name) && names("remote/x").count == 5)
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(name)"))
        #expect(run("run x").status == .ok)
        #expect(try home.folder.read("work/remote/x/\(name)") == whole)
    }

    @Test("A newest copy that was cut off is reported until it is mended or removed, and its archive stays here")
    func cutNewest() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").first)
        let whole = try home.folder.read("work/remote/x/\(name)")
        try home.write("remote/x/\(name)", "")
        for _ in 0..<3 {
            let found = run("run x")
            #expect(found.status == .notCopied && found.messages.contains(name), "\(found.messages)")
            #expect(try names("b").contains(name))
        }
        #expect(run("status --json").text.contains("\(name)' exists and is another file"))
        try home.write("remote/x/\(name)", whole)
        #expect(run("run x").status == .ok)
        let next = try #require(names("b").first)
        try home.write("remote/x/\(next)", "")
        for _ in 0..<2 {
            let found = run("run x")
            #expect(found.status == .notCopied && found.messages.contains(next), "\(found.messages)")
        }
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(next)"))
        let removed = run("run x")
        #expect(removed.status == .ok && removed.messages.isEmpty, "\(removed.messages)")
    }

    @Test("A damaged copy is not forgotten while its disk is not mounted on the remote")
    func damagedAndUnmounted() throws {
        #expect(run("schedule edit x --keep-last 1").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").first)
        try home.write("remote/x/\(name)", "")
        #expect(run("run x").status == .notCopied)
        let (mounted, away) = (home.path("remote/x"), home.path("away"))
        try FileManager.default.moveItem(atPath: mounted, toPath: away)
        for _ in 0..<2 { #expect(run("run x").status == .notCopied) }
        try FileManager.default.moveItem(atPath: away, toPath: mounted)
        let found = run("run x")
        #expect(found.status == .notCopied && found.messages.contains(name), "\(found.messages)")
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(name)"))
        let removed = run("run x")
        #expect(removed.status == .ok && removed.messages.isEmpty, "\(removed.messages)")
    }

    @Test("An archive that is missing here is named with what to do, and keeps no later one from its copy")
    func missing() throws {
        #expect(run("run x").status == .ok)
        try cut(true)
        #expect(run("run x").status == .notCopied)
        let lost = try #require(names("b").subtracting(names("remote/x")).first)
        try FileManager.default.removeItem(atPath: home.path("b/\(lost)"))
        try cut(false)
        let found = run("run x -v")
        #expect(found.status == .notCopied, "\(found.messages)")
        #expect(found.messages.contains(lost) && found.messages.contains("list --rebuild"), "\(found.messages)")
        #expect(try names("remote/x") == names("b") && names("b").count == 2)
        #expect(run("list --rebuild b").status == .ok)
        #expect(run("run x").status == .ok)
        #expect(run("status").text.contains(/nas:x +x +20\d\d.* ok/))
    }

    @Test("The copy of an incomplete archive is no good backup, as the archive is none here")
    func incomplete() throws {
        #expect(run("item add --service b --account b --generate").status == .ok)
        #expect(run("run x").status == .ok)
        let good = run("status --json").text.firstMatch(of: /"good":"([^"]+)","readBack"/)?.1
        try SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain").run(
            "UPDATE genp SET mdat = 9223372036854775807 WHERE svce = CAST('b' AS BLOB)")
        home.pass(hours: 48)
        #expect(run("run x --accept-shrink").status == .incomplete)
        #expect(try names("remote/x") == names("b") && names("b").count == 2)
        #expect(run("status --json").text.firstMatch(of: /"good":"([^"]+)","readBack"/)?.1 == good && good != nil)
        #expect(run("status").text.contains("lacks what was left out, or not readable"))
        let stale = run("status --max-age 24h")
        #expect(stale.status == .stale && stale.messages.contains("copies of job 'x' on 'nas:x'"), "\(stale.messages)")
    }

    @Test("A signal that ends the copying ends the run as one, not as a failed copy")
    func interrupted() {
        func explain(_ error: any Error) -> Explanation { Failure(error).explanation }
        let outcomes = [
            JobCopies.Outcome(to: "nas:x", failure: RemoteFailure.notInstalled),
            JobCopies.Outcome(to: "nas:y", failure: StreamFailure(.reading, .interrupted)),
        ]
        #expect(outcomes.explanation(isGood: true, explain)?.isOfSignal == true)
        #expect([outcomes[0]].explanation(isGood: true, explain)?.status == .notCopied)
    }

    @Test("A copy is read back once a week, and one that was changed on the remote is reported")
    func weekly() throws {
        #expect(run("schedule edit x --if-changed").status == .ok)
        #expect(run("run x").status == .ok)
        let name = try #require(names("remote/x").first)
        var bytes = try home.folder.read("work/remote/x/\(name)")
        bytes[bytes.count / 2] ^= 1
        try home.write("remote/x/\(name)", bytes)
        #expect(run("run x").status == .ok, "the same name and size")
        home.pass(hours: 8 * 24)
        let found = run("run x")
        #expect(
            found.status == .notCopied && found.messages.contains("exists and is another file"), "\(found.messages)")
    }

    @Test("After a rekey here, a copy that was cut or changed on the remote is noticed, though another file is here")
    func cutAfterRekey() throws {
        var recipients: [String] = []
        for name in ["old", "new"] {
            #expect(run("keygen -o \(name)").status == .ok)
            let key = String(decoding: try home.folder.read("work/\(name)"), as: UTF8.self)
            recipients.append(String(try #require(key.firstMatch(of: /age1\w+/)).0))
        }
        #expect(run("schedule add y -r \(recipients[0]) --to c --copy-to nas:y --if-changed").status == .ok)
        #expect(run("run y").status == .ok)
        #expect(run("rekey c -i old -r \(recipients[1])").status == .ok)
        #expect(run("schedule edit y -r \(recipients[1])").status == .ok)
        let whole = run("run y")
        #expect(whole.status == .ok, "\(whole.messages)")
        #expect(try names("c").count == 1)
        let name = try #require(names("remote/y").first)
        let copy = try home.folder.read("work/remote/y/\(name)")
        try home.write("remote/y/\(name)", copy.dropLast() + [copy[copy.count - 1] ^ 1])
        #expect(run("run y").status == .ok, "it is read back once a week")
        home.pass(hours: 8 * 24)
        let rotten = run("run y")
        #expect(rotten.status == .notCopied && rotten.messages.contains(name), "\(rotten.messages)")
        try home.write("remote/y/\(name)", copy)
        #expect(run("run y").status == .ok)
        try home.write("remote/y/\(name)", Array(copy.prefix(100)))
        let found = run("run y")
        #expect(found.status == .notCopied && found.messages.contains(name), "\(found.messages)")
    }

    @Test("Copying goes on after records that are damaged, which status reports")
    func damagedRecords() throws {
        #expect(run("run x").status == .ok)
        try Data("x".utf8).write(to: URL(fileURLWithPath: home.home + "/.local/share/kcbackup/jobs/x.copies"))
        #expect(run("status").text.contains(/nas:x.*damaged/))
        let renewed = run("run x")
        #expect(renewed.status == .ok && renewed.messages.contains("'kcbackup verify nas:x'"), "\(renewed.messages)")
        #expect(run("run x").messages.isEmpty)
        #expect(try names("remote/x") == names("b"))
    }

    @Test("A job is refused if its remote is none, is given twice, or would get what others can read")
    func refusals() throws {
        for (line, status) in [
            ("schedule add y --unencrypted --to c --copy-to nas:x", KCTerminal.ExitStatus.refused),
            ("schedule add y --unencrypted --metadata-readable --to c", .usage),
            ("schedule add y --unencrypted --metadata-readable --to c --copy-to far:x", .notFound),
            ("schedule add y --unencrypted --metadata-readable --to c --copy-to disk", .usage),
            ("schedule add y --unencrypted --metadata-readable --to c --copy-to nas:x --copy-to nas:x", .usage),
            ("schedule add y --unencrypted --metadata-readable --to c --copy-to nas:x --copy-to nas:x/", .usage),
            ("schedule add y --unencrypted --to nas:x", .usage), ("schedule edit x --to nas:x", .usage),
            ("schedule add y --unencrypted --to c --lock-wait soon", .usage),
        ] { #expect(run(line).status == status, "\(line)") }
        #expect(run("schedule list").text.contains("\ny ") == false)
        // Only what is read can be a folder here instead.
        try FileManager.default.createDirectory(atPath: home.path("nas:x"), withIntermediateDirectories: true)
        #expect(run("schedule add y --unencrypted --to nas:x").status == .usage)
        #expect(run("schedule add y --unencrypted --to ./nas:x").status == .ok)
    }
}
