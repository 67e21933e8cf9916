internal import KCBackupArchive
package import KCBackupCatalogue
package import KCByteStreams
package import KCKeychainModel

/// Which archives of a folder a run copies to a remote.
///
/// Those that were made since the newest copy; at first, only the newest of each series. If the newest copy is not there
/// anymore, its archive is copied again; if it has another size, or has not been read back for a week, and is still the
/// newest, it is compared.
package struct CopyPlan {
    /// The archives to copy or to compare, oldest first.
    package let due: [CatalogueEntry]
    /// The newest copies that were on the remote and are not anymore.
    package let gone: [String]

    // In days, as archives of the folder itself.
    private static let verifyAfter: Int64 = 7

    /// - Parameters:
    ///   - entries: the complete archives of the folder.
    ///   - sizes: the files on the remote with their sizes in bytes.
    package init(_ entries: [CatalogueEntry], onRemote sizes: [ExactText: UInt64], _ record: CopyRecord, now: Timestamp)
    {
        let limit = now.advanced(byMicroseconds: -Self.verifyAfter * 86_400_000_000)
        var due: [CatalogueEntry] = []
        var gone: [String] = []
        for (series, entries) in Dictionary(grouping: entries, by: \.series.exact) {
            guard let last = entries.max(by: { $0.created < $1.created }) else { continue }
            guard let copied = record.newest[series] else {
                due.append(last)
                continue
            }
            due += entries.filter { $0.created > copied.created }
            let name = copied.name.fileName
            if sizes[name.exact] == nil {
                due += entries.filter { $0.name.exact == name.exact }
                gone.append(name)
            } else if last.name.exact == name.exact, last.file.checksum == copied.checksum,
                copied.verified < limit || sizes[name.exact] != copied.size
            {
                due.append(last)
            }
        }
        self.due = due.sorted { ($0.created, $0.name.exact) < ($1.created, $1.name.exact) }
        self.gone = gone.sorted()
    }
}
