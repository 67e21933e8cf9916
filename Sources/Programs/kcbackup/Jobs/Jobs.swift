internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText

/// The jobs of a user, each in a `StateFile` of the data folder.
struct Jobs {
    private let folder: String
    private let device: LocalDevice

    private static let ending = ".job"
    private static let kind = StateFile.Kind("job", version: 2)
    private static let runKind = StateFile.Kind("run", version: 1)

    /// Why a job cannot be used.
    enum Problem: Error, Hashable, Sendable {
        case invalidName
        case notFound(String)
        case exists(String)
        /// The file of the job was not written by this program.
        case damaged(job: String, path: String?)
        /// The record of its last run was not written by this program.
        case recordDamaged(job: String, path: String)
        /// Another device added the job.
        case otherDevice(job: String, DeviceID)
        /// Another version of the program added the job.
        case otherFormat(job: String)
        /// Links lead to another folder than when the job was added.
        case folderElsewhere(job: String, folder: String, was: String, now: String)
        /// The job had good runs, and no backup is known in its folder.
        case noBackups(job: String, folder: String)
        /// An argument contains a line feed.
        case severalLines
    }

    /// Creates an instance for this world's data folder.
    init(_ world: World) {
        folder = Self.folder(in: world.dataFolder)
        device = LocalDevice(world)
    }

    private static func folder(in dataFolder: DataFolder) -> String { dataFolder.path + "/jobs" }

    /// Returns the names of all jobs, sorted.
    func names() throws(FileFailure) -> [String] { try Self.names(inFolder: folder) }

    /// Returns the names of all jobs in a data folder, sorted.
    static func names(in dataFolder: DataFolder) throws(FileFailure) -> [String] {
        try names(inFolder: folder(in: dataFolder))
    }

    private static func names(inFolder folder: String) throws(FileFailure) -> [String] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).compactMap { $0.exact.removingSuffix(ending) }
            .filter(Job.isName).sorted()
    }

    /// Returns the job with this name.
    ///
    /// - Throws: `Problem` (`invalidName`, `notFound`, `damaged`, `otherDevice`, `otherFormat`), `FileFailure`, and the
    ///   errors of `LocalDevice.key`.
    func job(_ name: String) throws -> Job {
        guard Job.isName(name) else { throw Problem.invalidName }
        try PrivateFolder.require(folder, mayBeMissing: true)
        guard try Path.exists(path(name)) else { throw Problem.notFound(name) }
        let file = try file(of: name)
        let body: [UInt8]?
        do throws(StateFileFailure) {
            body = try file.read()
        } catch {
            switch error {
            case .altered: throw Problem.damaged(job: name, path: file.path)
            case .otherDevice(_, let device): throw Problem.otherDevice(job: name, device)
            case .otherFormat: throw Problem.otherFormat(job: name)
            case .file(let failure): throw failure
            case .cryptography(let failure): throw failure
            }
        }
        guard let body else { throw Problem.notFound(name) }
        guard let fields = StateFields(parsing: body), let job = Job(name: name, fields) else {
            throw Problem.damaged(job: name, path: file.path)
        }
        return job
    }

    /// Refuses a name that another job has, or that no job can have.
    ///
    /// - Throws: `Problem` (`invalidName`, `exists`), `FileFailure`.
    func requireFree(_ name: String) throws {
        guard Job.isName(name) else { throw Problem.invalidName }
        if try Path.exists(path(name)) { throw Problem.exists(name) }
    }

    /// Adds a job.
    ///
    /// - Throws: `Problem` (`invalidName`, `exists`, `severalLines`), `FileFailure`, and the errors of
    ///   `LocalDevice.key`.
    func add(_ job: Job) throws {
        try requireFree(job.name)
        guard job.hasOnlyLines else { throw Problem.severalLines }
        try Path.makeFolder(folder)
        let file = try file(of: job.name)
        do throws(StateFileFailure) {
            try file.create(job.fields.encoded)
        } catch {
            if case .file(let failure) = error, failure.problem == .exists { throw Problem.exists(job.name) }
            throw error.cause
        }
    }

    /// Replaces a job.
    ///
    /// - Throws: `Problem` (`severalLines`), `FileFailure`, and the errors of `LocalDevice.key`.
    func replace(_ job: Job) throws {
        guard job.hasOnlyLines else { throw Problem.severalLines }
        let file = try file(of: job.name)
        do throws(StateFileFailure) {
            try file.write(job.fields.encoded)
        } catch {
            throw error.cause
        }
    }

    /// Removes a job and the record of its runs, also if their files are damaged.
    ///
    /// - Throws: `Problem` (`invalidName`, `notFound`), `FileFailure`.
    func remove(_ name: String) throws {
        guard Job.isName(name) else { throw Problem.invalidName }
        try PrivateFolder.require(folder, mayBeMissing: true)
        guard try Path.exists(path(name)) else { throw Problem.notFound(name) }
        for ending in [Self.ending, ".last", ".lock"] { try Path.remove("\(folder)/\(name)\(ending)") }
    }

    /// Returns the record of a job's last runs; nil if it never ran.
    ///
    /// - Throws: `Problem` (`recordDamaged`), `FileFailure`, and the errors of `LocalDevice.key`.
    func record(_ name: String) throws -> RunRecord? {
        let file = try recordFile(of: name)
        let body: [UInt8]?
        do throws(StateFileFailure) {
            body = try file.read()
        } catch {
            if case .file(let failure) = error { throw failure }
            throw Problem.recordDamaged(job: name, path: file.path)
        }
        guard let body else { return nil }
        guard let fields = StateFields(parsing: body), let record = RunRecord(fields) else {
            throw Problem.recordDamaged(job: name, path: file.path)
        }
        return record
    }

    /// Saves the record of a job's last runs.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`, and the errors of `LocalDevice.key`.
    func save(_ record: RunRecord, of name: String) throws {
        let file = try recordFile(of: name)
        do throws(StateFileFailure) {
            try file.write(record.fields.encoded)
        } catch {
            throw error.cause
        }
    }

    /// Locks out other runs of a job; the kernel releases the lock when the process ends, for whatever reason.
    func lock(_ name: String, waitingAtMost wait: Duration) throws(FileFailure) -> FileLock {
        try FileLock("\(folder)/\(name).lock", waitingAtMost: wait)
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)\(Self.ending)" }

    private func file(of name: String) throws -> StateFile {
        StateFile(path(name), Self.kind, about: name, of: try device.key())
    }

    private func recordFile(of name: String) throws -> StateFile {
        StateFile("\(folder)/\(name).last", Self.runKind, about: name, of: try device.key())
    }
}

extension StateFileFailure {
    /// The failure below, of a file that was written.
    fileprivate var cause: any Error {
        switch self {
        case .file(let failure): failure
        case .cryptography(let failure): failure
        case .altered, .otherDevice, .otherFormat: self
        }
    }
}

/// A job whose file cannot be read.
struct UnreadableJob {
    let name: String
    let failure: Failure

    /// The JSON object "unreadable job".
    var json: JSONValue { ["name": .text(name), "error": failure.explanation.jsonBody] }
}

/// Explains a problem with a job.
func explainJob(_ problem: Jobs.Problem) -> Explanation {
    switch problem {
    case .invalidName:
        Explanation(
            .usage, "that cannot be the name of a job", hint: "a name has 1 to 40 letters, digits, '-' and '_'")
    case .notFound(let name):
        Explanation(
            .notFound, "there is no job \(quoted(name))", hint: "'kcbackup schedule list' shows the jobs")
    case .exists(let name):
        Explanation(
            .exists, "there is a job \(quoted(name)) already",
            hint: "'kcbackup schedule edit \(shellWord(name))' changes it",
            "'kcbackup schedule remove \(shellWord(name))' removes it; its backups stay")
    case .damaged(let job, let path):
        Explanation(
            .damaged,
            "the file of job \(quoted(job)) is damaged, or was edited by hand" + (path.map { ": \(quoted($0))" } ?? ""),
            hint: "'kcbackup schedule remove \(shellWord(job))', then add it again")
    case .recordDamaged(let job, let path):
        Explanation(
            .damaged, "the record of the last run of job \(quoted(job)) is damaged: \(quoted(path))",
            hint: "'kcbackup run \(shellWord(job)) -v' runs the job, and writes a new one")
    case .otherDevice(let job, let device):
        Explanation(
            .refused, "job \(quoted(job)) was added on device \(device), and this is another one",
            hint: "'kcbackup schedule remove \(shellWord(job))', then add it again",
            "'kcbackup device show' shows this device")
    case .folderElsewhere(let job, let folder, let was, let now):
        Explanation(
            .refused,
            "\(quoted(folder)) leads to \(quoted(now)), and led to \(quoted(was)) when job \(quoted(job)) was added",
            hint:
                "if it is meant to, 'kcbackup run \(shellWord(job)) \(OptionName.change.spelling)' uses it from now on; "
                + "if not, mend the link")
    case .noBackups(let job, let folder):
        Explanation(
            .notFound, "job \(quoted(job)) had backups, and none of them is known in \(quoted(folder))",
            hint: "is the disk mounted?",
            "if they are there, 'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' enters them",
            "if they were removed on purpose, 'kcbackup run \(shellWord(job)) \(OptionName.change.spelling)' starts over"
        )
    case .otherFormat(let job):
        Explanation(
            .limit, "another version of kcbackup added job \(quoted(job))",
            hint: "use that version, or 'kcbackup schedule remove \(shellWord(job))', and add it again")
    case .severalLines: Explanation(.usage, "a word of the job has a line feed")
    }
}
