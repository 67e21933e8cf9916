internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainKeys
package import KCKeychainModel

extension Keychain: StoredItemSource {
    /// Visits every live item; see `ItemSource`.
    ///
    /// - Throws: `locked` or `passcodeNotSet` if the class key of a requested secret is missing, `damaged` if rows are
    ///   missing from an index, `busy`, `sqlite`, and the errors of the visitor, unchanged.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        let transaction = try beginReadTransaction()
        try visit(.plain, transaction.database, &visitor)
        try transaction.commit()
    }

    /// Visits every live item; see `StoredItemSource`.
    ///
    /// Secrets are opened if there is a class key, so that a broken seal is detected.
    ///
    /// - Throws: as `visitItems`, except `locked` and `passcodeNotSet`.
    package func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor {
        let transaction = try beginReadTransaction()
        let bag = try sealing(self.keybag.archivable(deviceKey))
        let keybag = String(decoding: bag.text, as: UTF8.self)
        var visitor = try begin(StoredKeychain(storeID: storeID, keybag: keybag))
        try visit(.stored, transaction.database, &visitor)
        try transaction.commit()
        return visitor
    }

    private func visit<Visitor: ItemVisitor>(
        _ form: SecretForm, _ database: Database, _ visitor: inout Visitor
    ) throws {
        let tables = ItemTables(database)
        for itemClass in ItemClass.allCases { try visit(itemClass, form, tables, &visitor) }
    }

    private func visit<Visitor: ItemVisitor>(
        _ itemClass: ItemClass, _ form: SecretForm, _ tables: ItemTables, _ visitor: inout Visitor
    ) throws {
        let row = ItemRow.of(itemClass)
        let expected = try tables.checkedRowCount(itemClass)
        guard expected <= ItemLimits.itemCount else {
            throw KeychainStoreError.limit("items of a class", found: expected, allowed: ItemLimits.itemCount)
        }
        // Tombstones are skipped but counted: an index that has lost entries must not look like fewer items.
        let statement = try SQLStatement(row.selection + row.clause(for: .archive), on: tables.database)
        var sealer = try sealing(ItemSealer())
        var secret = SecretBytes(capacity: 65_536)
        var builder = AttributesBuilder()
        var order = RowOrder()
        var count = 0
        while try statement.step() {
            try order.pass(row, statement, by: .archive)
            count += 1
            if row.isTombstone(statement) { continue }
            guard let item = row.item(statement, &builder) else {
                try visitor.skip(damaged: nil)
                continue
            }
            guard try visitor.wants(item) else { continue }
            let isWhole = try row.withData(statement) { blob in
                sealer.begin(item)
                switch form {
                case .plain:
                    let key = try openingKey(item.protection)
                    return try sealing(sealer.open(blob, under: key, into: &secret))
                case .stored:
                    guard SealedFrame.fits(blob, item) else { return false }
                    if let key = classKeys.openingKey(item.protection) {
                        let isWhole = try sealing(sealer.open(blob, under: key, into: &secret))
                        if !isWhole { return false }
                    }
                    secret.removeAll()
                    secret.append(blob)
                    return true
                }
            }
            if isWhole {
                try sealer.withLine { line in try visitor.take(item, line: line, secret: secret) }
            } else {
                try visitor.skip(damaged: item)
            }
        }
        guard count == expected else { throw KeychainStoreError.indexMismatch }
    }
}

extension Keychain: ItemTarget {
    /// Runs `body` against one consistent state; see `ItemTarget`.
    package func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result {
        try read { reader in try body(reader) }
    }

    /// Runs `body` in one transaction; see `ItemTarget`.
    package func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        try write { writer in try body(writer) }
    }

    /// Has `step` called at the end of the present transaction of `write`, after its last change; if it throws, nothing
    /// is changed.
    package func beforeCommit(_ step: @escaping (KeychainReader) throws -> Void) { lastStep = step }

    /// Runs `body` in one transaction: its changes become durable when it returns, none if it throws.
    ///
    /// - Throws: the errors of `body` and of what it has passed to `beforeCommit`, `busy`, `damaged`, `file`, `sqlite`.
    package func write<Result>(_ body: (KeychainWriter) throws -> Result) throws -> Result {
        let transaction = try beginWriteTransaction()
        lastStep = nil
        defer { lastStep = nil }
        let writer = try KeychainWriter(self, transaction.database)
        let result = try body(writer)
        try writer.requireIntact()
        try lastStep?(writer)
        try transaction.commit()
        return result
    }
}
