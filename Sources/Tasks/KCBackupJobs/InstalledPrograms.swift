internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCRemotes

extension Job {
    /// Checks that the services of the job run a program that other users cannot replace, and that their PATH has the
    /// programs that the job runs.
    ///
    /// A service that leaves that to a shell, or to further files of systemd, is not judged.
    ///
    /// - Throws: `JobFinding`: `unsafeProgram`, `programNotFound`.
    package func checkPrograms(in surroundings: JobSurroundings) throws(JobFinding) {
        for service in InstalledService.all(of: name, in: surroundings) {
            if let program = service.program, program.exact.hasPrefix("/") { try require(program, service) }
            guard let folders = service.folders else { continue }
            let own = service.program.map { $0.exact.contains("/") ? [] : [$0] } ?? []
            for program in own + programs where !folders.contains(where: { Path.isFile("\($0)/\(program)") }) {
                // A program that is nowhere is reported by what needs it.
                guard let (folder, isShared) = surroundings.folder(of: program) else { continue }
                throw .programNotFound(
                    program, folder: folder, isShared: isShared, job: name, service: service.path,
                    isOfSystem: service.isOfSystem)
            }
        }
    }

    private func require(_ program: String, _ service: InstalledService) throws(JobFinding) {
        do throws(FileFailure) {
            try PrivateProgram.require(program)
        } catch {
            // A program that cannot be seen here may be there, for the user who starts it.
            if case .system = error.problem { return }
            throw .unsafeProgram(
                program, error, job: name, service: service.path, isOfSystem: service.isOfSystem)
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
