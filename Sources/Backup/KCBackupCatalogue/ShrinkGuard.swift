package import KCByteStreams
package import KCKeychainModel

/// Detects a keychain that lost more than tidying up explains: many of its items, or all items of a kind.
package enum ShrinkGuard {
    /// The percentage of items that may be missing.
    package static let allowance = 20

    /// Compares a new backup with the previous one; returns nil if it may be saved.
    package static func judge(
        _ before: CatalogueEntry, counts: ItemCounts, groups: [ExactText: Int]
    ) -> Shrinkage? {
        guard let content = before.content else { return nil }
        let goneClasses = ItemClass.allCases.filter { content.counts[$0] > 0 && counts[$0] == 0 }
        let goneGroups = content.groups.keys.filter { groups[$0] == nil }.sorted().map(\.string)
        let old = content.counts.total
        let new = counts.total
        guard isFarLess(new, than: old) || !goneClasses.isEmpty || !goneGroups.isEmpty else { return nil }
        return Shrinkage(
            series: before.series, before: old, now: new, goneClasses: goneClasses, goneGroups: goneGroups)
    }

    /// Compares the number of items in a new backup with that of the previous one, of which nothing else is known.
    package static func judge(_ series: String, before: Int, now: Int) -> Shrinkage? {
        isFarLess(now, than: before) ? Shrinkage(series: series, before: before, now: now) : nil
    }

    private static func isFarLess(_ new: Int, than old: Int) -> Bool { (old - new) * 100 > old * allowance }
}
