internal import ByteStreams
public import KeychainModel

extension Keychain: ItemSource {
    /// Visits every live item; see `ItemSource`.
    ///
    /// In their stored form too, secrets whose class key there is are opened, so that a broken seal is noticed.
    ///
    /// - Throws: `locked` or `passcodeNotSet` when a wanted plain secret takes a class key that is not at hand, `damaged`
    ///   when rows are missing from an index, `busy`, `sqlite`, and what the visitor throws, unchanged.
    public func visitItems<Visitor: ItemVisitor>(_ form: SecretForm, _ visitor: inout Visitor) throws {
        try lookRethrowing { database in
            let tables = ItemTables(database)
            for itemClass in ItemClass.allCases { try visit(itemClass, form, tables, &visitor) }
        }
    }

    private func visit<Visitor: ItemVisitor>(
        _ itemClass: ItemClass, _ form: SecretForm, _ tables: ItemTables, _ visitor: inout Visitor
    ) throws {
        let row = ItemRow.of(itemClass)
        let expected = try tables.checkedRowCount(itemClass)
        guard expected <= ItemLimits.itemCount else {
            throw KeychainStoreError.limit("items of a class", found: expected, allowed: ItemLimits.itemCount)
        }
        // Tombstones are stepped over here, and counted: an index that lost entries must not look like fewer items.
        let statement = try SQLStatement(row.selection + row.order, on: tables.database)
        var sealer = try ItemSealer()
        var secret = SecretBytes(capacity: 65_536)
        var count = 0
        var previous: Item?
        while try statement.step() {
            count += 1
            if row.isTombstone(statement) { continue }
            guard let item = row.item(statement) else {
                try visitor.skip(damaged: nil)
                continue
            }
            guard try visitor.wants(item) else { continue }
            let isWhole = try row.withData(statement) { blob in
                sealer.begin(item)
                switch form {
                case .plain: return try sealer.open(blob, under: key(item.accessibility), into: &secret)
                case .stored:
                    guard SealedFrame.fits(blob, item) else { return false }
                    if let key = classKeys[item.accessibility] {
                        guard try sealer.open(blob, under: key, into: &secret) else { return false }
                    }
                    secret.removeAll()
                    secret.append(blob)
                    return true
                }
            }
            if isWhole {
                // Visited twice is another one hidden.
                guard previous?.precedes(item) ?? true else { throw KeychainStoreError.indexMismatch }
                previous = item
                try sealer.withLine { line in try visitor.take(item, line: line, secret: secret) }
            } else {
                try visitor.skip(damaged: item)
            }
        }
        guard count == expected else { throw KeychainStoreError.indexMismatch }
    }
}

extension Keychain: ItemTarget {
    /// Runs `body` against one unchanging state; see `ItemTarget`.
    public func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result {
        try lookRethrowing { database in try body(KeychainReader(self, database)) }
    }

    /// Runs `body` in one transaction; see `ItemTarget`.
    public func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        try importItems { writer in try body(writer) }
    }

    /// Runs `body` in one transaction: many changes become durable when it returns, none when it throws.
    public func importItems<Result>(_ body: (KeychainWriter) throws -> Result) throws -> Result {
        try changeRethrowing { database in
            let writer = try KeychainWriter(self, database)
            let result = try body(writer)
            try writer.requireUnspent()
            return result
        }
    }
}
