internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Maps the items of a keyring to items of a keychain.
///
/// Every attribute is stored in `extra` under its own name. Class, service, server and account are derived from the
/// attributes' meanings, for people to read. Names, unique key and UUID are the same as for an item of the Secret
/// Service, so that a backup treats a file and the running keyring that it came from as one.
enum KeyringMapping {
    /// The keychain item for an item of a keyring.
    ///
    /// - Parameter ordinal: the index of the item among those of the keyring with the same attributes, from 0.
    static func draft(of item: KeyringItem, keyring: KeyringName, ordinal: Int) -> ItemDraft {
        let schema = KeyringSchema(item.attributes, type: typeName(item), label: text(item.label))
        var draft = ItemDraft(itemClass: schema.itemClass, attributes: schema.attributes)
        let identity = identity(of: item, keyring: keyring, ordinal: ordinal)
        draft.attributes[.musr] = .data(identity.key)
        draft.uuid = identity.uuid
        draft.attributes[.labl] = item.label
        if let date = date(item.created) { draft.attributes[.cdat] = .date(date) }
        if let date = date(item.modified) { draft.attributes[.mdat] = .date(date) }
        var extra = [ExtraAttribute(name: KeyringExtra.collection, value: keyring.label)]
        if keyring.number > 0 {
            extra.append(ExtraAttribute(name: KeyringExtra.number, value: String(keyring.number)))
        }
        if let type = typeName(item), item[KeyringIdentity.schema] != type {
            extra.append(ExtraAttribute(name: KeyringExtra.type, value: type))
        }
        if !item.numbers.isEmpty {
            extra.append(
                ExtraAttribute(name: KeyringExtra.numbers, value: item.numbers.sorted().joined(separator: " ")))
        }
        for (name, value) in item.attributes {
            if let accessibility = KeyringExtra.accessibility(name, value) {
                draft.attributes[.pdmn] = .text(accessibility.rawValue)
            } else {
                extra.append(ExtraAttribute(name: KeyringExtra.name(of: name), value: value))
            }
        }
        draft.extra = extra
        return draft
    }

    /// The identity of an item.
    static func identity(of item: KeyringItem, keyring: KeyringName, ordinal: Int = 0) -> KeyringIdentity {
        let isEntry = KeyringEntry.isEntry(item.attributes.map(\.name))
        let counted = item.attributes.filter { name, value in
            KeyringExtra.accessibility(name, value) == nil && (!isEntry || KeyringEntry.identifies(name, value))
        }
        return KeyringIdentity(
            keyring: keyring.label, number: keyring.number, attributes: counted, type: typeName(item),
            label: item.label,
            ordinal: ordinal)
    }

    /// The bytes of the label of the keyring that items come from; nil if there is no item.
    static func keyring(of items: CollectedItems) throws -> [UInt8]? {
        var visitor = LabelVisitor()
        try items.visitItems(&visitor)
        return visitor.label
    }

    /// Finds the label of a keyring in its first item.
    private struct LabelVisitor: ItemVisitor {
        private var isFirst = true
        private(set) var label: [UInt8]?

        mutating func wants(_ item: Item) -> Bool {
            if isFirst {
                label = item.extra.first { $0.name.exact == KeyringExtra.collection.exact }.map { Array($0.value.utf8) }
            }
            isFirst = false
            return false
        }

        func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

        func skip(damaged item: Item?) {}
    }

    private static func text(_ label: AttributeValue) -> String? {
        if case .text(let text) = label { text } else { nil }
    }

    private static func date(_ seconds: UInt64) -> Timestamp? {
        guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000 else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }

    /// The number of dates of an item that cannot be read.
    static func unreadableDates(of item: KeyringItem) -> Int {
        [item.created, item.modified].count { $0 > 0 && date($0) == nil }
    }

    /// The name of the schema for an item's type number.
    private static func typeName(_ item: KeyringItem) -> String? {
        // The upper half holds flags of old versions.
        switch item.type.map({ $0 & 0xffff }) {
        case 0: KeyringIdentity.genericSchema
        case 1: KeyringSchema.network
        case 2: KeyringSchema.note
        case 3: "org.gnome.keyring.ChainedKeyring"
        case 4: "org.gnome.keyring.EncryptionKey"
        case 0x100: "org.gnome.keyring.PkStorage"
        default: nil
        }
    }
}
