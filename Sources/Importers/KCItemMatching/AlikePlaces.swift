package import KCKeychainModel

/// Finds the items of a keychain that records are, whose source tells them apart by their position alone.
///
/// A record that is an item is written over it, under the identity that the keychain has for it. Any other one gets an
/// identity that no item of the keychain has.
package struct AlikePlaces {
    /// The item of a keychain that a record is.
    package enum Place: Hashable, Sendable {
        /// The one with its UUID or unique key, if there is one.
        case own
        /// This one.
        case item(Item)
        /// None: the record becomes an item with this UUID.
        case new(ItemUUID)
    }

    private struct Record {
        let uuid: ItemUUID
        let alike: AlikeItem
        /// The item of the keychain that has its unique key, in an import.
        let holder: Item?
    }

    private struct Series {
        /// The only record so far, if the keychain has no item but the one with its UUID.
        var alone: (record: Item, secret: ItemCode?)?
        /// The items of the keychain, by ordinal.
        var items: [Item] = []
        var records: [Record] = []
    }

    /// Makes the codes by which secrets are compared.
    package let codes: ItemCodes
    private let existing: any ExistingItems
    /// The UUIDs of all records of an import; nil for an archive.
    private let imported: ImportedUUIDs?
    private var series: [ItemUUID: Series] = [:]
    private var places: [ItemUUID: Place] = [:]
    private var unclear: Set<ItemUUID> = []
    private var claimed: Set<ItemUUID> = []

    /// Starts with no records.
    ///
    /// - Parameter imported: the UUIDs of all records of an import, which may be the first one: an item with the unique
    ///   key of one of its records, which is no other record, counts as one of the series.
    /// - Throws: `CryptographyFailure`.
    package init(in existing: any ExistingItems, imported: ImportedUUIDs? = nil) throws {
        self.existing = existing
        self.imported = imported
        codes = try ItemCodes()
    }

    /// The items that records are, of which none is used yet.
    package var unused: UsedItems { UsedItems(imported ?? ImportedUUIDs([])) }

    /// Adds a record with a derived UUID.
    ///
    /// - Parameter secret: the code of its secret; nil if it is unknown.
    /// - Throws: what the keychain throws, `CryptographyFailure`.
    package mutating func add(_ record: Item, secret: ItemCode?) throws {
        let name = record.uuid.with(ordinal: 0)
        var one: Series
        if let known = series.removeValue(forKey: name) {
            one = known
            if let (first, secret) = one.alone {
                one = Series(items: try existing.series(of: first), records: [try described(first, secret)])
            }
        } else {
            one = Series(items: try existing.series(of: record))
            if one.items.count == 1, one.items[0].uuid == record.uuid {
                series[name] = Series(alone: (record, secret))
                return
            }
        }
        if imported != nil || !one.items.isEmpty { one.records.append(try described(record, secret)) }
        series[name] = one
    }

    private func described(_ record: Item, _ secret: ItemCode?) throws -> Record {
        let alike = AlikeItem(record, secret: secret, whole: try codes.item(record))
        return Record(uuid: record.uuid, alike: alike, holder: try holder(of: record))
    }

    private func holder(of record: Item) throws -> Item? {
        guard let imported, let holder = try existing.item(withKeyOf: record), !imported.contains(holder.uuid) else {
            return nil
        }
        return holder
    }

    /// Matches the records that were added.
    ///
    /// - Throws: what the keychain throws, `CryptographyFailure`.
    package mutating func finish() throws {
        for one in series.values {
            guard one.alone == nil, one.records.count > 1 || !one.items.isEmpty else { continue }
            try match(one.records.sorted { $0.uuid.ordinal < $1.uuid.ordinal }, with: one.items)
        }
        series = [:]
    }

    private mutating func match(_ records: [Record], with items: [Item]) throws {
        var all = items
        var alike = try items.map { try self.alike($0) }
        for record in records {
            guard let holder = record.holder, !all.contains(where: { $0.uuid == holder.uuid }) else { continue }
            var one = try self.alike(holder)
            one.position = record.alike.position
            // The items of the series have these positions.
            if items.contains(where: { Int($0.uuid.ordinal) == one.position }) { one.position += 1 << 32 }
            all.append(holder)
            alike.append(one)
        }
        if all.isEmpty { return }
        let pairs = AlikeItems.pairs(of: records.map(\.alike), with: alike)
        let hasOthers = Set(pairs.compactMap { $0 }).count < all.count
        var taken = Set(items.map(\.uuid.ordinal))
        var next = taken.union(records.map(\.uuid.ordinal)).max() ?? 0
        for (record, pair) in zip(records, pairs) {
            if let pair, let place = place(of: record, as: all[pair], isOutside: pair >= items.count, alike[pair]) {
                places[record.uuid] = place
                continue
            }
            if hasOthers { unclear.insert(record.uuid) }
            if record.holder == nil, taken.insert(record.uuid.ordinal).inserted { continue }
            repeat { next &+= 1 } while !taken.insert(next).inserted
            places[record.uuid] = .new(record.uuid.with(ordinal: next))
        }
    }

    /// The place of a record that was matched; nil if it is new.
    private mutating func place(
        of record: Record, as item: Item, isOutside: Bool, _ alike: AlikeItem
    ) -> Place? {
        // An item that another program or the user made is a record only by its secret or its key.
        if isOutside, alike.secret == nil || alike.secret != record.alike.secret {
            return item.uuid == record.holder?.uuid ? .own : nil
        }
        claimed.insert(item.uuid)
        return .item(item)
    }

    private func alike(_ item: Item) throws -> AlikeItem {
        let secret = try existing.code(ofSecretOf: item) { secret in try codes.secret(secret) }
        return AlikeItem(item, secret: secret, whole: try codes.item(item))
    }

    /// The item that a record is; `own` for one that was not added.
    package func place(of uuid: ItemUUID) -> Place { places[uuid] ?? .own }

    /// The UUID of the item that a record is or becomes.
    package func uuid(of uuid: ItemUUID) -> ItemUUID {
        switch place(of: uuid) {
        case .own: uuid
        case .item(let item): item.uuid
        case .new(let uuid): uuid
        }
    }

    /// True for a record that becomes a new item although it might be one of the keychain.
    package func isUnclear(_ uuid: ItemUUID) -> Bool { unclear.contains(uuid) }

    /// True for an item of the keychain that belongs to a record.
    package func isTaken(_ uuid: ItemUUID) -> Bool { imported?.contains(uuid) == true || claimed.contains(uuid) }
}
