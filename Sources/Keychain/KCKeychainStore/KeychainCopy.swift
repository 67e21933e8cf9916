package import KCByteStreams
internal import KCKeychainKeys
internal import KCKeychainModel

extension Keychain {
    /// Copies the file, exactly as it is on disk, to the end of `output`; no key is needed.
    ///
    /// Within `write`, before the first change, this is the state that the transaction began with.
    ///
    /// - Throws: `sqlite`; `StreamFailure` for `output`.
    package func copyFile(to output: OpenFile) throws {
        try connection.database.copyFile(to: output)
    }

    /// True if items of `copy`, a copy of this file, can be restored unchanged: the passcode has not been set since.
    package func hasKeys(of copy: Keychain) -> Bool {
        storeID == copy.storeID && keybag.hasKeys(of: copy.keybag)
    }

    /// The number of live items.
    package func itemCount() throws(KeychainStoreError) -> Int {
        try withReadTransaction { database throws(KeychainStoreError) in
            let tables = ItemTables(database)
            var count: Int64 = 0
            for itemClass in ItemClass.allCases {
                count += try tables.number("SELECT count(*) FROM \(itemClass.rawValue) WHERE \(ItemRow.isLive)")
            }
            return Int(count)
        }
    }
}

extension KeychainWriter {
    /// Replaces all items with those of `copy`, an earlier state of the same file, including tombstones and damaged
    /// rows.
    ///
    /// - Throws: `damaged` if the copy has other keys or another schema, or a failure of either file.
    package func replaceAll(with copy: Keychain) throws {
        try runAllOrAbort { () throws(KeychainStoreError) in
            guard keychain.hasKeys(of: copy) else { throw .damaged("the copy has other keys") }
            let transaction = try copy.beginReadTransaction()
            for row in ItemRow.all { try replaceTable(row, from: transaction.database) }
            try transaction.commit()
        }
    }

    /// Replaces the rows that differ, so that little is written where little has changed.
    private func replaceTable(_ row: ItemRow, from other: Database) throws(KeychainStoreError) {
        let (database, table) = (tables.database, row.itemClass.rawValue)
        _ = try ItemTables(other).checkedRowCount(row.itemClass)
        var pairs = try RowPairs(row, row.wholeSelection, now: database, before: other)
        // Collected, since no statement may iterate over a table that is being changed.
        var (leaving, coming): ([Int64], [Int64]) = ([], [])
        while let pair = try pairs.next() {
            if pair == .added || pair == .changed { leaving.append(row.number(pairs.now)) }
            if pair == .gone || pair == .changed { coming.append(row.number(pairs.before)) }
        }
        let removal = try SQLStatement("DELETE FROM \(table) WHERE id=?", on: database)
        for number in leaving {
            try removal.bind(number, 1)
            try removal.run()
        }
        let rows = try SQLStatement("SELECT * FROM \(table) WHERE id=?", on: other)
        let count = rows.columnCount
        let marks = Array(repeating: "?", count: count).joined(separator: ",")
        let insertion = try SQLStatement("INSERT INTO \(table) VALUES (\(marks))", on: database)
        for number in coming {
            try rows.bind(number, 1)
            guard try rows.step() else { throw .damaged("a row of the copy is not found by its number") }
            try copyRow(rows, count, to: insertion)
            rows.reset()
        }
    }

    private func copyRow(
        _ row: SQLStatement, _ count: Int, to insertion: SQLStatement
    ) throws(KeychainStoreError) {
        for column in 0..<count {
            switch row.type(column) {
            case .integer: try insertion.bind(row.integer(column), column + 1)
            case .null: try insertion.bindNull(column + 1)
            case .blob:
                try row.withBytes(column) { bytes throws(KeychainStoreError) in
                    try insertion.bind(bytes, column + 1)
                }
            case .text:
                try row.withBytes(column) { bytes throws(KeychainStoreError) in
                    try insertion.bindText(bytes, column + 1)
                }
            case .real: throw .damaged("a column has a type that no item has")
            }
        }
        try insertion.run()
    }
}
