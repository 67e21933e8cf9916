/// Selects items that are in memory: all conditions must hold.
///
/// Values are compared as by `ItemQuery` in a keychain file: text and data by their bytes, and an absent attribute of a
/// unique key equals its default.
///
/// ```swift
/// var filter = ItemFilter()
/// filter.itemClass = .genericPassword
/// filter.text = "wi-fi"
/// let chosen = items.filter(filter.matches)
/// ```
package struct ItemFilter: Hashable, Sendable {
    /// The class; nil for all four.
    package var itemClass: ItemClass?
    /// The UUID; nil for any.
    package var uuid: ItemUUID?
    /// Values that must be equal.
    package var attributes: [AttributeCode: AttributeValue] = [:]
    /// Extra attributes that the item must have.
    package var extra: [ExtraAttribute] = []
    /// True for synchronizable items only.
    package var isSynchronizable = false
    /// A text that one of the names must contain, regardless of case; nil for any.
    package var text: String? {
        didSet { searched = text?.lowercased() }
    }
    private var searched: String?

    /// The attributes by which users know an item.
    package static let names: [AttributeCode] = [.labl, .svce, .srvr, .acct, .sdmn, .path, .desc, .alis]

    /// Creates a filter that accepts every item.
    package init() {}

    /// True if there is no condition.
    package var isEmpty: Bool { self == ItemFilter() }

    /// True if `item` meets all conditions.
    package func matches(_ item: Item) -> Bool {
        if let itemClass, item.itemClass != itemClass { return false }
        if let uuid, item.uuid != uuid { return false }
        if isSynchronizable, !item.isSynchronizable { return false }
        if !extra.allSatisfy(item.extra.contains) { return false }
        if let searched, !Self.names.contains(where: { contains(searched, item.attributes.text($0)) }) { return false }
        return attributes.allSatisfy { code, value in
            guard code.belongs(to: item.itemClass) else { return false }
            let isKey = item.itemClass.uniqueKey.contains(code)
            guard let own = item.attributes[code] ?? (isKey ? Item.keyDefault(code) : nil) else { return false }
            guard let bytes = own.keyBytes else { return own == value }
            return bytes == value.keyBytes
        }
    }

    private func contains(_ text: String, _ name: String?) -> Bool {
        // Compared by characters, so that both Unicode forms of a letter are found.
        name.map { $0.lowercased().contains(text) } ?? false
    }
}
