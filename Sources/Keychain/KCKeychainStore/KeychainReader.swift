package import KCByteStreams
internal import KCCryptography
internal import KCKeychainKeys
package import KCKeychainModel

/// Reads the items of a keychain from one snapshot of the file; valid only during the call it is passed to.
package class KeychainReader: ExistingItems {
    let keychain: Keychain
    let tables: ItemTables
    var sealer: ItemSealer
    private var opened = SecretBytes(capacity: 4096)

    init(_ keychain: Keychain, _ database: Database) throws(KeychainStoreError) {
        self.keychain = keychain
        tables = ItemTables(database)
        sealer = try sealing(ItemSealer())
    }

    /// The items that match a query, in its order; attributes only, seals are not checked.
    ///
    /// - Parameter isIncluded: a further condition; rows that are not valid items are counted without it.
    /// - Throws: `item` (`wrongKind`), `limit`, `damaged`, `sqlite`.
    package func find(
        _ query: ItemQuery, where isIncluded: (Item) -> Bool = { _ in true }
    ) throws(KeychainStoreError) -> ItemMatches {
        var matches = ItemMatches()
        var search = try ItemSearch(query, in: tables)
        while matches.items.count < query.limit ?? .max, let match = try search.next() {
            guard let item = match.item else {
                matches.damaged += 1
                continue
            }
            if isIncluded(item) { matches.items.append(item) }
        }
        return matches
    }

    /// Visits the items that match a query, in its order, until `body` returns false or the limit is reached.
    ///
    /// Rows that are not valid items are skipped; seals are not checked.
    ///
    /// - Throws: the errors of `body`, and as `find`.
    package func visit(_ query: ItemQuery, _ body: (Item) throws -> Bool) throws {
        var count = 0
        var search = try ItemSearch(query, in: tables)
        while count != query.limit, let match = try search.next() {
            guard let item = match.item else { continue }
            count += 1
            guard try body(item) else { return }
        }
    }

    /// True if the seal of a live item is intact; its secret is opened and then wiped.
    package func isWhole(_ item: Item) throws(KeychainStoreError) -> Bool {
        let found = try row(of: item)
        guard let stored = found.item else { return false }
        defer { opened.removeAll() }
        return try opens(stored, found.blob, into: &opened)
    }

    /// The row of an item that was found earlier.
    ///
    /// - Throws: `itemNotFound`, `damaged` if only its index lacks it, `sqlite`.
    func row(of item: Item) throws(KeychainStoreError) -> ItemTables.Found {
        if let found = try tables.row(item.itemClass, item.uuid), !found.isTombstone { return found }
        var search = try ItemSearch(ItemQuery(item), in: tables)
        while try search.next() != nil {}
        throw .itemNotFound
    }

    /// The secret of an item, by its UUID; nil if it has none.
    ///
    /// - Throws: `itemNotFound`, `itemDamaged` (also if another program changed attributes), `locked`, `damaged`.
    package func secret(of item: Item) throws(KeychainStoreError) -> SecretBytes? {
        let found = try row(of: item)
        guard let stored = found.item else { throw .itemDamaged(item.uuid) }
        var secret = SecretBytes(capacity: 0)
        try open(stored, found.blob, into: &secret)
        if stored.secretSize == nil { return nil }
        return secret
    }

    /// Compares all rows with all indexes.
    ///
    /// - Throws: `damaged` if they differ, `sqlite`.
    package func requireSound() throws { try tables.requireSound() }

    /// See `ExistingItems`.
    package var isEmpty: Bool {
        get throws {
            for itemClass in ItemClass.allCases where try tables.hasLiveRows(itemClass) { return false }
            return true
        }
    }

    /// Opens the sealed secret of `item`, which becomes the sealer's current item; false if the seal is broken.
    func opens(_ item: Item, _ blob: [UInt8], into secret: inout SecretBytes) throws(KeychainStoreError) -> Bool {
        let key = try keychain.openingKey(item.protection)
        sealer.begin(item)
        return try sealing(sealer.open(blob.span, under: key, into: &secret))
    }

    /// True if the seal of an item that was found is known to be broken; a locked one counts as intact.
    func isBroken(_ item: Item, _ match: ItemSearch.Match) throws(KeychainStoreError) -> Bool {
        if !keychain.canOpen(item.protection) { return false }
        let key = try keychain.openingKey(item.protection)
        defer { opened.removeAll() }
        sealer.begin(item)
        return try match.row.withData(match.statement) { bytes throws(KeychainStoreError) in
            try sealing(!sealer.open(bytes, under: key, into: &opened))
        }
    }

    /// Opens the sealed secret of `item`.
    func open(_ item: Item, _ blob: [UInt8], into secret: inout SecretBytes) throws(KeychainStoreError) {
        guard try opens(item, blob, into: &secret) else { throw .itemDamaged(item.uuid) }
    }

    /// True if a row is not a valid item or its seal is known to be broken; a locked one counts as intact.
    func isDamaged(_ found: ItemTables.Found) throws(KeychainStoreError) -> Bool {
        guard let item = found.item else { return true }
        if !keychain.canOpen(item.protection) { return false }
        return try !opens(item, found.blob, into: &opened)
    }

    // MARK: ExistingItems

    /// The live item with the unique key of `item`, or nil.
    package func item(withKeyOf item: Item) throws -> Item? {
        guard let found = try tables.row(inOrderWithKeyOf: item), !found.isTombstone else { return nil }
        return found.item
    }

    /// The live item with this UUID, or nil.
    package func item(withUUID uuid: ItemUUID) throws -> Item? {
        guard let found = try tables.row(uuid), !found.isTombstone else { return nil }
        return found.item
    }

    /// See `ExistingItems`.
    package func series(of item: Item) throws -> [Item] { try tables.series(of: item) }

    /// See `ExistingItems`.
    package func hasOthersInSeries(of item: Item) throws -> Bool { try tables.hasOthersInSeries(of: item) }

    /// See `ExistingItems`.
    package var hasDerivedUUIDs: Bool { get throws { try tables.hasDerivedUUIDs } }

    /// See `ExistingItems`.
    package func code<Code>(
        ofSecretOf existing: Item, _ code: (borrowing SecretBytes) throws -> Code
    ) throws -> Code? {
        let found = try row(of: existing)
        defer { opened.removeAll() }
        guard let stored = found.item, try opens(stored, found.blob, into: &opened) else { return nil }
        return try code(opened)
    }

    /// A keychain without a passcode has no key for WhenPasscodeSetThisDeviceOnly items, nor anything that items with a
    /// constraint could ask for.
    package func obstacle(to item: Item) -> ItemObstacle? {
        let needsPasscode = item.accessibility == .whenPasscodeSetThisDeviceOnly || item.constraint != nil
        return needsPasscode && !keychain.hasPasscode ? .noPasscode : nil
    }

    /// See `ExistingItems`.
    package func canCompare(_ existing: Item) -> Bool {
        existing.protection.constraint == nil || keychain.canOpen(existing.protection)
    }

    /// Compares secrets, in constant time if they are plain; a secret that does not open equals nothing.
    ///
    /// Stored secrets are equal also if they differ only in their seals, as far as a key is available.
    package func secret(
        of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm
    ) throws -> Bool {
        if form == .plain, !canCompare(existing) { return false }
        guard form == .stored else { return try isSecret(of: existing, secret) }
        guard let found = try tables.row(existing.itemClass, existing.uuid), let stored = found.item else {
            return false
        }
        let blob = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        // Ciphertext: timing reveals nothing of value.
        if blob == found.blob { return true }
        if !keychain.canOpen(stored.protection) { return false }
        var opened = SecretBytes(capacity: 0)
        guard try opens(stored, blob, into: &opened) else { return false }
        return try isSecret(of: existing, opened)
    }

    /// True if the stored secret of an item opens and equals `secret`; both count as absent if `secretSize` is nil.
    func isSecret(
        of existing: Item, _ secret: borrowing SecretBytes
    ) throws(KeychainStoreError) -> Bool {
        guard let found = try tables.row(existing.itemClass, existing.uuid), let stored = found.item,
            try opens(stored, found.blob, into: &opened)
        else { return false }
        return stored.secretSize == nil || constantTimeEqual(opened, secret)
    }

    /// See `ExistingItems`.
    package func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws -> Int {
        var damaged = 0
        for itemClass in ItemClass.allCases {
            let rows = try local.statement("SELECT count(*) FROM \(itemClass.rawValue)", on: tables.database)
            guard try rows.step() else { throw KeychainStoreError.damaged("the database answers nothing") }
            damaged += Int(rows.integer(0))
        }
        var search = try ItemSearch(ItemQuery(), in: tables)
        while let match = try search.next() {
            guard let item = match.item, local.includes(item) else { continue }
            damaged -= 1
            try body(item)
        }
        return max(0, damaged)
    }
}

extension Keychain {
    /// The items that match a query, in archive order.
    ///
    /// - Parameter isIncluded: a further condition; rows that are not valid items are counted without it.
    /// - Throws: `item` (`wrongKind`), `limit`, `busy`, `damaged`, `sqlite`.
    package func find(
        _ query: ItemQuery, where isIncluded: (Item) -> Bool = { _ in true }
    ) throws(KeychainStoreError) -> ItemMatches {
        try withReadTransaction { database throws(KeychainStoreError) in
            try KeychainReader(self, database).find(query, where: isIncluded)
        }
    }

    /// Runs `body` in a read transaction; its errors are rethrown unchanged.
    ///
    /// - Throws: the errors of `body`, `busy`, `damaged`, `sqlite`.
    package func read<Result>(_ body: (KeychainReader) throws -> Result) throws -> Result {
        let transaction = try beginReadTransaction()
        let result = try body(KeychainReader(self, transaction.database))
        try transaction.commit()
        return result
    }

    /// True if the keys of this protection are available, so that such items can be read.
    package func canOpen(_ protection: Protection) -> Bool { classKeys.openingKey(protection) != nil }

    /// True if there are keys for writing such items.
    package func canSeal(_ protection: Protection) -> Bool { classKeys.sealingKey(protection) != nil }

    /// The secret of an item; nil if it has none.
    ///
    /// - Throws: `itemNotFound`, `itemDamaged` (also if another program changed attributes), `locked`, `busy`.
    package func secret(of item: Item) throws(KeychainStoreError) -> SecretBytes? {
        var secret: SecretBytes?
        try withReadTransaction { database throws(KeychainStoreError) in
            secret = try KeychainReader(self, database).secret(of: item)
        }
        return secret
    }
}
