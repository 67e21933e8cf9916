/// Why a remote could not be used.
///
/// Messages are the last line of what rclone or sftp said, as it said it; they are foreign text.
package enum RemoteFailure: Error, Hashable, Sendable {
    /// rclone is not installed.
    case notInstalled
    /// OpenSSH's sftp is not installed.
    case noSftp
    /// sftp cannot use this folder for files on their way.
    case unusableTemporaryFolder(String)
    /// rclone or sftp could not be started, with this `errno`.
    case notStarted(Int32)
    /// Something that only remotes of rclone can do.
    case needsRclone(RemoteLocation)
    /// rclone cannot read its configuration, which may be encrypted.
    case unreadableConfiguration(String)
    /// rclone's configuration has no such remote.
    case unknownRemote(String)
    /// rclone would accept any host as that of this remote.
    case unpinnedHost(remote: String)
    /// The host is none of those that ssh knows.
    case unknownHost(RemoteLocation)
    /// The remote refuses these credentials, or is not the one that is known.
    case denied(RemoteLocation, message: String)
    /// The remote cannot be reached.
    case unreachable(RemoteLocation, message: String)
    /// There is no such file.
    case missing(RemoteLocation)
    /// A name that cannot be part of `REMOTE:PATH`.
    case unusableName(String)
    /// A name that sftp would not take literally.
    case unquotable(String)
    /// The name is taken by another file.
    case exists(RemoteLocation)
    /// Other runs are writing the same file.
    case busy(RemoteLocation)
    /// A failure after which what was written of this file is still there.
    indirect case leaving(RemoteLocation, after: RemoteFailure)
    /// The bytes that were read back are not those that were written.
    case differs(RemoteLocation)
    /// The file changed or ended while it was read.
    case changed(RemoteLocation)
    /// More files than this in one folder.
    case tooMany(RemoteLocation, limit: Int)
    /// A listing that cannot be understood.
    case unclear(RemoteLocation)
    /// Anything else that rclone reports.
    case failed(RemoteLocation, message: String)
}

extension RemoteFailure {
    /// True if a name is taken.
    var isOfName: Bool { if case .exists = self { true } else { false } }

    /// True if every other file would fail in the same way, after another wait for the same host.
    package var isOfConnection: Bool {
        switch self {
        case .notInstalled, .noSftp, .notStarted, .unreadableConfiguration, .unknownRemote, .unpinnedHost, .unknownHost,
            .unreachable:
            true
        case .leaving(_, let cause): cause.isOfConnection
        default: false
        }
    }

    /// True if a file that was written is not there, or not as it was written.
    var isOfAbsence: Bool {
        switch self {
        case .missing, .differs, .changed: true
        default: false
        }
    }
}
