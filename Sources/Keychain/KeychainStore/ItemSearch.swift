internal import KeychainModel

/// The rows that a query means, in archive order, one after the other; none is missed unnoticed.
///
/// SQLite believes an index: where one bit of it is wrong, a row is not found, or another one is. So what the index finds
/// is compared with the query, and at the end the table is counted without an index. Only an item that was found by its
/// UUID or its whole unique key needs no counting, since there is but one.
struct ItemSearch: ~Copyable {
    /// A row that matches.
    struct Match {
        let row: ItemRow
        let statement: SQLStatement
        /// Nil when the row makes no valid item, or is not the one that its index says.
        let item: Item?
    }

    private let query: ItemQuery
    private let tables: ItemTables
    private var classes: ArraySlice<ItemClass>
    private var current: (row: ItemRow, statement: SQLStatement)?
    /// Rows of the current class that are what the query means.
    private var fitting = 0

    /// Begins a search.
    ///
    /// - Throws: `item` (`wrongKind`), `limit`, or what SQLite throws.
    init(_ query: ItemQuery, in tables: ItemTables) throws(KeychainStoreError) {
        try query.check()
        self.query = query
        self.tables = tables
        classes = query.classes[...]
    }

    /// Goes to the next row; nil at the end.
    ///
    /// - Throws: `damaged` when an index does not fit its table, or what SQLite throws.
    mutating func next() throws(KeychainStoreError) -> Match? {
        while true {
            if let (row, statement) = current {
                if try statement.step() {
                    let item = row.item(statement)
                    let isOther = item.map { !query.means($0) } ?? false
                    if !isOther { fitting += 1 }
                    return Match(row: row, statement: statement, item: isOther ? nil : item)
                }
                if !(fitting == 1 && query.namesOneItem(of: row.itemClass)) { try compareWithTable(row) }
            }
            guard let itemClass = classes.popFirst() else { return nil }
            let row = ItemRow.of(itemClass)
            current = (row, try query.statement(row, on: tables.database))
            fitting = 0
        }
    }

    private func compareWithTable(_ row: ItemRow) throws(KeychainStoreError) {
        let count = try query.count(row, on: tables.database)
        guard try count.step() else { throw .damaged("the database answers nothing") }
        guard count.integer(0) == Int64(fitting) else { throw .indexMismatch }
    }
}

extension KeychainStoreError {
    /// A table and one of its indexes say different things.
    static let indexMismatch = KeychainStoreError.damaged("an index does not fit its table")
}

extension ItemQuery {
    /// True for an item that meets all conditions but the one on tombstones.
    func means(_ item: Item) -> Bool {
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

    /// True when no two items of a class can match.
    func namesOneItem(of itemClass: ItemClass) -> Bool {
        uuid != nil
            || itemClass.uniqueKey.allSatisfy { code in
                attributes[code] != nil || code == .sync && synchronizable != .any
                    || code == .agrp && accessGroups?.count == 1
            }
    }
}
