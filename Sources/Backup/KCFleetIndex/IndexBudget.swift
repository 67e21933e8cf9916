internal import KCKeychainModel

/// How much one archive, and all archives of one machine, may add to an index.
///
/// Names in an archive are compressed, so that a small one can hold more than the disk of the index.
package struct IndexBudget: Sendable {
    /// For one archive, in bytes.
    let archive: Int64
    /// For all archives of a machine together, in bytes.
    let machine: Int64

    /// More than a million ordinary items, and 18 years of a machine that changes one of its 10,000 items every night.
    package static let standard = IndexBudget(archive: 256 << 20, machine: 2 << 30)

    // In bytes: a row of an item and its words, without its names.
    private static let rowSize = 128
    /// The cost of an item in each of the contents that have it, in bytes.
    static let holdSize: Int64 = 32

    /// The cost of an item that the index does not have, in bytes.
    static func size(of item: Item, _ names: IndexedNames) -> Int64 {
        let bytes = names.all.reduce(item.accessGroup.utf8.count) { $0 + ($1?.utf8.count ?? 0) }
        return Int64(rowSize + bytes)
    }

    /// Why something does not fit; nil if it does.
    static func problem(_ what: String, _ size: Int64, over limit: Int64) -> IndexProblem? {
        size <= limit ? nil : .limit("the names in \(what) need more than \(limit >> 20) MiB")
    }
}
