internal import KCByteStreams
package import KCKeychainModel

/// The newest archives of a folder in which others can write too, as far as their names tell.
///
/// Everybody who can write there can name an archive for any time, so the archives of known devices come first, and
/// the others are passed over.
package struct NewestArchives {
    /// The newest archive of each series, in order of the series.
    package let newest: [ArchiveName]
    /// The archives that are named for a time that is to come, as by a clock that was fast, and so may be older.
    package let later: [String]
    /// The archives whose names say no device that is known; if none is known, only those whose names say none.
    package let passedOver: [String]

    /// Chooses among archives by their file names.
    ///
    /// - Parameter knows: true for a name whose device is this one, trusted or accepted.
    /// - Throws: `CatalogueFailure` (`unclearNewest` if no name says what the archive is, `severalDevices` if none of several
    ///   devices is known).
    package init(
        of files: [String], in folder: String, now: Timestamp, knows: (ArchiveName) -> Bool
    ) throws(CatalogueFailure) {
        let named = files.compactMap { file in ArchiveName(file) }
        if named.isEmpty { throw .unclearNewest(folder: folder) }
        let known = named.filter(knows)
        let devices = Set(named.map(\.device.exact)).sorted()
        if known.isEmpty, devices.count > 1 { throw .severalDevices(folder: folder, devices.map(\.string)) }
        let candidates = known.isEmpty ? named : known
        newest = Dictionary(grouping: candidates, by: \.series.exact).values
            .compactMap { series in series.max { $0.precedes($1, now: now) } }
            .sorted { $0.series.exact < $1.series.exact }
        let sound = Set(newest.filter { !$0.isLater(than: now) }.map(\.series.exact))
        later = candidates.filter { $0.isLater(than: now) && sound.contains($0.series.exact) }.map(\.fileName)
        let taken = Set(candidates.map(\.fileName.exact))
        passedOver = files.filter { !taken.contains($0.exact) }
    }
}
