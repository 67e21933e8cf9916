internal import ArgumentParser
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains

/// An unattended backup, as stored by `schedule add` and executed by `run`.
struct Job: Hashable, Sendable {
    /// 1 to 40 letters, digits, '-' and '_'.
    let name: String
    /// The arguments of `create`, complete and with absolute paths.
    var create: [String]
    /// The absolute path of the backup folder.
    var folder: String
    /// The retention options for `prune`; empty to keep everything.
    var keep: [String] = []
    /// When it runs, in the format of systemd.time(7).
    var time = "daily"
    /// Shell commands that are run after success or failure.
    var onSuccess: String?
    var onFailure: String?
    /// The time limit for these commands, as the user gave it; nil for `usualHookTimeout`.
    var hookTimeout: String?

    /// The default time limit for these commands: enough to send mail, but no run hangs all night.
    static let usualHookTimeout = Duration.seconds(300)

    /// The options of `create`.
    ///
    /// - Throws: `Jobs.Problem.damaged` if they cannot be parsed: the file was changed, or another version wrote it.
    func options() throws(Jobs.Problem) -> CreateOptions {
        do {
            return try CreateOptions.parse(create)
        } catch {
            throw .damaged(job: name, path: nil)
        }
    }

    /// Returns the retention rules.
    ///
    /// - Throws: as `options`.
    func rules() throws(Jobs.Problem) -> RetentionOptions {
        do {
            return try RetentionOptions.parse(keep)
        } catch {
            throw .damaged(job: name, path: nil)
        }
    }

    /// True if `text` is a valid job name, which becomes part of file and unit names.
    static func isName(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]{0,39}/) != nil
    }
}

/// The job file: a line that names the format, each setting with its arguments on indented lines below, and a last
/// line.
///
/// ```
/// kcbackup job 1
/// time daily
/// folder /home/ada/backups
/// create
///  --all
///  --to
///  /home/ada/backups
/// keep
///  --keep-daily
///  7
/// on-failure mail -s 'no backup' ada
/// end
/// ```
extension Job {
    private static let firstLine = "kcbackup job 1"

    var spelling: String {
        var lines = [Self.firstLine, "time \(time)", "folder \(folder)", "create"] + create.map { " " + $0 }
        if !keep.isEmpty { lines += ["keep"] + keep.map { " " + $0 } }
        if let onSuccess { lines.append("on-success \(onSuccess)") }
        if let onFailure { lines.append("on-failure \(onFailure)") }
        if let hookTimeout { lines.append("hook-timeout \(hookTimeout)") }
        return (lines + ["end"]).map { $0 + "\n" }.joined()
    }

    /// Parses the text that `spelling` returns; nil for anything else.
    init?(name: String, parsing text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        guard lines.popFirst() == Self.firstLine, lines.popLast() == "", lines.popLast() == "end" else { return nil }
        var values: [String: String] = [:]
        var lists: [String: [String]] = [:]
        while let line = lines.popFirst() {
            if line == "create" || line == "keep" {
                var words: [String] = []
                while let word = lines.first, word.hasPrefix(" ") {
                    words.append(String(word.dropFirst()))
                    lines.removeFirst()
                }
                guard lists.updateValue(words, forKey: line) == nil else { return nil }
            } else {
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                guard parts.count == 2, values.updateValue(parts[1], forKey: parts[0]) == nil else { return nil }
            }
        }
        guard let create = lists["create"], let folder = values["folder"], let time = values["time"] else { return nil }
        self.name = name
        self.create = create
        self.folder = folder
        self.time = time
        keep = lists["keep"] ?? []
        onSuccess = values["on-success"]
        onFailure = values["on-failure"]
        hookTimeout = values["hook-timeout"]
        // Every job has exactly one spelling, so this detects anything that was misread.
        guard spelling == text else { return nil }
    }
}

/// The results of a job's last runs.
struct RunRecord: Hashable, Sendable {
    /// When the last run began.
    var began: Timestamp
    /// When it ended; nil if it is still running or was killed.
    var ended: Timestamp?
    /// How it ended.
    var status = ExitStatus.ok
    /// The error, in one line.
    var message = ""
    /// What would fix it, one hint per line.
    var hints: [String] = []
    /// When the last successful run ended.
    var good: Timestamp?
    /// The number of items in its archives.
    var items = 0

    private static let firstLine = "kcbackup run 1"

    var spelling: String {
        var lines = [Self.firstLine, "began \(began)"]
        if let ended { lines += ["ended \(ended)", "status \(status.code)"] }
        if !message.isEmpty { lines.append("message \(message)") }
        lines += hints.map { "hint \($0)" }
        if let good { lines += ["good \(good)", "items \(items)"] }
        return (lines + ["end"]).map { $0 + "\n" }.joined()
    }

    init(began: Timestamp) {
        self.began = began
    }

    /// Parses the text that `spelling` returns; nil for anything else.
    init?(parsing text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 3, lines.removeFirst() == Self.firstLine, lines.removeLast() == "",
            lines.removeLast() == "end"
        else { return nil }
        var values: [String: String] = [:]
        var hints: [String] = []
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            if parts[0] == "hint" { hints.append(parts[1]) } else { values[parts[0]] = parts[1] }
        }
        guard let began = values["began"].flatMap(Timestamp.init) else { return nil }
        self.began = began
        self.hints = hints
        if let text = values["ended"] {
            guard let ended = Timestamp(text), let code = values["status"].flatMap({ Int32($0) }),
                let status = ExitStatus(rawValue: code)
            else { return nil }
            self.ended = ended
            self.status = status
        }
        message = values["message"] ?? ""
        if let text = values["good"] {
            guard let good = Timestamp(text), let items = values["items"].flatMap({ Int($0) }) else { return nil }
            self.good = good
            self.items = items
        }
    }
}

/// The jobs of a user, stored in the data folder.
struct Jobs {
    private let folder: String

    private static let ending = ".job"

    /// Why a job cannot be used.
    enum Problem: Error, Hashable, Sendable {
        case invalidName
        case notFound(String)
        case exists(String)
        /// The file of the job, or of its last run, was not written by this program.
        case damaged(job: String, path: String?)
        /// An argument contains a line feed.
        case severalLines
    }

    /// Creates an instance for a data folder.
    init(_ dataFolder: DataFolder) {
        folder = dataFolder.path + "/jobs"
    }

    /// Creates an instance for this world's data folder.
    init(_ world: World) {
        self.init(world.dataFolder)
    }

    /// Returns the names of all jobs, sorted.
    ///
    /// - Throws: `FileFailure`.
    func names() throws(FileFailure) -> [String] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).filter { $0.hasSuffix(Self.ending) }.map {
            String($0.dropLast(Self.ending.count))
        }.filter(Job.isName).sorted()
    }

    /// Returns the job with this name.
    ///
    /// - Throws: `Problem` (`invalidName`, `notFound`, `damaged`), `FileFailure`.
    func job(_ name: String) throws -> Job {
        guard Job.isName(name) else { throw Problem.invalidName }
        guard let text = try text(path(name)) else { throw Problem.notFound(name) }
        guard let job = Job(name: name, parsing: text) else { throw Problem.damaged(job: name, path: path(name)) }
        return job
    }

    /// Adds a job.
    ///
    /// - Throws: `Problem` (`invalidName`, `exists`, `severalLines`), `FileFailure`.
    func add(_ job: Job) throws {
        guard Job.isName(job.name) else { throw Problem.invalidName }
        guard Job(name: job.name, parsing: job.spelling) == job else { throw Problem.severalLines }
        try Path.makeFolder(folder)
        do throws(FileFailure) {
            try PrivateFile.create(path(job.name), job.spelling.utf8.span)
        } catch {
            if error.problem == .exists { throw Problem.exists(job.name) }
            throw error
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
    /// - Throws: `Problem` (`damaged`), `FileFailure`.
    func record(_ name: String) throws -> RunRecord? {
        let path = "\(folder)/\(name).last"
        guard let text = try text(path) else { return nil }
        guard let record = RunRecord(parsing: text) else { throw Problem.damaged(job: name, path: path) }
        return record
    }

    /// Saves the record of a job's last runs.
    ///
    /// - Throws: `FileFailure`.
    func save(_ record: RunRecord, of name: String) throws(FileFailure) {
        try PrivateFile.replace("\(folder)/\(name).last", record.spelling.utf8.span)
    }

    /// Locks out other runs of a job; the kernel releases the lock when the process ends, for whatever reason.
    ///
    /// - Throws: `FileFailure` (`busy`).
    func lock(_ name: String, waitingAtMost wait: Duration) throws(FileFailure) -> FileLock {
        try FileLock("\(folder)/\(name).lock", waitingAtMost: wait)
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)\(Self.ending)" }

    private func text(_ path: String) throws(FileFailure) -> String? {
        do throws(FileFailure) {
            return try PrivateFile.read(path).withBytes { span in
                String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
            }
        } catch {
            if error.problem == .notFound { return nil }
            throw error
        }
    }
}

/// A job whose files cannot be read.
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
            hint: "'kcbackup schedule remove \(displayed(name))' removes it; its backups stay")
    case .damaged(let job, let path):
        Explanation(
            .damaged,
            "the file of job \(quoted(job)) is damaged, or was edited by hand" + (path.map { ": \(quoted($0))" } ?? ""),
            hint: "'kcbackup schedule remove \(displayed(job))', then add it again")
    case .severalLines: Explanation(.usage, "a word of the job has a line feed")
    }
}
