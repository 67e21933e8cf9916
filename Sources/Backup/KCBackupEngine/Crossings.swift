internal import KCBackupArchive
internal import KCItemMatching
internal import KCKeychainModel

/// The records of a restore whose UUID or unique key an item has without the other one: it was renamed, or it was added
/// under the name of a record.
///
/// An item with the UUID of a record is that record and no other (docs/matching.md), so a record whose unique key it
/// has can be written only if it is, too, and gives the key up. The decision may depend on a third record, and names
/// may have been passed on in a circle. So these records are decided about when all of them are known.
struct Crossings {
    /// A record, with the decisions for both cases.
    private struct Crossing {
        let ordinal: Int
        let uuid: ItemUUID
        /// The item that has its unique key and another UUID.
        let holder: ItemUUID?
        /// The action for it if the holder is another record.
        let beside: RestoreAction
        /// The action for it if the holder is no other record, and so is written over, too.
        let over: RestoreAction
    }

    private var crossings: [Crossing] = []
    private var places: [ItemUUID: Int] = [:]

    var isEmpty: Bool { crossings.isEmpty }

    /// Adds a record; they are added in the order of the archive.
    ///
    /// - Parameters:
    ///   - beside: what happens to it if `holder` is another record.
    ///   - over: what happens to it if `holder` is none, or nil.
    mutating func add(
        _ uuid: ItemUUID, ordinal: Int, holder: ItemUUID?, beside: RestoreAction, over: RestoreAction
    ) {
        places[uuid] = crossings.count
        crossings.append(Crossing(ordinal: ordinal, uuid: uuid, holder: holder, beside: beside, over: over))
    }

    /// The items with the unique key of a record that are none of the records that were added.
    var strangers: Set<ItemUUID> { Set(crossings.compactMap(\.holder).filter { places[$0] == nil }) }

    /// Decides about all records that were added, in their order.
    ///
    /// - Parameter staying: those of `strangers` that are records which are not restored.
    func decisions(staying: Set<ItemUUID>) -> [(ordinal: Int, action: RestoreAction)] {
        var actions = crossings.map { one in
            one.holder.map { places[$0] != nil || staying.contains($0) } == true ? one.beside : one.over
        }
        // At most one record wants the unique key of an item.
        var wanting: [ItemUUID: Int] = [:]
        for (index, one) in crossings.enumerated() {
            if let holder = one.holder { wanting[holder] = index }
        }
        // An item that stays keeps its unique key, so the record that wants it fails, and the item of that record stays, too.
        func keep(_ uuid: ItemUUID) {
            var next = wanting[uuid]
            while let index = next, actions[index].writes {
                actions[index] = .fail(.identityTaken)
                next = wanting[crossings[index].uuid]
            }
        }
        let blocked = crossings.indices.filter { !actions[$0].writes }.map { crossings[$0].uuid }
        for uuid in blocked { keep(uuid) }
        for uuid in staying { keep(uuid) }
        return zip(crossings, actions).map { ($0.ordinal, $1) }
    }
}

extension RestoreRules {
    /// Adds `item` to `crossings` if an item has its UUID or its unique key and not the other one.
    ///
    /// - Returns: false if there is no such item, so that nothing else matters for it.
    func setsAside(
        _ item: Item, byKey: Item?, byUUID: Item?, problem: RestoreAction.Problem?, ordinal: Int,
        _ crossings: inout Crossings
    ) -> Bool {
        if byKey?.uuid == item.uuid { return false }
        // Items that are removed first block no record.
        let (own, holder) = (remains(byUUID), remains(byKey))
        if own == nil, holder == nil { return false }
        crossings.add(
            item.uuid, ordinal: ordinal, holder: holder?.uuid, beside: action(for: item, over: [own], problem),
            over: action(for: item, over: [own, holder], problem))
        return true
    }

    /// Decides about an item that is written over all of these, none of which is exactly like it.
    private func action(
        for item: Item, over existing: [Item?], _ problem: RestoreAction.Problem?
    ) -> RestoreAction {
        if case .staysBehind(let reason) = verdict(item.sealingAccessibility, mode, isSameDevice) {
            return .staysBehind(reason)
        }
        if let problem { return .fail(problem) }
        let existing = existing.compactMap { $0 }
        if existing.isEmpty { return .create }
        switch policy {
        case .newer: return existing.allSatisfy { item.modified > $0.modified } ? .update : .keep
        case .keep: return .keep
        case .overwrite, .fail: return .update
        }
    }
}
