internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
internal import KCKeychainModel

extension AlikePlaces {
    /// Matches records to the items of a target, if one of these might be mistaken for another one.
    ///
    /// Secrets in their stored form come from the target itself, whose items keep their UUIDs.
    ///
    /// - Throws: `CryptographyFailure`, as `RestoreRecords.visit`, and what the target throws.
    init(of records: RestoreRecords, in existing: any ExistingItems) throws {
        try self.init(in: existing)
        guard records.form == .plain, try existing.hasDerivedUUIDs else { return }
        // Of a restore of some items, where the others go is of no use.
        let needed = records.needed
        // Only records with others beside them, among themselves or in the target, could be mistaken for another one.
        var derived: [ItemUUID] = []
        var hasOthers = false
        try records.visitItems { item in
            guard item.uuid.isDerived, needed.contains(item) else { return }
            derived.append(item.uuid)
            if !hasOthers { hasOthers = try existing.hasOthersInSeries(of: item) }
        }
        if !hasOthers, ImportedUUIDs(derived).several.isEmpty { return }
        try add(records) { $0.uuid.isDerived && needed.contains($0) }
    }

    /// Matches the records of a file to the items of a target.
    ///
    /// Nothing is kept of a record that has no others beside it, neither in the file nor in the target.
    ///
    /// - Throws: as the other one.
    init(ofFile records: RestoreRecords, in existing: any ExistingItems) throws {
        var uuids: [ItemUUID] = []
        if try !existing.isEmpty { try records.visitItems { uuids.append($0.uuid) } }
        let imported = ImportedUUIDs(consume uuids)
        try self.init(in: existing, imported: imported)
        if imported.isEmpty { return }
        try add(records) { item in
            guard item.uuid.isDerived else { return false }
            return try imported.several.contains(item.uuid.with(ordinal: 0)) || existing.hasOthersInSeries(of: item)
        }
    }

    /// Adds the records that meet a condition, and matches them.
    private mutating func add(_ records: RestoreRecords, where meets: @escaping (Item) throws -> Bool) throws {
        var visitor = AddingVisitor(meets: meets, places: self)
        _ = try records.visit(&visitor)
        self = visitor.places
        try finish()
    }
}

extension Item {
    /// The item under the identity that it has in a keychain.
    ///
    /// - Throws: `ItemProblem` if a mark that tells it apart makes it too large.
    func placed(at place: AlikePlaces.Place) throws(ItemProblem) -> Item {
        switch place {
        case .own: self
        case .item(let counterpart): try identified(as: counterpart)
        case .new(let uuid): try identified(by: uuid)
        }
    }
}

private struct AddingVisitor: RecordVisitor {
    let meets: (Item) throws -> Bool
    var places: AlikePlaces

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        guard try meets(item) else { return }
        let isKnown = state == .open || state == .absent
        try places.add(item, secret: isKnown ? places.codes.secret(secret) : nil)
    }
}
