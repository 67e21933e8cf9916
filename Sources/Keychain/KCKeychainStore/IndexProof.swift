internal import KCKeychainModel

extension ItemTables {
    /// Compares all rows with all indexes, so that in this transaction each lookup finds the row that it asks for, and
    /// finds none only if there is none.
    ///
    /// - Throws: `damaged` if they differ, `sqlite`.
    func requireSound() throws(KeychainStoreError) {
        for itemClass in ItemClass.allCases {
            for index in IndexOfRows.all(of: itemClass) {
                let (own, listed) = (try entries(of: index, inIndex: false), try entries(of: index, inIndex: true))
                guard own == listed else { throw .indexMismatch }
            }
        }
    }

    /// The entries of an index, in its order, or those that it should have according to the rows of the table.
    private func entries(of index: IndexOfRows, inIndex: Bool) throws(KeychainStoreError) -> EntrySum {
        let statement = try SQLStatement(index.selection(inIndex: inIndex), on: database)
        var sum = EntrySum()
        var entry: [UInt8] = []
        var order = RowOrder()
        while try statement.step() {
            entry.removeAll(keepingCapacity: true)
            for column in index.terms.indices { entry.appendSortable(statement, column) }
            let keySize = entry.count
            entry.appendSortable(statement.integer(index.terms.count))
            // A search of an index relies on its order.
            if inIndex { try order.pass { $0 += index.isUnique ? entry[..<keySize] : entry[...] } }
            sum.add(entry)
        }
        return sum
    }
}

/// The number of entries and the sum of their hashes, which is the same in any order; wrong bits do not aim at it.
private struct EntrySum: Equatable {
    private var count = 0
    private var hashes = 0

    mutating func add(_ entry: [UInt8]) {
        count += 1
        hashes &+= entry.hashValue
    }
}

/// An index of an item table.
private struct IndexOfRows {
    let table: String
    let name: String
    let terms: [String]
    let isUnique: Bool

    static func all(of itemClass: ItemClass) -> [IndexOfRows] {
        let name = itemClass.rawValue
        let constrained =
            AttributeCode.accc.belongs(to: itemClass)
            ? [IndexOfRows(table: name, name: name + "_accc", terms: [Schema.quoted(.accc)], isUnique: false)] : []
        return [
            IndexOfRows(table: name, name: name + "_uuid", terms: ["uuid"], isUnique: true),
            IndexOfRows(table: name, name: name + "_key", terms: Schema.keyTerms(of: itemClass), isUnique: true),
        ] + constrained
    }

    func selection(inIndex: Bool) -> String {
        let terms = terms.joined(separator: ",")
        return "SELECT \(terms),id FROM \(table) \(inIndex ? "INDEXED BY \(name)" : "NOT INDEXED")"
            + (isUnique ? "" : " WHERE \(terms) IS NOT NULL") + (inIndex ? " ORDER BY \(terms),id" : "")
    }
}
