internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// An archive that was opened.
struct FoundArchive {
    let archive: NamedArchive
    /// The name of the file: that of the one that was taken, if a folder of a remote was named.
    let path: String

    var file: ArchiveFile { archive.file }

    /// The last component of the path of an archive, here or on a remote.
    static func name(of path: String) -> String { RemoteLocation(path)?.name ?? Path.split(path).name }
}

extension Session {
    /// Says which archive is taken as the newest of a folder of a remote; later errors of the run are about it.
    ///
    /// - Parameter later: the archives that are named for a time that is to come.
    func tell(newest location: RemoteLocation, later: [String]) {
        subjects.path = location.text
        if !style.isQuiet { message("the newest archive: \(displayed(location.text))\n") }
        if let first = later.first {
            let others = later.count == 1 ? "" : " and \(later.count - 1) more"
            warn(
                "\(quoted(first))\(others): named for a time that is to come, as by a clock that was fast, and not taken "
                    + "for the newest")
        }
    }
}
