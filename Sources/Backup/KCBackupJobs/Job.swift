internal import KCByteStreams
package import KCDeviceIdentity
internal import KCItemStores
internal import KCLocalKeychains

/// An unattended backup, as stored by `schedule add` and executed by `run`.
package struct Job: Hashable, Sendable {
    /// 1 to 40 letters, digits, '-' and '_'.
    package let name: String
    /// The arguments of `create` but its folder, with absolute paths; they name the keychain, unless all are backed up.
    package var create: [String]
    /// The absolute path of the backup folder, as the user named it.
    package var folder: String
    /// The same path with links resolved: a run refuses a folder that a link has led to since.
    package var place: String
    /// The retention options for `prune`; empty to keep everything.
    package var keep: [String] = []
    /// The folders that new archives are copied to, as `REMOTE:PATH`, or by absolute paths on this machine.
    package var copyTo: [String] = []
    /// The folder of the fleet that the machine is in, as `REMOTE:PATH`, which gets copies and receipts; nil for none.
    package var fleet: String?
    /// When it runs, in the format of systemd.time(7).
    package var time = "daily"
    /// Shell commands that are run after success or failure.
    package var onSuccess: String?
    package var onFailure: String?
    /// The time limit for these commands, as the user gave it; nil for `usualHookTimeout`.
    package var hookTimeout: String?

    /// The default time limit for these commands: enough to send mail, but no run hangs all night.
    package static let usualHookTimeout = Duration.seconds(300)

    /// Creates a job with default settings.
    package init(name: String, create: [String], folder: String, place: String, keep: [String] = []) {
        self.name = name
        self.create = create
        self.folder = folder
        self.place = place
        self.keep = keep
    }

    /// All arguments of `create`.
    package var arguments: [String] { [Option.folder, folder] + create }

    /// The options of `create` that decide more than how an archive is made.
    package enum Option {
        package static let folder = "--to"
        package static let all = "--all"
        package static let home = "--home"
        package static let keychain = "--keychain"
        package static let metadataReadable = "--metadata-readable"
        static let recipientsFile = "--recipients-file"
    }

    /// True if `text` is a valid job name, which becomes part of file and unit names.
    package static func isName(_ text: String) -> Bool {
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
    package var hasOnlyLines: Bool {
        (create + keep + copyTo + [folder, place, time] + [fleet, onSuccess, onFailure, hookTimeout].compactMap { $0 })
            .allSatisfy(StateFields.isOneLine)
    }

    package var fields: StateFields {
        var fields = StateFields()
        fields.add("time", time)
        fields.add("folder", folder)
        fields.add("place", place)
        fields.add("create", create)
        fields.add("keep", keep)
        fields.add("copy-to", copyTo)
        fields.add("fleet", fleet)
        fields.add("on-success", onSuccess)
        fields.add("on-failure", onFailure)
        fields.add("hook-timeout", hookTimeout)
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    package init?(name: String, _ fields: StateFields) {
        guard let folder = fields.values("folder").first, let place = fields.values("place").first,
            let time = fields.values("time").first
        else { return nil }
        self.init(name: name, create: fields.values("create"), folder: folder, place: place)
        self.time = time
        keep = fields.values("keep")
        copyTo = fields.values("copy-to")
        fleet = fields.values("fleet").first
        onSuccess = fields.values("on-success").first
        onFailure = fields.values("on-failure").first
        hookTimeout = fields.values("hook-timeout").first
        // Every job has exactly one spelling, so this detects lines that were not read.
        guard self.fields == fields else { return nil }
    }
}
