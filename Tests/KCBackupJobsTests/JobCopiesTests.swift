import KCBackupArchive
import KCBackupCatalogue
import KCBackupEngine
import KCBackupTasks
import KCByteStreams
import KCCryptography
import KCKeychainKeys
import KCKeychainModel
import KCLocalKeychains
import KCStoreTasks
import KCTestSupport
import Testing

@testable import KCBackupJobs

@Suite("The copies that a run of a job makes in another folder")
struct JobCopiesTests {
    private let folder: TemporaryFolder
    private let machine: Machine
    private let job: Job

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        var machine = Machine(
            clock: { .reference }, environment: [:], home: folder.path, costs: DerivationCosts(), program: "kcbackup")
        machine.machineIDPath = "/none"
        self.machine = machine
        for name in ["backups", "stick"] { try Path.makeFolder(folder.path(name)) }
        var job = Job.example(to: folder.path("backups"))
        job.copyTo = [folder.path("stick")]
        job.copiesReadable = true
        self.job = job
        _ = try LocalDevice(machine).keyOrFirst()
        try Jobs(machine).add(job)
    }

    /// Makes an archive of an empty keychain in the folder of the job.
    private func backUp(at time: Timestamp) throws -> String {
        let device = try LocalDevice(machine).key()
        let backups = try BackupFolder(
            job.folder, named: "backups", catalogues: machine.catalogues, device: device, waitingAtMost: .zero,
            mayBeNew: true)
        let destination = SeriesDestination(backups, series: "login", rules: SeriesDestination.Rules())
        _ = try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device, tool: "test",
            to: destination, now: time
        ).unencrypted(SealedSource(NoItems(), deviceKey: device))
        return try #require(backups.catalogue.complete.last?.name)
    }

    private func copy(acceptsLoss: Bool = false) throws -> JobCopies.Outcome {
        let outcomes = try JobCopies(of: job, on: machine, now: .reference, acceptsLoss: acceptsLoss) {
            CopyRecord.Failed(RunOutcome(code: $0 is JobFailure ? 19 : 74), message: "described", hints: [])
        }.run()
        return try #require(outcomes.first)
    }

    private var record: CopyRecord? { get throws { try Jobs(machine).copies(job.name).first } }

    @Test("What is not there yet is copied, and what is there is not")
    func copied() throws {
        let first = try backUp(at: .reference)
        #expect(try copy().copied == 1)
        let second = try backUp(at: Timestamp.reference.advanced(byMicroseconds: 1_000_000))
        let outcome = try copy()
        #expect(outcome.copied == 1 && outcome.failure == nil)
        #expect(try Path.names(in: folder.path("stick")).sorted() == [first, second].sorted())
        #expect(try record?.good == .reference && record?.failed == nil)
    }

    @Test("A folder that lost all copies is not filled again in silence, and the record says why")
    func lost() throws {
        let name = try backUp(at: .reference)
        _ = try copy()
        try Path.remove(folder.path("stick/" + name))
        let outcome = try copy()
        #expect(outcome.copied == 0)
        #expect(outcome.failure as? JobFailure == .copiesGone(job: "x", to: folder.path("stick"), copies: 1))
        #expect(try record?.failed == CopyRecord.Failed(RunOutcome(code: 19), message: "described", hints: []))
        #expect(try copy(acceptsLoss: true).copied == 1)
    }

    @Test("An archive that was changed here is not copied, and stays due")
    func changedHere() throws {
        let name = try backUp(at: .reference)
        var bytes = try folder.read("backups/" + name)
        bytes[bytes.count / 2] ^= 1
        _ = try folder.write("backups/" + name, bytes)
        let outcome = try copy()
        #expect(outcome.copied == 0 && outcome.failure != nil)
        #expect(try Path.names(in: folder.path("stick")).isEmpty)
        #expect(try record?.copies.isEmpty == true)
    }
}

private struct NoItems: ItemSource {
    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {}
}
