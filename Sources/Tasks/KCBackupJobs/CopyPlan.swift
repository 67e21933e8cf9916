package import KCBackupCatalogue
package import KCByteStreams
package import KCKeychainModel

/// Which archives of a folder a run copies to a remote.
///
/// The archives that no run has copied yet, in the order in which they were made, whatever the clock said. At the first
/// try, only the newest of each series, and the newest that lacks nothing; if there are copies already, the newest of
/// these and what was made since. If the newest copy is not there anymore, its archive is copied again; it is compared
/// if it has another size, was not what it should be, or was not read back for a week and is still the newest. If a
/// rekey has made another file of the archive here, or a rule has removed it, the copy is compared with what was copied
/// then. A copy that was not what it should be is compared again, whenever it is there, until it is that, also if
/// others are newer by then. An older copy is copied again if it is gone and no rule of the remote that removes by age could
/// have removed it: an older one is there, or it was made in the last week.
package struct CopyPlan {
    /// The archives to copy or to compare, in the order in which they were made.
    package let due: [CatalogueEntry]
    /// The copies to compare or to read back.
    package let doubtful: [CopyRecord.Newest]
    /// The copies that were not what they should be, and are not there: they were removed, or their disk is not mounted there.
    package let unseen: [CopyRecord.Newest]
    /// The doubtful copies to read back whose archives a rekey has replaced here, or a rule has removed.
    package let alone: [CopyRecord.Newest]
    /// The newest copies that were on the remote and are not anymore.
    package let gone: [String]
    /// The older copies that are not there anymore, as where the remote removes old ones by a rule of its own.
    package let goneBefore: [String]

    /// The older copies that no rule by age has removed, and that are copied again.
    package let lost: [String]

    // In days; a rule that removes copies by age keeps them for longer.
    private static let leastAge: Int64 = 7
    // In days, as archives of the folder itself.
    private static let verifyAfter: Int64 = 7

    /// - Parameters:
    ///   - entries: the complete archives of the folder, in the order in which they were made.
    ///   - sizes: the files on the remote, with their sizes in bytes.
    ///   - acceptsLoss: true if older copies may be gone, for whatever reason.
    package init(
        _ entries: [CatalogueEntry], onRemote sizes: [ExactText: UInt64], _ record: CopyRecord, now: Timestamp,
        acceptsLoss: Bool = false
    ) {
        var due: Set<ExactText> = []
        var doubtful: [ExactText: CopyRecord.Newest] = [:]
        // A copy that is missing now may be back later, for example when its disk is mounted again.
        unseen = record.doubtful.filter { sizes[$0.name.fileName.exact] == nil }
        for copy in record.doubtful where sizes[copy.name.fileName.exact] != nil {
            doubtful[copy.name.fileName.exact] = copy
        }
        var (gone, goneBefore, lost): ([String], [String], [String]) = ([], [], [])
        let recent = now.advanced(byMicroseconds: -Self.leastAge * 86_400_000_000)
        for (series, entries) in Dictionary(grouping: entries, by: \.series.exact) {
            due.formUnion(entries.filter(record.misses).map(\.name.exact))
            guard let newest = record.newest[series] else {
                due.formUnion(Self.first(of: entries, onRemote: sizes))
                continue
            }
            let name = newest.name.fileName.exact
            let older = entries.filter { $0.name.exact != name && record.copied.contains($0.name.exact) }
            goneBefore += older.map(\.name).filter { sizes[$0.exact] == nil }
            if sizes[name] == nil {
                gone.append(newest.name.fileName)
                due.insert(name)
            } else {
                let isLast = entries.last?.name.exact == name
                if sizes[name] != newest.size || due.contains(name) || isLast && Self.isOld(newest, now) {
                    doubtful[name] = newest
                }
            }
            if acceptsLoss { continue }
            let first = older.firstIndex { sizes[$0.name.exact] != nil } ?? older.endIndex
            lost += older[first...].filter { sizes[$0.name.exact] == nil }.map(\.name)
            lost += older[..<first].filter { $0.created > recent }.map(\.name)
        }
        due.formUnion(lost.map(\.exact))
        let files = Dictionary(entries.map { ($0.name.exact, $0.file.checksum) }) { first, _ in first }
        var alone: [CopyRecord.Newest] = []
        for (name, copy) in doubtful.sorted(by: { $0.key < $1.key }) {
            if files[name] == copy.checksum {
                due.insert(name)
            } else {
                due.remove(name)
                alone.append(copy)
            }
        }
        self.due = entries.filter { due.contains($0.name.exact) }
        self.doubtful = doubtful.sorted { $0.key < $1.key }.map(\.value)
        self.alone = alone
        self.gone = gone.sorted()
        self.goneBefore = goneBefore.sorted()
        self.lost = lost.sorted()
    }

    /// The archives to copy, at least, of a series of which no copies are known.
    private static func first(of entries: [CatalogueEntry], onRemote sizes: [ExactText: UInt64]) -> Set<ExactText> {
        if let index = entries.lastIndex(where: { sizes[$0.name.exact] == $0.file.size }) {
            return Set(entries[index...].map(\.name.exact))
        }
        return newest(of: entries)
    }

    /// The newest archive of a series, and the newest that lacks nothing.
    static func newest(of entries: [CatalogueEntry]) -> Set<ExactText> {
        let newest = [entries.last, entries.last { $0.isComplete != false }]
        return Set(newest.compactMap { $0?.name.exact })
    }

    /// True if a copy was not read back for a week.
    private static func isOld(_ newest: CopyRecord.Newest, _ now: Timestamp) -> Bool {
        let limit = now.advanced(byMicroseconds: -verifyAfter * 86_400_000_000)
        // A clock that was fast must not put it off.
        return !(limit...now).contains(newest.verified)
    }
}
