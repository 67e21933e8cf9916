package import KCBackupCatalogue
package import KCByteStreams
package import KCKeychainModel

/// Which archives of a folder a run copies to a remote, and which copies it reads back.
///
/// The archives that no run has copied yet, in the order in which they were made, whatever the clock said. At the first
/// try, only the newest of each series, and the newest that lacks nothing; if there are copies already, the newest of
/// these and what was made since. A copy that is not there anymore is made again if it is the newest, or if no rule of
/// the remote that removes by age could have removed it: an older one is there, or it was made in the last week.
///
/// A copy is read back if it has another size than when it was made, was not what it should be or was not there when a
/// run last looked, or if it is the newest and was not read back for a week; of the others, those that were not for the
/// longest time.
package struct CopyPlan {
    /// The archives to copy, or to compare with what is there, in the order in which they were made.
    package let due: [CatalogueEntry]
    /// The copies to read back.
    package let reads: [CopyRecord.Copy]
    /// The files that are there, with their sizes in bytes; nil if the remote may not be listed.
    package let there: [ExactText: UInt64]?
    /// The copies that have another size than when they were made.
    package let changed: Set<ExactText>
    /// The newest copies that were on the remote and are not anymore.
    package let gone: [String]
    /// The older copies that are not there anymore, as where the remote removes old ones by a rule of its own.
    package let goneBefore: [String]
    /// The copies among these that no rule by age has removed.
    package let lost: [String]
    /// The copies that need not be there anymore.
    package let expired: Set<ExactText>

    // In days; a rule that removes copies by age keeps them for longer.
    private static let leastAge: Int64 = 7
    // In days, as archives of the folder itself.
    private static let verifyAfter: Int64 = 7

    /// - Parameters:
    ///   - entries: the complete archives of the folder, in the order in which they were made.
    ///   - sizes: the files on the remote, with their sizes in bytes; nil if it may not be listed.
    ///   - count: how many of the older copies are read back.
    ///   - acceptsLoss: true if older copies may be gone, for whatever reason.
    package init(
        _ entries: [CatalogueEntry], onRemote sizes: [ExactText: UInt64]?, _ record: CopyRecord, now: Timestamp,
        reading count: Int = 1, acceptsLoss: Bool = false
    ) {
        let settled = record.settled
        var due = Set(entries.map(\.name.exact)).subtracting(settled)
        var loss = Loss()
        var reads: [CopyRecord.Copy] = []
        if let sizes {
            let copies = Dictionary(grouping: record.copies, by: \.name.series.exact)
            for (series, entries) in Dictionary(grouping: entries, by: \.series.exact) where copies[series] == nil {
                due.formUnion(Self.first(of: entries, onRemote: sizes))
            }
            let here = Set(entries.map(\.name.exact))
            let recent = now.advanced(byMicroseconds: -Self.leastAge * 86_400_000_000)
            // A folder that has none of them starts over.
            let isEmptied = acceptsLoss && !record.copies.contains { sizes[$0.file] != nil }
            for copies in copies.values {
                loss.look(
                    at: copies, sizes, here, since: recent, acceptsLoss: acceptsLoss, isEmptied: isEmptied)
            }
            due.formUnion(loss.due)
            due.subtract(loss.expired)
        }
        let candidates = Self.reads(of: record.copies, entries, sizes, now, count)
        // A copy that is not what it should be is compared with its archive, where that is here, and completed if it is a part of it.
        let files = Dictionary(entries.map { ($0.name.exact, $0.file.checksum) }) { first, _ in first }
        let compared = Set(
            candidates.filter { copy in
                (copy.isDoubtful || sizes?[copy.file].map { $0 != copy.size } == true)
                    && files[copy.file] == copy.checksum
            }.map(\.file))
        reads = candidates.filter { !compared.contains($0.file) }
        due.formUnion(compared)
        due.subtract(reads.map(\.file))
        self.due = entries.filter { due.contains($0.name.exact) }
        self.reads = reads
        there = sizes
        changed = Set(record.copies.filter { copy in sizes?[copy.file].map { $0 != copy.size } == true }.map(\.file))
        gone = loss.gone.sorted()
        goneBefore = loss.goneBefore.sorted()
        lost = loss.lost.sorted()
        expired = loss.expired
    }

    /// The copies that are not there.
    private struct Loss {
        var gone: [String] = []
        var goneBefore: [String] = []
        var lost: [String] = []
        var due: Set<ExactText> = []
        var expired: Set<ExactText> = []

        /// - Parameters:
        ///   - copies: those of one series, in the order in which their archives were made.
        ///   - here: the archives of the folder.
        mutating func look(
            at copies: [CopyRecord.Copy], _ sizes: [ExactText: UInt64], _ here: Set<ExactText>,
            since recent: Timestamp, acceptsLoss: Bool, isEmptied: Bool
        ) {
            let first = copies.firstIndex { sizes[$0.file] != nil } ?? copies.endIndex
            for (index, copy) in copies.enumerated() where sizes[copy.file] == nil {
                let isNewest = index == copies.count - 1
                let isHere = here.contains(copy.file)
                let isExplained = isEmptied || index < first && copy.created <= recent
                // A copy that was not what it should be may have been removed for that.
                if copy.isGood {
                    if isNewest { gone.append(copy.name.fileName) } else { goneBefore.append(copy.name.fileName) }
                    if !isExplained { lost.append(copy.name.fileName) }
                }
                // The newest has to be there, whatever removed it.
                if isExplained ? !isNewest || !isHere : acceptsLoss && !isHere {
                    expired.insert(copy.file)
                } else {
                    due.insert(copy.file)
                }
            }
        }
    }

    private static func reads(
        of copies: [CopyRecord.Copy], _ entries: [CatalogueEntry], _ sizes: [ExactText: UInt64]?, _ now: Timestamp,
        _ count: Int
    ) -> [CopyRecord.Copy] {
        let newest = Set(Dictionary(entries.map { ($0.series.exact, $0.name.exact) }) { _, last in last }.values)
        // Without a listing, those that could be read before.
        let there = copies.filter { copy in sizes.map { $0[copy.file] != nil } ?? (copy.verified != nil) }
        func isRead(_ copy: CopyRecord.Copy) -> Bool {
            copy.isDoubtful || !copy.isThere || sizes.map { $0[copy.file] != copy.size } == true
                || newest.contains(copy.file) && isOld(copy, now)
        }
        // A clock that was fast must not put it off.
        func time(_ copy: CopyRecord.Copy) -> Int64 {
            copy.verified.flatMap { $0 > now ? nil : $0.microseconds } ?? .min
        }
        let others = there.filter { !isRead($0) && isOld($0, now) }.sorted { time($0) < time($1) }
        return there.filter(isRead) + others.prefix(count)
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
    private static func isOld(_ copy: CopyRecord.Copy, _ now: Timestamp) -> Bool {
        let limit = now.advanced(byMicroseconds: -verifyAfter * 86_400_000_000)
        return copy.verified.map { !(limit...now).contains($0) } ?? true
    }
}
