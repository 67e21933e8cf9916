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
        var visitor = ArchivedRecords(needed: needed, places: self)
        _ = try records.visit(&visitor)
        self = visitor.places
        try finish()
    }

    /// Matches the records of an import to the items of a target.
    ///
    /// Nothing is kept of a record that has no others beside it, neither in the source nor in the target.
    ///
    /// - Throws: what the source and the target throw, `CryptographyFailure`.
    init(of source: some ItemSource, in existing: any ExistingItems) throws {
        var survey = Survey()
        if try !existing.isEmpty { try source.visitItems(&survey) }
        let uuids = ImportedUUIDs(survey.takeUUIDs())
        try self.init(in: existing, imported: uuids)
        if uuids.isEmpty { return }
        var visitor = ImportedRecords(existing: existing, several: uuids.several, places: self)
        try source.visitItems(&visitor)
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

/// Adds the records of an archive.
private struct ArchivedRecords: RecordVisitor {
    let needed: SelectedSecrets
    var places: AlikePlaces

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        guard item.uuid.isDerived, needed.contains(item) else { return }
        let isKnown = state == .open || state == .absent
        try places.add(item, secret: isKnown ? places.codes.secret(secret) : nil)
    }
}

/// Collects the UUIDs of the records of an import.
private struct Survey: ItemVisitor {
    private var uuids: [ItemUUID] = []

    /// The UUIDs, which it has no longer then: one list of a million is enough.
    mutating func takeUUIDs() -> [ItemUUID] {
        defer { uuids = [] }
        return uuids
    }

    mutating func wants(_ item: Item) throws -> Bool {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        uuids.append(item.uuid)
        return false
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    func skip(damaged item: Item?) {}
}

/// Adds the records of an import that have others beside them.
private struct ImportedRecords: ItemVisitor {
    let existing: any ExistingItems
    let several: Set<ItemUUID>
    var places: AlikePlaces

    func wants(_ item: Item) throws -> Bool {
        guard item.uuid.isDerived else { return false }
        if several.contains(item.uuid.with(ordinal: 0)) { return true }
        return try existing.hasOthersInSeries(of: item)
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        try places.add(item, secret: places.codes.secret(secret))
    }

    func skip(damaged item: Item?) {}
}
