internal import ArgumentParser
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains

/// An unattended backup, as stored by `schedule add` and executed by `run`.
struct Job: Hashable, Sendable {
    /// 1 to 40 letters, digits, '-' and '_'.
    let name: String
    /// The arguments of `create` but its folder, with absolute paths; they name the keychain, unless all are backed up.
    var create: [String]
    /// The absolute path of the backup folder, as the user named it.
    var folder: String
    /// The same path with links resolved: a run refuses a folder that a link has led to since.
    var place: String
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

    /// All arguments of `create`.
    var arguments: [String] { [OptionName.to.spelling, folder] + create }

    /// The options of `create`.
    ///
    /// - Throws: `Jobs.Problem.damaged` if they cannot be parsed: the file was changed, or another version wrote it.
    func options() throws(Jobs.Problem) -> CreateOptions {
        do {
            return try CreateOptions.parse(arguments)
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
        text.utf8.count <= 40 && text.utf8.first.map { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") } == true
            && text.exact.isASCIILettersAndDigits(or: "_-")
    }
}

/// The lines of a job in its `StateFile`.
///
/// ```
/// time daily
/// folder /home/ada/backups
/// place /mnt/disk/backups
/// create --keychain
/// create secret-service:
/// keep --keep-daily
/// keep 7
/// on-failure mail -s 'no backup' ada
/// ```
extension Job {
    /// True if a line can hold each setting.
    var hasOnlyLines: Bool {
        (create + keep + [folder, place, time] + [onSuccess, onFailure, hookTimeout].compactMap { $0 })
            .allSatisfy(StateFields.isOneLine)
    }

    var fields: StateFields {
        var fields = StateFields()
        fields.add("time", time)
        fields.add("folder", folder)
        fields.add("place", place)
        fields.add("create", create)
        fields.add("keep", keep)
        fields.add("on-success", onSuccess)
        fields.add("on-failure", onFailure)
        fields.add("hook-timeout", hookTimeout)
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    init?(name: String, _ fields: StateFields) {
        guard let folder = fields.values("folder").first, let place = fields.values("place").first,
            let time = fields.values("time").first
        else { return nil }
        self.init(name: name, create: fields.values("create"), folder: folder, place: place)
        self.time = time
        keep = fields.values("keep")
        onSuccess = fields.values("on-success").first
        onFailure = fields.values("on-failure").first
        hookTimeout = fields.values("hook-timeout").first
        // Every job has exactly one spelling, so this detects lines that were not read.
        guard self.fields == fields else { return nil }
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

    init(began: Timestamp) {
        self.began = began
    }

    var fields: StateFields {
        var fields = StateFields()
        fields.add("began", began.description)
        if let ended {
            fields.add("ended", ended.description)
            fields.add("status", String(status.code))
        }
        if !message.isEmpty { fields.add("message", Self.oneLine(message)) }
        fields.add("hint", hints.map(Self.oneLine))
        if let good {
            fields.add("good", good.description)
            fields.add("items", String(items))
        }
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    init?(_ fields: StateFields) {
        func time(_ name: String) -> Timestamp? { fields.values(name).first.flatMap(Timestamp.init) }
        guard let began = time("began") else { return nil }
        self.began = began
        ended = time("ended")
        if ended != nil {
            guard let code = fields.values("status").first.flatMap(Int32.init),
                let status = ExitStatus(rawValue: code)
            else { return nil }
            self.status = status
        }
        message = fields.values("message").first ?? ""
        hints = fields.values("hint")
        good = time("good")
        if good != nil {
            guard let items = fields.values("items").first.flatMap(Int.init) else { return nil }
            self.items = items
        }
        guard self.fields == fields else { return nil }
    }

    private static func oneLine(_ text: String) -> String {
        let bytes = text.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
