package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// Why a backup folder cannot be used as requested.
package enum CatalogueFailure: Error, Hashable, Sendable {
    /// The catalogue was changed by something other than this device.
    case altered(folder: String)
    /// Another version of the program wrote the catalogue.
    case otherFormat(folder: String)
    /// The folder had backups, and is now missing or empty.
    case folderGone(folder: String, archives: Int)
    /// Links lead to another folder than the one where the backups were made, and no backup is known there.
    case folderElsewhere(folder: String, archives: Int, was: String, now: String)
    /// The folder does not exist, and the run may not make it.
    case folderMissing(folder: String)
    /// The run would change what the folder is used for.
    case switches(folder: String, BackupPin.Difference)
    /// There is far less to back up than last time.
    case shrunk(Shrinkage)
    /// The contents of the newest archive are not known, so that a loss since then could not be detected.
    case unread(path: String)
    /// A keychain that was backed up to a folder for all keychains no longer exists.
    case vanished(series: String)
    /// There are no retention rules.
    case noRule
    /// An archive was damaged after it was made.
    case notWhole(name: String)
    /// The file of a recorded archive is missing.
    case missing(name: String)
    /// A genuine archive has the name of a recorded one, but is another archive, or the same one with other keys.
    case replaced(name: String, CatalogueEntry.Difference)
    /// An archive is of another time, device or keychain than its name says.
    case renamed(path: String)
    /// The names of several archives in the folder do not tell which is the newest.
    case unclearNewest(folder: String)
    /// The archives in the folder are of several devices, of which none is known.
    case severalDevices(folder: String, [String])
    /// The archives in the folder are of several series, and one was to be taken.
    case severalSeries(folder: String, [String])
    /// There are no archives in the folder.
    case noArchives(folder: String)
    /// The trash contains nothing that could be moved back.
    case nothingInTrash(folder: String)
    /// An archive in the trash cannot be rekeyed; it stays exactly as it was removed.
    case inTrash(path: String)
    /// The trash is a symbolic link, or something else that is not a folder.
    case trashIsNoFolder(path: String)
    /// No backups are recorded for this folder.
    case unknownFolder(String)
    case file(FileFailure)
    case cryptography(CryptographyFailure)
}

/// The loss in a backup compared with the previous one.
package struct Shrinkage: Hashable, Sendable {
    /// The series of the keychain.
    package let series: String
    package let before: Int
    package let now: Int
    /// The classes of which no item is left.
    package let goneClasses: [ItemClass]
    /// The access groups of which no item is left; foreign text.
    package let goneGroups: [String]
    /// How many items could not be read, and may be what is missing.
    package var unread: Int
    /// The names of those that have one; foreign text.
    package var unreadNames: [String]
    /// How many of them stay in their place by a rule.
    package var left: Int

    /// Creates a description of a loss.
    package init(
        series: String, before: Int, now: Int, goneClasses: [ItemClass] = [], goneGroups: [String] = [],
        unread: Int = 0, unreadNames: [String] = [], left: Int = 0
    ) {
        self.series = series
        self.before = before
        self.now = now
        self.goneClasses = goneClasses
        self.goneGroups = goneGroups
        self.unread = unread
        self.unreadNames = unreadNames
        self.left = left
    }
}
