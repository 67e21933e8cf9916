package import KCKeychainModel

/// Iterates over the rows that match a query, in its order, and detects wrong and missing rows.
///
/// SQLite trusts an index: a flipped bit in it hides a row, finds a wrong one, or one twice. So every row found through
/// the index is compared with the query, `RowOrder` finds those that were there before, and at the end the table is
/// counted without an index. The count is unnecessary for an item found by its UUID or complete unique key, since there
/// is only one.
struct ItemSearch: ~Copyable {
    /// A row that matches.
    struct Match {
        let row: ItemRow
        let statement: SQLStatement
        /// Nil if the row is not a valid item.
        let item: Item?
    }

    private let query: ItemQuery
    private let tables: ItemTables
    private var classes: ArraySlice<ItemClass>
    private var current: (row: ItemRow, statement: SQLStatement)?
    /// The number of matching rows in the current class.
    private var fitting = 0
    /// True if the last row of the current class is a valid item.
    private var isValid = false
    private var order = RowOrder()
    private var builder = AttributesBuilder()

    private let isNumbered: Bool

    /// Begins a search.
    ///
    /// - Parameter isNumbered: true if the rowids of the rows are needed.
    /// - Throws: `item` (`wrongKind`), `limit`, or an error of SQLite.
    init(_ query: ItemQuery, in tables: ItemTables, isNumbered: Bool = false) throws(KeychainStoreError) {
        try query.check()
        self.isNumbered = isNumbered
        self.query = query
        self.tables = tables
        classes = query.classes[...]
    }

    /// Moves to the next row; nil at the end.
    ///
    /// - Throws: `damaged` if an index does not match its table, or an error of SQLite.
    mutating func next() throws(KeychainStoreError) -> Match? {
        while true {
            if let (row, statement) = current {
                if try statement.step() {
                    try order.pass(row, statement, by: query.order)
                    let item = row.item(statement, &builder)
                    if let item, !query.means(item) { throw .indexMismatch }
                    isValid = item != nil
                    fitting += 1
                    return Match(row: row, statement: statement, item: item)
                }
                if !(fitting == 1 && isValid && query.namesOneItem(of: row.itemClass)) { try compareWithTable(row) }
            }
            guard let itemClass = classes.popFirst() else { return nil }
            let row = ItemRow.of(itemClass)
            current = (row, try query.statement(row, isNumbered: isNumbered, on: tables.database))
            fitting = 0
            order = RowOrder()
        }
    }

    private func compareWithTable(_ row: ItemRow) throws(KeychainStoreError) {
        let count = try query.count(row, on: tables.database)
        guard try count.step() else { throw .damaged("the database answers nothing") }
        guard count.integer(0) == Int64(fitting) else { throw .indexMismatch }
    }
}

extension KeychainStoreError {
    /// The error for a table that disagrees with one of its indexes.
    static let indexMismatch = KeychainStoreError.damaged("an index does not fit its table")
}

extension ItemQuery {
    /// True if the item matches all conditions except the one on tombstones.
    package func means(_ item: Item) -> Bool {
        if let itemClass, itemClass != item.itemClass { return false }
        if let uuid, uuid != item.uuid { return false }
        let key = item.itemClass.uniqueKey
        for (code, wanted) in attributes {
            guard let found = item.attributes[code] ?? (key.contains(code) ? Item.keyDefault(code) : nil),
                found == wanted || found.keyBytes != nil && found.keyBytes == wanted.keyBytes
            else { return false }
        }
        switch synchronizable {
        case .any: break
        case .no: if item.isSynchronizable { return false }
        case .yes: if !item.isSynchronizable { return false }
        }
        guard let accessGroups else { return true }
        let group = (item.attributes[.agrp] ?? Item.keyDefault(.agrp)).keyBytes
        return accessGroups.contains { Array($0.utf8) == group }
    }

    /// True if at most one item of a class can match.
    func namesOneItem(of itemClass: ItemClass) -> Bool {
        uuid != nil
            || itemClass.uniqueKey.allSatisfy { code in
                attributes[code] != nil || code == .sync && synchronizable != .any
                    || code == .agrp && accessGroups?.count == 1
            }
    }
}
