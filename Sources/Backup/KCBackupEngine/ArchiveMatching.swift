internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemMatching
internal import KCKeychainModel

/// Matches the records of a restore: an item with the UUID of a record is that record, and becomes exactly as it is.
struct ArchiveMatching: RecordMatching {
    let rules: RestoreRules
    let existing: any ExistingItems
    let places: AlikePlaces
    let form: SecretForm
    /// Whether the target is empty; planning writes nothing, so this does not change.
    let isEmpty: Bool
    var crossings = Crossings()

    mutating func match(
        _ record: Item, ordinal: Int, secret: borrowing SecretBytes, state: SecretState
    ) throws -> RecordMatch? {
        let place = places.place(of: record.uuid)
        let item: Item
        do throws(ItemProblem) {
            item = try record.placed(at: place)
        } catch {
            return RecordMatch(item: record, action: .fail(.overLimit))
        }
        // An item that another device sealed has a verdict of its own.
        if rules.verdict(item.sealingAccessibility, rules.mode, rules.isSameDevice) == .restores,
            let reason = rules.reason(against: item, in: existing.kind)
        {
            return RecordMatch(item: item, action: .staysBehind(reason))
        }
        if let obstacle = existing.obstacle(to: item) {
            return RecordMatch(item: item, action: .fail(RestoreAction.Problem(obstacle)))
        }
        let byKey = isEmpty ? nil : try existing.item(withKeyOf: item)
        let byUUID = isEmpty || byKey?.uuid == item.uuid ? byKey : try existing.item(withUUID: item.uuid)
        var problem: RestoreAction.Problem? =
            switch state {
            case .sealedElsewhere: .noKey
            case .broken: .broken
            case .absent, .open, .stored, .storedWhole, .notRead: nil
            }
        // No item of the keychain should have this identity.
        if case .new = place, byKey ?? byUUID != nil { problem = .identityTaken }
        if !existing.needsAnnouncements,
            rules.setsAside(item, byKey: byKey, byUUID: byUUID, problem: problem, ordinal: ordinal, &crossings)
        {
            return nil
        }
        let action = try rules.action(
            for: item, byKey: byKey, byUUID: byUUID, problem: problem, isProvedWhole: state != .stored,
            isHeld: { counterpart in existing.holds(item, as: counterpart) },
            hasSecret: { counterpart in
                if form == .plain, !existing.canCompare(counterpart) { return nil }
                return try existing.secret(of: counterpart, equals: secret, in: form)
            })
        if action.writes, let obstacle = try existing.obstacle(toWriting: item) {
            return RecordMatch(item: item, action: .fail(RestoreAction.Problem(obstacle)))
        }
        return RecordMatch(item: item, action: action, counterpart: byKey, kept: byKey ?? byUUID)
    }

    func settle(_ records: RestoreRecords, _ body: (_ ordinal: Int, RecordMatch) throws -> Void) throws {
        if crossings.isEmpty { return }
        let strangers = crossings.strangers
        var staying: Set<ItemUUID> = []
        if !strangers.isEmpty {
            // A record that was not selected, or cannot be restored, is still the item with its UUID.
            try records.visitItems { item in
                let uuid = places.uuid(of: item.uuid)
                if strangers.contains(uuid) { staying.insert(uuid) }
            }
        }
        var rest = crossings.decisions(staying: staying)[...]
        var ordinal = 0
        // Only their numbers were kept, since all items of an archive may be among them.
        try records.visitItems { record in
            defer { ordinal += 1 }
            guard let (next, action) = rest.first, next == ordinal else { return }
            rest.removeFirst()
            let item = try record.placed(at: places.place(of: record.uuid))
            let kept = action == .keep ? try existing.item(withUUID: item.uuid) ?? existing.item(withKeyOf: item) : nil
            try body(ordinal, RecordMatch(item: item, action: action, kept: kept))
        }
        guard rest.isEmpty else { throw ArchiveFailure.damaged(rule: "it changed while it was being read") }
    }

    func written(
        _ record: Item, ordinal: Int, isUpdate: Bool, in writer: any ItemWriter
    ) throws -> (item: Item, replaced: Item?) {
        let item = try record.placed(at: places.place(of: record.uuid))
        if !isUpdate { return (item, nil) }
        let holder = try writer.item(withKeyOf: item)
        if let holder, holder.uuid == item.uuid { return (item, holder) }
        return (item, try writer.item(withUUID: item.uuid) ?? holder)
    }
}
