package import ByteStreams
package import Cryptography

/// Why a folder of backups cannot be used as it is asked.
package enum CatalogueFailure: Error, Hashable, Sendable {
    /// The catalogue is not as this device wrote it.
    case altered(folder: String)
    /// A newer program wrote the catalogue.
    case newerFormat(folder: String)
    /// The folder had backups, and is missing or empty now.
    case folderGone(folder: String, archives: Int)
    /// The run would switch what the folder is for.
    case switches(folder: String, BackupPin.Difference)
    /// There is far less to back up than last time.
    case shrunk(Shrinkage)
    /// A keychain of which there are backups in a folder for all keychains is no more.
    case vanished(series: String)
    /// No rule says what to keep.
    case noRule
    /// An archive that was whole when it was made no longer is.
    case notWhole(name: String)
    /// The file of an archive that the catalogue knows is gone.
    case missing(name: String)
    /// A genuine archive is not the one that the catalogue knows under its name.
    case replaced(name: String, CatalogueEntry.Difference)
    /// There is no archive in the folder.
    case noArchives(folder: String)
    /// There is nothing in the trash to bring back.
    case nothingInTrash(folder: String)
    /// An archive in the trash is as it was when it was removed.
    case inTrash(path: String)
    /// The trash is a symbolic link, or something else that is no folder.
    case trashIsNoFolder(path: String)
    /// The folder has no backups that are known here.
    case unknownFolder(String)
    case file(FileFailure)
    case cryptography(CryptographyFailure)
}

/// What is missing in a backup, compared with the last one.
package struct Shrinkage: Hashable, Sendable {
    /// The keychain's series.
    package let series: String
    package let before: Int
    package let now: Int
    /// The kinds that are gone altogether: classes, and then access groups.
    package let gone: [String]

    /// Describes a loss.
    package init(series: String, before: Int, now: Int, gone: [String]) {
        self.series = series
        self.before = before
        self.now = now
        self.gone = gone
    }
}
