internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCRemotes

/// The service or cron line that was installed to start a job.
package enum InstalledStart: Hashable, Sendable {
    /// A service of systemd, by its path.
    case service(String, isOfSystem: Bool)
    /// A line in the user's crontab, or in the one at a path.
    case crontab(String?)
}

extension Job {
    /// Checks that the services and cron lines of the job run a program that other users cannot replace, and that their
    /// PATH has the programs that the job runs.
    ///
    /// A service or line that leaves that to a shell, or to further files of systemd, is not judged.
    ///
    /// - Parameter crontab: returns the user's crontab, which is empty without cron; nil if it cannot be read.
    /// - Throws: `JobFinding`: `unsafeProgram`, `programNotFound`.
    package func checkPrograms(in surroundings: JobSurroundings, crontab: () -> String?) throws(JobFinding) {
        for service in InstalledService.all(of: name, in: surroundings) {
            let start = InstalledStart.service(service.path, isOfSystem: service.isOfSystem)
            try check(service.program, service.folders, start, surroundings)
        }
        for path in JobStarter.crontabs(in: surroundings) {
            guard let text = JobStarter.text(path) else { continue }
            for line in CronLine.all(in: text, starting: name, ofSystem: surroundings) {
                try check(line.program, line.folders, .crontab(path), surroundings)
            }
        }
        for line in CronLine.all(in: crontab() ?? "", starting: name) {
            try check(line.program, line.folders, .crontab(nil), surroundings)
        }
    }

    private func check(
        _ program: String?, _ folders: [String]?, _ start: InstalledStart, _ surroundings: JobSurroundings
    ) throws(JobFinding) {
        if let program, program.exact.hasPrefix("/") { try require(program, start) }
        guard let folders else { return }
        let own = program.map { $0.exact.contains("/") ? [] : [$0] } ?? []
        for program in own + programs where !folders.contains(where: { Path.isFile("\($0)/\(program)") }) {
            // A program that is nowhere is reported by what needs it.
            guard let (folder, isShared) = surroundings.folder(of: program) else { continue }
            throw .programNotFound(program, folder: folder, isShared: isShared, job: name, start)
        }
    }

    private func require(_ program: String, _ start: InstalledStart) throws(JobFinding) {
        do throws(FileFailure) {
            try PrivateProgram.require(program)
        } catch {
            // A program that cannot be seen here may be there, for the user who starts it.
            if case .system = error.problem { return }
            throw .unsafeProgram(program, error, job: name, start)
        }
    }

    /// The names of the programs that the job looks for when it runs, as far as they show.
    private var programs: [String] {
        let remotes = (copyTo + [fleet].compactMap { $0 }).compactMap { RemoteLocation($0) }
        let commands = [onSuccess, onFailure].compactMap { $0 } + backup.commands
        let first = commands.compactMap { $0.exact.split(separator: " ").first }.filter {
            $0.exact.isASCIILettersAndDigits(or: "._+-")
        }
        let isOfPass = backup.storeFile.map { Path.isFile($0 + "/.gpg-id") } ?? false
        return remotes.map { $0.host == nil ? "rclone" : "sftp" } + first + (isOfPass ? ["gpg"] : [])
    }
}
