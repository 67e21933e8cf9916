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
            try ItemTables(transaction.database).requireSound()
            for itemClass in ItemClass.allCases {
                try replaceTable(itemClass.rawValue, from: transaction.database)
            }
            try transaction.commit()
        }
    }

    private func replaceTable(_ table: String, from other: Database) throws(KeychainStoreError) {
        let database = tables.database
        try SQLStatement("DELETE FROM \(table)", on: database).run()
        let rows = try SQLStatement("SELECT * FROM \(table)", on: other)
        let count = rows.columnCount
        let marks = Array(repeating: "?", count: count).joined(separator: ",")
        let insertion = try SQLStatement("INSERT INTO \(table) VALUES (\(marks))", on: database)
        while try rows.step() {
            for column in 0..<count {
                switch rows.type(column) {
                case .integer: try insertion.bind(rows.integer(column), column + 1)
                case .null: try insertion.bindNull(column + 1)
                case .blob:
                    try rows.withBytes(column) { bytes throws(KeychainStoreError) in
                        try insertion.bind(bytes, column + 1)
                    }
                case .text:
                    try rows.withBytes(column) { bytes throws(KeychainStoreError) in
                        try insertion.bindText(bytes, column + 1)
                    }
                case .real: throw .damaged("a column has a type that no item has")
                }
            }
            try insertion.run()
            insertion.reset()
        }
    }
}
