package import KCKeychainModel

extension Keychain {
    /// The protections of the items with a constraint, and how many items have each.
    package func constrainedProtections() throws(KeychainStoreError) -> [Protection: Int] {
        try withReadTransaction { database throws(KeychainStoreError) in try Self.constrainedProtections(database) }
    }

    static func constrainedProtections(_ database: Database) throws(KeychainStoreError) -> [Protection: Int] {
        var counts: [Protection: Int] = [:]
        for itemClass in ItemClass.allCases where AttributeCode.accc.belongs(to: itemClass) {
            let constraint = Schema.quoted(.accc)
            let statement = try SQLStatement(
                "SELECT \(Schema.quoted(.pdmn)), \(constraint), count(*) FROM \(itemClass.rawValue) "
                    + "WHERE \(constraint) IS NOT NULL AND \(ItemRow.isLive) GROUP BY 1, 2", on: database)
            while try statement.step() {
                // Other values make no valid item, which is reported where items are read.
                guard let accessibility = Accessibility(rawValue: text(statement, 0)),
                    let constraint = AccessConstraint(rawValue: text(statement, 1))
                else { continue }
                counts[Protection(accessibility, constraint), default: 0] += Int(statement.integer(2))
            }
        }
        return counts
    }

    private static func text(_ row: SQLStatement, _ column: Int) -> String {
        row.withBytes(column) { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}
