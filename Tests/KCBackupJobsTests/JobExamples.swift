import KCAsking
import KCBackupCatalogue
import KCBackupTasks

@testable import KCBackupJobs
import KCStoreTasks

extension Job {
    /// A job of every keychain, or of what `change` makes of the request.
    static func example(
        to folder: String = "/b", _ change: (inout BackupRequest) -> Void = { _ in }
    ) -> Job {
        var backup = BackupRequest(of: .everyKeychain)
        change(&backup)
        return Job(name: "x", FolderBackupRequest(backup, to: folder), place: folder)
    }

    /// A job in which everything is set that can stand together.
    static var full: Job {
        var job = example {
            $0.stores = .named("\u{301}")
            $0.access.key = .escrow(.file("/e"))
            $0.access.file = FileAccess(format: "kdbx", password: .command("pass x"), keyFile: "/k")
            $0.access.skipsLocked = true
            $0.access.acceptMissing = ["/home/ada/a", "/home/ada/b"]
            $0.mode = .encrypted(
                ArchiveKeyRequest(
                    passphrase: .credential("phrase"),
                    restoring: RecipientRequest(keys: ["age1a", "age1b"], files: ["-k"], passphrase: .file("/p")),
                    inspecting: ["age1c"]))
        }
        job.request.ifChanged = true
        job.request.wait = .seconds(90)
        job.place = "/mnt/b"
        for (count, rule) in Retention.Rule.allCases.enumerated() { job.keep[rule] = count + 1 }
        job.keep.within = TimeSpan("1y5m7d2h")
        job.time = "Mon..Fri 12:00"
        job.onChange = true
        job.copyTo = ["nas:b", "/mnt/c"]
        job.copiesReadable = true
        job.verifiedCopies = 3
        job.fleet = "nas:fleet"
        job.onSuccess = "-n"
        job.onFailure = "mail -s 'no backup' ada"
        job.hookTimeout = .seconds(30)
        return job
    }
}
