internal import KCKeychainModel

/// The rows of one class in the order of their unique keys, for lookups in this order, as those of a restore are.
///
/// Stepping to the next row is cheaper than searching the index for it.
final class KeyWalk {
    /// The class.
    let itemClass: ItemClass
    /// The number of changes before the first row; after another one, the rows may be others.
    let changes: Int64
    private let layout: ItemRow
    private let rows: SQLStatement
    private var builder = AttributesBuilder()
    /// The row that was read last, until a lookup has returned or passed it.
    private var next: ItemTables.Found?
    private var isOver = false

    /// How many more steps may miss than hit before the walk is given up.
    static let mostCredit = 64
    /// The cost of a new walk.
    static let startCost = 8

    init(_ itemClass: ItemClass, on database: Database) throws(KeychainStoreError) {
        self.itemClass = itemClass
        changes = database.changeCount
        layout = ItemRow.of(itemClass)
        rows = try SQLStatement(layout.selection + layout.clause(for: .archive), on: database)
    }

    /// The row (tombstone or live) with the unique key of `item`, if it is among the next ones.
    ///
    /// - Returns: nil if it is not, or if a row that is no valid item comes first, which may have any key.
    func row(withKeyOf item: Item, credit: inout Int) throws(KeychainStoreError) -> ItemTables.Found? {
        while credit > 0 {
            if next == nil { next = try step() }
            guard let found = next else { return nil }
            guard let other = found.item else {
                next = nil
                return nil
            }
            if other.hasKey(of: item) {
                next = nil
                credit = min(credit + 1, Self.mostCredit)
                return found
            }
            credit -= 1
            if item.precedes(other) { return nil }
            next = nil
        }
        return nil
    }

    private func step() throws(KeychainStoreError) -> ItemTables.Found? {
        // A statement that is over would begin again.
        if isOver { return nil }
        if try rows.step() { return ItemTables.Found(rows, layout, &builder) }
        isOver = true
        rows.reset()
        return nil
    }
}
