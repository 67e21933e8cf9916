import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCBackupJobs

@Suite("Lines of jobs and of records")
struct JobFieldsTests {
    @Test("A job and the record of a run are read as they were written, and other lines are not")
    func spelling() throws {
        var job = Job(
            name: "nightly", create: ["--all", "\u{301}"], folder: "/b", place: "/mnt/b", keep: ["--keep-daily", "7"])
        job.onFailure = "mail -s 'no backup' ada"
        job.hookTimeout = "30s"
        job.fleet = "nas:fleet"
        #expect(Job(name: "nightly", job.fields) == job)
        #expect(StateFields(parsing: job.fields.encoded) == job.fields)
        for (name, value) in [("more", "x"), ("time", "daily"), ("folder", "/c")] {
            var fields = job.fields
            fields.add(name, value)
            #expect(Job(name: "nightly", fields) == nil, "\(name)")
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
        var job = Job(name: "x", create: [], folder: "/b", place: "/b")
        #expect(job.copyFolders(of: device) == [] && !job.startsPrograms)
        job.fleet = "nas:fleet"
        #expect(job.copyFolders(of: device) == ["nas:fleet/archives/\(device)"] && job.startsPrograms)
        job.copyTo = ["nas:b", "nas:fleet/archives/\(device)"]
        #expect(job.copyFolders(of: device) == job.copyTo)
    }

    @Test("What a job backs up is read from the words that 'create' gets")
    func subject() {
        func job(_ words: String...) -> Job { Job(name: "x", create: words, folder: "/b", place: "/b") }
        #expect(job("--keychain", "work").keychain == "work")
        #expect(job("--all").keychain == nil)
        #expect(job("--keychain").keychain == nil)
        #expect(job("--keychain", "secret-service:Work").isOfDesktop)
        #expect(!job("--keychain", "work").isOfDesktop)
        // A job of everything in the home names no keyring.
        for (words, isCovered) in [
            (["--home"], [true, false]), (["--keychain", "secret-service:"], [true, false]),
            (["--keychain", "secret-service:Work"], [false, true]), (["--all"], [false, false]),
        ] {
            let job = Job(name: "x", create: words, folder: "/b", place: "/b")
            #expect(["secret-service:", "secret-service:Work"].map(job.covers(keyring:)) == isCovered, "\(words)")
        }
        #expect(job("--keychain", "work", "--passcode", "cmd:pass").startsPrograms)
        #expect(!job("--keychain", "work", "--passcode", "file:/cmd:pass").startsPrograms)
        // What is not there may be a store of pass, which gpg opens.
        #expect(job("--keychain", "file:/nowhere/store").startsPrograms)
    }
}
