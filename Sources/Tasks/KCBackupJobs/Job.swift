package import KCBackupCatalogue
package import KCBackupTasks
internal import KCByteStreams

/// An unattended backup, as stored by `schedule add` and executed by `run`.
package struct Job: Hashable, Sendable {
    /// 1 to 40 letters, digits, '-' and '_'.
    package let name: String
    package var request: FolderBackupRequest
    /// The path of the folder with links resolved: a run refuses a folder that a link has led to since.
    package var place: String
    /// Which archives stay; without rules, all do.
    package var keep = Retention()
    /// The folders that new archives are copied to, as `REMOTE:PATH`, or by absolute paths on this machine.
    package var copyTo: [String] = []
    /// True if remotes may have unencrypted archives, also earlier ones of a folder whose mode has changed.
    package var copiesReadable = false
    /// How many of the older copies in each of these folders a run reads back.
    package var verifiedCopies = usualVerifiedCopies
    /// The folder of the fleet that the machine is in, as `REMOTE:PATH`, which gets copies and receipts; nil for none.
    package var fleet: String?
    /// When it runs, in the format of systemd.time(7); nil if only changes start it.
    package var time: String? = "daily"
    /// True if it also runs after each change of what it backs up.
    package var onChange = false
    /// Shell commands that are run after success or failure.
    package var onSuccess: String?
    package var onFailure: String?
    /// The time limit for these commands; nil for `usualHookTimeout`.
    package var hookTimeout: Duration?

    /// How many older copies a run reads back by default: sixty nightly copies are all read in two months.
    package static let usualVerifiedCopies = 1

    /// The default time limit for these commands: enough to send mail, but no run hangs all night.
    package static let usualHookTimeout = Duration.seconds(300)

    /// Creates a job with default settings.
    ///
    /// - Parameter place: the path of the folder with links resolved.
    package init(name: String, _ request: FolderBackupRequest, place: String) {
        self.name = name
        self.request = request
        self.place = place
    }

    /// The absolute path of the backup folder, as the user named it.
    package var folder: String { request.folder }

    package var backup: BackupRequest { request.backup }

    /// True if `text` is a valid job name, which becomes part of file and unit names.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= 40 && text.utf8.first.map { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") } == true
            && text.exact.isASCIILettersAndDigits(or: "_-")
    }
}
