import ArgumentParser
import KCAsking
import KCBackupCatalogue
import KCBackupJobs
import KCBackupTasks
import KCKeychainModel
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The options that describe a job", .waitsForPrograms)
struct JobSettingTests {
    /// Jobs of each kind, with each setting in one of them.
    private static var jobs: [Job] {
        func job(_ stores: BackupRequest.Stores, _ change: (inout Job) -> Void = { _ in }) -> Job {
            var job = Job(name: "x", FolderBackupRequest(BackupRequest(of: stores), to: "/b"), place: "/b")
            change(&job)
            return job
        }
        return [
            job(.named("work")) { ($0.time, $0.onChange) = (nil, true) },
            job(.everyKeychain) { $0.request.ifChanged = true }, job(.home),
            job(.named("-odd\u{301}")) { $0.request.backup.access.key = .escrow(.file("/e")) },
            job(.named("secret-service:")) {
                $0.request.backup.mode = .unencrypted
                $0.request.backup.access.skipsLocked = true
                $0.request.backup.access.key = .passcode(.command("pass 'x'"))
                $0.copiesReadable = true
                $0.verifiedCopies = 0
                $0.copyTo = ["nas:b", "/mnt/c"]
                $0.fleet = "nas:fleet"
            },
            job(.named("file:/a.kdbx")) {
                $0.request.backup.access.file = FileAccess(
                    format: "kdbx", password: .credential("k"), keyFile: "/k", withoutSandbox: true)
                $0.request.backup.access.acceptMissing = ["/home/a"]
                $0.request.backup.mode = .encrypted(
                    ArchiveKeyRequest(
                        passphrase: .file("/p"),
                        restoring: RecipientRequest(keys: ["age1a", "age1b"], files: ["/r"], passphrase: .file("/s")),
                        inspecting: ["age1c"]))
            },
            job(.everyKeychain) {
                $0.request.wait = .seconds(90)
                for (count, rule) in Retention.Rule.allCases.enumerated() { $0.keep[rule] = count + 1 }
                $0.keep.within = TimeSpan("1y5m7d2h")
                $0.time = "Mon..Fri 12:00"
                $0.onChange = true
                $0.onSuccess = "-n"
                $0.onFailure = "mail -s 'no backup' ada"
                $0.hookTimeout = .seconds(7_200)
            },
        ]
    }

    @Test("The command line of a job means that job", arguments: jobs)
    func wordsMeanTheJob(job: Job) throws {
        let parsed = try JobOptions.parse(JobOptions(job).words)
        let folder = try #require(parsed.create.folder.to)
        var read = Job(
            name: "x", try parsed.create.folder.request(parsed.create.request(), to: folder), place: folder)
        read.keep = try parsed.rules.retention()
        (read.time, read.onChange) = (parsed.at, parsed.onChange)
        (read.copyTo, read.fleet) = (parsed.copyTo, parsed.fleet)
        read.verifiedCopies = parsed.verifyCopies.flatMap { Int($0) } ?? 1
        read.copiesReadable = parsed.create.folder.metadataReadable
        (read.onSuccess, read.onFailure) = (parsed.onSuccess, parsed.onFailure)
        read.hookTimeout = try parsed.hookTimeout.map { try LockWaitOption.wait($0, of: .hookTimeout) }
        #expect(read == job)
    }

    @Test("The command that 'schedule show' prints makes the job, as a shell reads it", arguments: jobs)
    func commandMeansTheJob(job: Job) throws {
        let outcome = try ExternalProgram.run("bash", ["-c", "kcbackup() { printf '%s\\0' \"$@\"; }; \(job.command)"])
        let words = outcome.text.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
        #expect(words == ["schedule", "add", "x"] + JobOptions(job).words)
    }

    @Test("Each option of a job can be shown and removed")
    func everyOptionIsASetting() {
        let given = Self.jobs.map { JobOptions($0) }
        for setting in JobSetting.all {
            #expect(given.contains { setting.isGiven(in: $0) }, "\(setting.option)")
        }
        let known = Set(JobSetting.all.map(\.option))
        let ofOneRun: Set<OptionName> = [.change, .acceptShrink]
        let arguments = try? CommandArguments(of: ScheduleAddCommand.self)
        let names = arguments?.options.compactMap { $0.names.last.flatMap { OptionName(argument: $0) } } ?? []
        let ofEveryVerb: Set<OptionName> = [.json, .quiet, .verbose]
        #expect(Set(names).subtracting(known).subtracting(ofOneRun) == ofEveryVerb)
    }

    @Test("An option that is given takes the place of what it excludes")
    func merging() {
        var options = JobOptions(Self.jobs[5])
        var given = JobOptions.none
        given.create.folder.all = true
        given.create.unencrypted = true
        given.create.keys.restoring.recipient = []
        JobSetting.merge(given, into: &options)
        #expect(options.create.keychain.keychain == nil && options.create.folder.all)
        #expect(options.create.keys.firstGiven == nil && options.create.unencrypted)
        #expect(options.create.foreign.keyFile == "/k")
    }
}
