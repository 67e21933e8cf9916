internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// An archive that was opened.
struct FoundArchive {
    let file: ArchiveFile
    /// The name of the file: that of the one that was taken, if a folder of a remote was named.
    let path: String
    /// How it was chosen in that folder; nil if the archive itself was named.
    let chosen: ChosenName?
}

/// The archive that was taken as the newest in a folder of a remote, since its name has the latest time.
///
/// Whoever can write there can give an old archive a later name, so the name must fit what the device has signed.
struct ChosenName {
    /// The archive as `REMOTE:PATH`.
    let path: String
    private let name: ArchiveName?

    /// Says which archive is taken; later errors of the run are about it.
    ///
    /// - Parameter later: the archives that are named for a time that is to come.
    init(_ location: RemoteLocation, later: [String], in session: Session) {
        path = location.text
        name = ArchiveName(location.name)
        session.subjects.path = path
        if !session.style.isQuiet { session.message("the newest archive: \(displayed(path))\n") }
        if let first = later.first {
            let others = later.count == 1 ? "" : " and \(later.count - 1) more"
            session.warn(
                "\(quoted(first))\(others): named for a time that is to come, as by a clock that was fast, and not taken "
                    + "for the newest")
        }
    }

    /// Compares the name with the device and the time of the archive.
    func require(_ header: ArchiveHeader) throws(Refusal) {
        if let name, !name.isName(of: header) { throw .renamedCopy(path: path) }
    }

    /// Compares the name with the keychain that the archive was made from.
    func require(_ source: ArchiveSource) throws(Refusal) {
        if let name, !ArchiveName.isSeries(name.series, of: source) { throw .renamedCopy(path: path) }
    }
}
