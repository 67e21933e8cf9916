package import KeychainModel

/// Tells a keychain that was tidied up from one that was lost, emptied or mistaken for another.
package enum ShrinkGuard {
    /// Percent of the items that may be missing.
    package static let allowance = 20

    /// Compares a new backup with the one before; nil where it may go on.
    package static func judge(
        _ before: CatalogueEntry, counts: ItemCounts, groups: [String: Int]
    ) -> Shrinkage? {
        guard let content = before.content else { return nil }
        let goneClasses = ItemClass.allCases.filter { content.counts[$0] > 0 && counts[$0] == 0 }
        let goneGroups = content.groups.keys.filter { groups[$0] == nil }.sorted()
        let old = content.counts.total
        let new = counts.total
        let isFarLess = (old - new) * 100 > old * allowance
        guard isFarLess || !goneClasses.isEmpty || !goneGroups.isEmpty else { return nil }
        return Shrinkage(
            series: before.series, before: old, now: new,
            gone: goneClasses.map(\.rawValue) + goneGroups)
    }
}
