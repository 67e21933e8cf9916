import KCAsking
import KCBackupTasks
import KCDeviceIdentity
import KCKeychainModel
import KCStoreTasks
import Testing

@testable import KCBackupJobs

@Suite("Lines of jobs and of records")
struct JobFieldsTests {
    @Test("A job and the record of a run are read as they were written, and other lines are not")
    func spelling() throws {
        let job = Job.full
        #expect(Job(name: "x", job.fields) == job)
        #expect(StateFields(parsing: job.fields.encoded) == job.fields)
        for (name, value) in [
            ("more", "x"), ("time", "daily"), ("folder", "/c"), ("stores", "home"), ("skip-locked", "yes"),
            ("lock-wait", "07"), ("keep-last", "x"), ("passcode", "hunter2"), ("mode", "unencrypted"),
        ] {
            var fields = job.fields
            fields.add(name, value)
            #expect(Job(name: "x", fields) == nil, "\(name)")
        }
        var record = RunRecord(began: .reference)
        #expect(RunRecord(record.fields) == record)
        record.ended = .reference
        record.outcome = RunOutcome(code: 14)
        record.message = "keychain 'login' is locked"
        record.hints = ["unlock it", "or give a passcode"]
        record.good = .reference
        record.items = 85
        #expect(RunRecord(record.fields) == record)
        var fields = record.fields
        fields.add("more", "x")
        #expect(RunRecord(fields) == nil)
    }

    @Test("A run failed because of a failure that is the same, or has the same remedy")
    func cause() {
        var record = RunRecord(began: .reference)
        (record.outcome, record.message, record.hints) = (.locked, "is locked", ["unlock it"])
        func isCause(_ outcome: RunOutcome, _ message: String, _ hints: [String]) -> Bool {
            record.isCaused(by: CopyRecord.Failed(outcome, message: message, hints: hints))
        }
        #expect(isCause(.locked, "is locked", []) && isCause(.locked, "has a passcode", ["unlock it"]))
        #expect(!isCause(.io, "is locked", ["unlock it"]) && !isCause(.locked, "has a passcode", []))
        record.hints = []
        #expect(!isCause(.locked, "has a passcode", []))
    }

    @Test("A record of receipts is read as it was written, and other lines are not")
    func receipts() throws {
        var record = ReceiptRecord(to: "nas:my fleet", tried: .reference)
        #expect(ReceiptRecord(record.fields) == record)
        record.good = .reference
        record.failed = CopyRecord.Failed(RunOutcome(code: 74), message: "no such host", hints: ["one", "two"])
        record.written = ReceiptRecord.Written(time: .reference, file: "nas:my fleet/receipts/2026-11-24/x.json")
        #expect(ReceiptRecord(record.fields) == record)
        for (name, value) in [("more", "x"), ("to", "nas:x"), ("written", "x")] {
            var fields = record.fields
            fields.add(name, value)
            #expect(ReceiptRecord(fields) == nil, "\(name)")
        }
    }

    @Test("A job copies to its remotes and to the folder of its device in the fleet, to each once")
    func copyFolders() throws {
        let device = try #require(DeviceID("KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        var job = Job.example()
        #expect(job.copyFolders(of: device) == [] && !job.startsPrograms)
        job.fleet = "nas:fleet"
        #expect(job.copyFolders(of: device) == ["nas:fleet/archives/\(device)"] && job.startsPrograms)
        job.copyTo = ["nas:b", "nas:fleet/archives/\(device)"]
        #expect(job.copyFolders(of: device) == job.copyTo)
    }

    @Test("What a job backs up is what its request names")
    func subject() {
        func job(_ stores: BackupRequest.Stores, passcode: SecretSource? = nil) -> Job {
            Job.example {
                $0.stores = stores
                $0.access.key = .passcode(passcode)
            }
        }
        #expect(job(.named("work")).keychain == "work")
        #expect(job(.everyKeychain).keychain == nil)
        #expect(job(.named("secret-service:Work")).isOfDesktop)
        #expect(!job(.named("work")).isOfDesktop)
        // A job of everything in the home names no keyring.
        for (stores, isCovered) in [
            (BackupRequest.Stores.home, [true, false]), (.named("secret-service:"), [true, false]),
            (.named("secret-service:Work"), [false, true]), (.everyKeychain, [false, false]),
        ] {
            let covered = ["secret-service:", "secret-service:Work"].map(job(stores).covers(keyring:))
            #expect(covered == isCovered, "\(stores)")
        }
        #expect(job(.named("work"), passcode: .command("pass")).startsPrograms)
        #expect(!job(.named("cmd:work"), passcode: .file("/cmd:pass")).startsPrograms)
        // A file that is not there may be a store of pass, which gpg opens.
        #expect(job(.named("file:/nowhere/store")).startsPrograms)
    }
}
