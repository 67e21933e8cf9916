internal import KCByteStreams
internal import KCKeychainModel

extension ItemDraft {
    /// Creates the item, with Apple's defaults.
    func item(now: Timestamp, secretSize: Int?, accessGroup: String) throws(KeychainStoreError) -> Item {
        try failing(
            as: KeychainStoreError.item, completed(now: now, secretSize: secretSize, accessGroup: accessGroup))
    }
}

extension Item {
    /// Attributes that an update may not set: the store sets the dates, and `musr` names the owner.
    static let unchangeable: Set<AttributeCode> = [.cdat, .mdat, .musr]

    /// True if both have the same unique key; absent values count as their defaults.
    func hasKey(of other: Item) -> Bool {
        itemClass == other.itemClass
            && itemClass.uniqueKey.allSatisfy { code in
                let mine = attributes[code] ?? Self.keyDefault(code)
                let theirs = other.attributes[code] ?? Self.keyDefault(code)
                return mine == theirs || (mine.keyBytes != nil && mine.keyBytes == theirs.keyBytes)
            }
    }

    /// The same item, with a new modification date.
    func changed(at moment: Timestamp) throws(KeychainStoreError) -> Item {
        try version(attributes: attributes, secretSize: secretSize, at: moment)
    }

    /// The item with attributes set, or removed if nil, and with a secret of another size.
    func updated(
        _ changes: [AttributeCode: AttributeValue?], secretSize: Int?, at moment: Timestamp
    ) throws(KeychainStoreError) -> Item {
        var attributes = attributes
        for (code, value) in changes {
            if Self.unchangeable.contains(code) { throw .unchangeable(code) }
            attributes[code] = value
        }
        return try version(attributes: attributes, secretSize: secretSize, at: moment)
    }

    /// The tombstone of a deleted synchronizable item, which keeps its key, accessibility and dates.
    func tombstone(uuid: ItemUUID, at moment: Timestamp) throws(KeychainStoreError) -> Item {
        var kept = Attributes()
        let codes = Set(itemClass.uniqueKey + [.pdmn, .cdat])
        for entry in attributes.entries where codes.contains(entry.code) { kept[entry.code] = entry.value }
        kept[.mdat] = .date(moment)
        return try Self.make(itemClass, uuid, kept, [], nil)
    }

    /// The modification date for a change at `now`: always later than the previous one, even if the clock was set back.
    func moment(ofChangeAt now: Timestamp) -> Timestamp {
        max(now, modified.advanced(byMicroseconds: KeychainWriter.step))
    }

    private func version(
        attributes: Attributes, secretSize: Int?, at moment: Timestamp
    ) throws(KeychainStoreError) -> Item {
        var attributes = attributes
        attributes[.mdat] = .date(moment)
        return try Self.make(itemClass, uuid, attributes, extra, secretSize)
    }

    private static func make(
        _ itemClass: ItemClass, _ uuid: ItemUUID, _ attributes: Attributes, _ extra: [ExtraAttribute], _ size: Int?
    ) throws(KeychainStoreError) -> Item {
        try failing(
            as: KeychainStoreError.item,
            Item(itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: size))
    }
}
