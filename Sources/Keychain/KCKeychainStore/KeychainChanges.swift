package import KCByteStreams
package import KCKeychainModel

extension KeychainWriter {
    /// Changes every item that matches a query; a failure aborts the transaction.
    ///
    /// Creation dates are kept; modification dates become `now`, or a millisecond more than before if that is later. A
    /// new access group or accessibility reseals the secret. A synchronizable item whose unique key changes leaves a
    /// tombstone of the old key.
    ///
    /// - Parameters:
    ///   - changes: the new values; nil removes the attribute.
    ///   - secret: the new secret; nil keeps the old one.
    /// - Returns: the changed items.
    /// - Throws: `itemNotFound`, `duplicateItem`, `itemDamaged` if a matching row is not a valid item or its seal is
    ///   broken, `unchangeable`, `item`, `locked`, `passcodeNotSet`, or a failure of the file.
    @discardableResult
    package func update(
        matching query: ItemQuery, set changes: [AttributeCode: AttributeValue?], secret: borrowing SecretBytes? = nil,
        now: Timestamp
    ) throws(KeychainStoreError) -> [Item] {
        try runAllOrAbort { () throws(KeychainStoreError) in
            let matches = try find(query)
            guard matches.damaged == 0 else { throw .damaged("a row that matches makes no item") }
            if matches.items.isEmpty { throw .itemNotFound }
            var updated: [Item] = []
            for item in matches.items { updated.append(try update(item, changes, secret, now)) }
            return updated
        }
    }

    private func update(
        _ item: Item, _ changes: [AttributeCode: AttributeValue?], _ newSecret: borrowing SecretBytes?,
        _ now: Timestamp
    ) throws(KeychainStoreError) -> Item {
        guard let found = try tables.row(item.itemClass, item.uuid) else { throw .itemNotFound }
        // The old seal is always opened, so that resealing does not legitimize what another program changed.
        var secret = SecretBytes(capacity: 0)
        try open(item, found.blob, into: &secret)
        let moment = item.moment(ofChangeAt: now)
        let size = newSecret.size ?? item.secretSize
        let updated = try item.updated(changes, secretSize: size, at: moment)
        let keyChanged = !updated.hasKey(of: item)
        if keyChanged, let other = try tables.row(withKeyOf: updated) {
            if !other.isTombstone, try !isDamaged(other) { throw .duplicateItem }
            try remove(item.itemClass, other.uuid)
        }
        switch newSecret {
        case .some: try seal(updated, newSecret)
        case .none: try seal(updated, bytes: secret)
        }
        try replaceSealed(updated)
        if keyChanged, item.isSynchronizable {
            try tables.insert(tombstone: item.tombstone(uuid: ItemUUID(), at: moment))
        }
        return updated
    }

    /// Deletes every item that matches a query; a failure aborts the transaction.
    ///
    /// A synchronizable item leaves a tombstone with its key, accessibility and dates, but no secret. Rows that are not
    /// valid items are deleted and counted too. No class key is needed.
    ///
    /// - Parameter leavingTombstones: overrides the default, which depends on `sync`.
    /// - Throws: `itemNotFound`, or a failure of the file.
    @discardableResult
    package func delete(
        matching query: ItemQuery, now: Timestamp, leavingTombstones: Bool? = nil
    ) throws(KeychainStoreError) -> ItemMatches {
        try runAllOrAbort { () throws(KeychainStoreError) in
            let (matches, damaged) = try rows(query)
            if matches.items.isEmpty, matches.damaged == 0 { throw .itemNotFound }
            for item in matches.items {
                if leavingTombstones ?? item.isSynchronizable {
                    try tables.replace(
                        tombstone: item.tombstone(uuid: item.uuid, at: item.moment(ofChangeAt: now)))
                } else {
                    try tables.remove(item.itemClass, item.uuid)
                }
            }
            for (itemClass, uuid) in damaged { try tables.remove(itemClass, uuid) }
            return matches
        }
    }

    /// The matching rows, including those that are not valid items.
    private func rows(
        _ query: ItemQuery
    ) throws(KeychainStoreError) -> (ItemMatches, [(ItemClass, ItemUUID)]) {
        var matches = ItemMatches()
        var damaged: [(ItemClass, ItemUUID)] = []
        var search = try ItemSearch(query, in: tables)
        while matches.items.count + damaged.count < query.limit ?? .max, let match = try search.next() {
            if let item = match.item {
                matches.items.append(item)
            } else if let uuid = match.row.uuid(match.statement) {
                damaged.append((match.row.itemClass, uuid))
                matches.damaged += 1
            } else {
                throw .damaged("a row has no UUID")
            }
        }
        return (matches, damaged)
    }
}

extension Keychain {
    /// Adds an item.
    ///
    /// - Throws: as `KeychainWriter.add`, and `busy`.
    @discardableResult
    package func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp,
        accessGroup: String = ItemDraft.defaultAccessGroup
    ) throws(KeychainStoreError) -> Item {
        try changeItems { writer throws(KeychainStoreError) in
            try writer.add(draft, secret: secret, now: now, accessGroup: accessGroup)
        }
    }

    /// Changes every item that matches a query, or none.
    ///
    /// - Throws: as `KeychainWriter.update`, and `busy`.
    @discardableResult
    package func update(
        matching query: ItemQuery, set changes: [AttributeCode: AttributeValue?], secret: borrowing SecretBytes? = nil,
        now: Timestamp
    ) throws(KeychainStoreError) -> [Item] {
        try changeItems { writer throws(KeychainStoreError) in
            try writer.update(matching: query, set: changes, secret: secret, now: now)
        }
    }

    /// Deletes every item that matches a query, or none.
    ///
    /// - Throws: as `KeychainWriter.delete`, and `busy`.
    @discardableResult
    package func delete(matching query: ItemQuery, now: Timestamp) throws(KeychainStoreError) -> ItemMatches {
        try changeItems { writer throws(KeychainStoreError) in try writer.delete(matching: query, now: now) }
    }

    private func changeItems<Result>(
        _ body: (KeychainWriter) throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try change { database throws(KeychainStoreError) in
            let writer = try KeychainWriter(self, database)
            let result = try body(writer)
            try writer.requireIntact()
            return result
        }
    }
}
