import KCBackupJobs
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The state of backups")
struct StatusTests {
    @Test("A run that has not ended after a day is told by doctor and the page, and to the command for failures")
    func endless() throws {
        let home = try TestHome()
        let hook = "touch \(home.path("told"))"
        for words in [
            ["keychain", "create", "--no-passcode"],
            ["schedule", "add", "x", "--unencrypted", "--to", "b", "--on-failure", hook],
        ] { #expect(home.run(words).status == .ok) }
        let jobs = Jobs(home.world().machine)
        try jobs.save(RunRecord(began: home.nextTime()), of: "x")
        let lock = try jobs.lock("x", waitingAtMost: .zero)
        for isOverdue in [false, true] {
            let doctor = home.run("doctor")
            #expect((doctor.status == .busy) == isOverdue, "\(doctor.text)")
            #expect(doctor.text.contains(/job 'x': its run of 2026-.* has not ended/) == isOverdue, "\(doctor.text)")
            #expect(home.run("status").text.contains("runs since 2026-"))
            let refused = home.run("run x")
            #expect(refused.status == .busy && !refused.messages.contains("warning"), "\(refused.messages)")
            #expect(try Path.exists(home.path("told")) == isOverdue)
            home.pass(hours: 24)
        }
        withExtendedLifetime(lock) {}
    }

    @Test("After a run that failed, status ends as its table shows; with a limit, the age decides")
    func failedRun() throws {
        let home = try TestHome()
        for line in [
            "keychain create --no-passcode", "item add --service a --generate",
            "schedule add x --unencrypted --to b --keep-last 9", "run x", "status",
        ] { #expect(home.run(line).status == .ok, "\(line)") }
        let name = try #require(try Path.names(in: home.path("b")).first { $0.hasSuffix(".kcb") })
        try home.write("b/\(name)", "other")
        home.pass(hours: 24 * 8)
        #expect(home.run("run x").status == .damaged)
        let status = home.run("status")
        #expect(status.status == .damaged && status.text.contains("damaged: "), "\(status.messages)")
        #expect(home.run("status --prometheus").text.contains(#"kcbackup_last_exit_code{job="x"} 13"#))
    }

    @Test("A backup without items is warned of, and a job that never had one is not well in status")
    func neverAnItem() throws {
        let home = try TestHome()
        for line in ["keychain create --no-passcode", "schedule add x --unencrypted --to b"] {
            #expect(home.run(line).status == .ok, "\(line)")
        }
        let created = home.run("create --unencrypted --to c")
        #expect(created.status == .ok && created.messages.contains("login: there are no items"), "\(created.messages)")
        let ran = home.run("run x")
        #expect(ran.status == .ok && ran.messages.contains("job 'x': there was no item to back up"), "\(ran.messages)")
        #expect(home.run("status").text.contains(/x +2026-.* no items so far/))
        #expect(home.run("item add --service a --generate").status == .ok)
        #expect(home.run("run x").messages.isEmpty)
        #expect(home.run("status").text.contains(/x +2026-.* ok/))
    }

    @Test("Where neither a job nor a new enough backup is on record, the age is too high, and not kept")
    func nothingOnRecord() throws {
        let home = try TestHome()
        func expect(_ status: KCTerminal.ExitStatus, _ environment: [String: String] = [:]) {
            let outcome = home.run(["status", "--max-age", "26h", "--quiet"], environment: environment)
            #expect(outcome.status == status && outcome.text.isEmpty, "\(outcome.messages)")
            let isTold = outcome.messages.contains("none is on record in '")
            #expect(isTold == (status == .stale), "\(outcome.messages)")
        }
        expect(.stale)
        #expect(home.run("status").status == .ok)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        // A keychain is no backup.
        expect(.stale)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        expect(.ok)
        expect(.stale, ["XDG_DATA_HOME": home.path("elsewhere")])
        // A backup of what is gone is one.
        #expect(home.run("keychain delete login --confirm login").status == .ok)
        expect(.ok)
        home.pass(hours: 48)
        expect(.stale)
    }
}
