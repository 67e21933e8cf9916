/// Why a remote could not be used.
///
/// Messages are the last line of what rclone said, as it said it; they are foreign text.
package enum RemoteFailure: Error, Hashable, Sendable {
    /// rclone is not installed.
    case notInstalled
    /// rclone could not be started, with this `errno`.
    case notStarted(Int32)
    /// rclone's configuration has no such remote.
    case unknownRemote(String)
    /// rclone would accept any host as that of this remote.
    case unpinnedHost(remote: String)
    /// The remote refuses these credentials, or is not the one that is known.
    case denied(RemoteLocation, message: String)
    /// The remote cannot be reached.
    case unreachable(RemoteLocation, message: String)
    /// There is no such file.
    case missing(RemoteLocation)
    /// The names of the archives in a folder do not tell which is the newest of one keychain.
    case unclearNewest(RemoteLocation)
    /// A name that cannot be part of `REMOTE:PATH`.
    case unusableName(String)
    /// The name is taken by another file.
    case exists(RemoteLocation)
    /// What was read back is not what was written.
    case differs(RemoteLocation)
    /// The file changed or ended while it was read.
    case changed(RemoteLocation)
    /// More files than this in one folder.
    case tooMany(RemoteLocation, limit: Int)
    /// An answer of rclone that cannot be understood.
    case unclear(RemoteLocation)
    /// Anything else that rclone reports.
    case failed(RemoteLocation, message: String)
}
