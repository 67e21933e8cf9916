internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCRemotes

/// An archive that was opened.
struct FoundArchive {
    let archive: NamedArchive
    /// The name of the file: that of the one that was taken, if a folder was named.
    let path: String

    var file: ArchiveFile { archive.file }

    /// The last component of the path of an archive, here or on a remote.
    static func name(of path: String) -> String { RemoteLocation(path)?.name ?? Path.split(path).name }
}
