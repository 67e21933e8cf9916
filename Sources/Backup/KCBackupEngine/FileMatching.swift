internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
package import KCKeychainModel

/// The items that an import into a keychain names because of how they were matched.
package struct ImportedItems: Sendable {
    /// The items of the keychain that get another secret, with the modification dates that they get.
    package internal(set) var replaced: FirstEntries<(item: Item, date: Timestamp)>
    /// The items of the source for which the keychain keeps its own version with another secret.
    package internal(set) var keptOthers: FirstEntries<Item>
    /// The items of the source for which the keychain keeps its own version, of which only attributes differ.
    package internal(set) var keptAlike: FirstEntries<Item>
    /// The items that were created because several alike items exist and it is unclear which of them changed.
    package internal(set) var unclear: FirstEntries<Item>
    /// The items that were created beside an item with the same unique key, which belongs to another record.
    package internal(set) var beside: FirstEntries<Item>

    /// - Parameter limit: how many items each list names.
    init(limit: Int) {
        replaced = FirstEntries(limit: limit)
        (keptOthers, keptAlike) = (FirstEntries(limit: limit), FirstEntries(limit: limit))
        (unclear, beside) = (FirstEntries(limit: limit), FirstEntries(limit: limit))
    }
}

/// Matches the records of a file with a keychain: which item a record is follows from what files say of their records, and
/// what a file does not say stays as it is.
struct FileMatching: RecordMatching {
    private let rules: RestoreRules
    private let existing: any ExistingItems
    private let isEmpty: Bool
    private let places: AlikePlaces
    /// The records that are written otherwise than the file has them, by ordinal.
    private var changes: [Int: Change] = [:]
    private(set) var imported: ImportedItems
    /// The items of the keychain that items of the source belong to; each is used once.
    private var targets: UsedItems

    /// - Parameter namesLimit: how many items of each kind are named.
    init(
        _ rules: RestoreRules, _ existing: any ExistingItems, _ places: AlikePlaces, namesLimit: Int
    ) throws {
        (self.rules, self.existing, isEmpty) = (rules, existing, try existing.isEmpty)
        (self.places, targets) = (places, places.unused)
        imported = ImportedItems(limit: namesLimit)
    }

    mutating func match(
        _ record: Item, ordinal: Int, secret: borrowing SecretBytes, state: SecretState
    ) throws -> RecordMatch? {
        do {
            return RecordMatch(item: record, action: try action(for: record, ordinal, secret))
        } catch is ItemProblem {
            return RecordMatch(item: record, action: .fail(.overLimit))
        }
    }

    func written(
        _ record: Item, ordinal: Int, isUpdate: Bool, in writer: any ItemWriter
    ) throws -> (item: Item, replaced: Item?) {
        guard let change = changes[ordinal] else { return (record, nil) }
        // Each item is replaced at most once, so it has not changed since the plan was made.
        let replaced = try change.target.flatMap { try writer.item(withUUID: $0) }
        return (try change.applied(to: record, replacing: replaced), replaced)
    }

    private mutating func action(
        for item: Item, _ ordinal: Int, _ secret: borrowing SecretBytes
    ) throws -> RestoreAction {
        if let obstacle = existing.obstacle(to: item) { return .fail(RestoreAction.Problem(obstacle)) }
        // Where nothing is, there is nothing to compare with.
        if isEmpty { return .create }
        var change = Change(uuid: places.uuid(of: item.uuid))
        let isOwn = change.uuid == item.uuid
        let byUUID = try existing.item(withUUID: change.uuid)
        change.target = byUUID?.uuid
        var row = try change.applied(to: item, replacing: byUUID)
        var byKey = try holder(of: row, byUUID)
        if isOwn, byUUID == nil, byKey == nil {
            byKey = try holderWithoutAuthentication(of: item, secret)
            change.lacksAuthentication = byKey != nil
        }
        if let other = byKey, other.uuid != row.uuid {
            let isBeside = try isOwn && isOfAnotherRecord(other, than: item, secret)
            let hasOwn = byUUID != nil && item.freeAttribute("source.format") != nil
            if isBeside || !isOwn || places.isTaken(other.uuid) || hasOwn {
                // The other item belongs to another record, which may be missing in the source as a duplicate of this
                // one; a mark lets both exist.
                change.isMarked = true
                if isBeside, byUUID == nil { imported.beside.append(row) }
                row = try change.applied(to: item, replacing: byUUID)
                byKey = try holder(of: row, byUUID)
                if let byKey, byKey.uuid != row.uuid { return .fail(.identityTaken) }
            } else if byUUID == nil {
                change.target = other.uuid
                row = try change.applied(to: item, replacing: other)
            }
        }
        let target = byUUID ?? byKey
        if let target, !targets.use(target.uuid) { return .fail(.identityTaken) }
        let action = try decide(row, target, byKey, byUUID, secret)
        switch action {
        case .create where change.uuid != item.uuid || change.isMarked:
            changes[ordinal] = change
        case .update:
            changes[ordinal] = change
            if let target, try !existing.secret(of: target, equals: secret, in: .plain) {
                imported.replaced.append((target, row.modified))
            }
        case .keep:
            let differs = try target.map {
                try existing.canCompare($0) && !existing.secret(of: $0, equals: secret, in: .plain)
            }
            if differs ?? true { imported.keptOthers.append(item) } else { imported.keptAlike.append(item) }
        default: break
        }
        if places.isUnclear(item.uuid), action == .create { imported.unclear.append(row) }
        return action
    }

    /// The item with the unique key of `row`.
    private func holder(of row: Item, _ byUUID: Item?) throws -> Item? {
        // Only one item has a unique key.
        if let byUUID, byUUID.hasKey(of: row) { return byUUID }
        return try existing.item(withKeyOf: row)
    }

    /// The item that a record is, but for an authentication type: most files have none, and get the default one, and an
    /// item that was made here may have none.
    private func holderWithoutAuthentication(of item: Item, _ secret: borrowing SecretBytes) throws -> Item? {
        // Only records of password managers get the default; in other files, the two are different items.
        guard item.itemClass == .internetPassword, item.freeAttribute("source.part") != nil,
            item.attributes.text(.atyp) == "dflt",
            let other = try existing.item(withKeyOf: item.withoutAuthentication), !places.isTaken(other.uuid),
            try !isOfAnotherRecord(other, than: item, secret)
        else { return nil }
        // Another secret may be a token for the same user, unless an import of this format has found the item before.
        if other.freeAttribute("source.format") == item.freeAttribute("source.format") { return other }
        return try existing.canCompare(other) && existing.secret(of: other, equals: secret, in: .plain) ? other : nil
    }

    /// True if an item that has the unique key of a record does not belong to it, so that replacing it would lose a
    /// secret.
    ///
    /// The unique key of an internet password names its server. The key of a generic password from another program is
    /// often no more than a title and a user name, which records of different files have in common.
    private func isOfAnotherRecord(
        _ other: Item, than item: Item, _ secret: borrowing SecretBytes
    ) throws -> Bool {
        guard let format = item.freeAttribute("source.format") else { return false }
        if try !existing.canCompare(other) || existing.secret(of: other, equals: secret, in: .plain) { return false }
        if let id = item.freeAttribute("source.id"), let otherID = other.freeAttribute("source.id"),
            format == other.freeAttribute("source.format")
        {
            return id != otherID
        }
        return item.itemClass == .genericPassword && rules.policy != .overwrite
    }

    private func decide(
        _ row: Item, _ target: Item?, _ byKey: Item?, _ byUUID: Item?, _ secret: borrowing SecretBytes
    ) throws -> RestoreAction {
        // A list of items has no secrets of those that ask for the passcode, and read back it must not remove them.
        if row.secretSize == nil, [byKey, byUUID].contains(where: { $0?.constraint != nil && $0?.secretSize != nil }) {
            return .keep
        }
        // Items without dates of their own have the file's, which another copy of the same file has not.
        if let target, try row.dated(as: target) == target {
            if try existing.secret(of: target, equals: secret, in: .plain) { return .same }
            // Nothing is written over that was not seen.
            if !existing.canCompare(target), rules.policy != .overwrite { return .keep }
        }
        return try rules.action(for: row, byKey: byKey, byUUID: byUUID, problem: nil) { counterpart in
            existing.canCompare(counterpart)
                ? try existing.secret(of: counterpart, equals: secret, in: .plain) : nil
        }
    }
}

/// How the item that is written differs from the item of the source.
private struct Change {
    /// The UUID of a new item.
    let uuid: ItemUUID
    /// The item that is replaced and whose UUID is kept; nil for a new item.
    var target: ItemUUID?
    /// True if the item gets an import mark because another item has its unique key.
    var isMarked = false
    /// True if the item that is replaced has no authentication type, and stays so.
    var lacksAuthentication = false

    /// The item as it is written.
    ///
    /// - Parameter replaced: the target.
    func applied(to item: Item, replacing replaced: Item?) throws(ItemProblem) -> Item {
        let source = try lacksAuthentication ? item.withoutAuthentication : item
        let result =
            if let replaced {
                try source.merged(into: replaced)
            } else {
                try source.with(uuid: uuid, attributes: source.attributes)
            }
        if !isMarked { return result }
        var attributes = result.attributes
        guard attributes.mark(result.itemClass, for: result.uuid) else { return result }
        return try result.with(uuid: result.uuid, attributes: attributes)
    }
}
