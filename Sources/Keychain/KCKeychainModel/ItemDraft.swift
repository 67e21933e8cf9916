/// An item to be added: the attributes as given; `Item` adds Apple's defaults.
package struct ItemDraft: Hashable, Sendable {
    /// The class.
    package var itemClass: ItemClass
    /// Set if the item already has a UUID, for example in an import; otherwise a new one is created.
    package var uuid: ItemUUID?
    /// The attributes as given; Apple's defaults fill in the rest.
    package var attributes: Attributes
    /// Attributes without a column, in any order.
    package var extra: [ExtraAttribute]

    /// Creates a draft.
    package init(
        itemClass: ItemClass, uuid: ItemUUID? = nil, attributes: Attributes = Attributes(),
        extra: [ExtraAttribute] = []
    ) {
        self.itemClass = itemClass
        self.uuid = uuid
        self.attributes = attributes
        self.extra = extra
    }

    /// The access group of items that specify none.
    package static let defaultAccessGroup = "kcbackup"

    /// The item with Apple's defaults: `WhenUnlocked` (certificates: `Always`), not synchronizable, both dates `now`.
    ///
    /// Given dates are kept, so that an import preserves them.
    package func completed(
        now: Timestamp, secretSize: Int?, accessGroup: String = defaultAccessGroup
    ) throws(ItemProblem) -> Item {
        let accessibility: Accessibility = itemClass == .certificate ? .always : .whenUnlocked
        let changed =
            switch attributes[.cdat] {
            case .date(let created): max(created, now)
            default: now
            }
        let completed = attributes.filled(with: [
            (.agrp, .text(accessGroup)), (.cdat, .date(now)), (.mdat, .date(changed)),
            (.pdmn, .text(accessibility.rawValue)), (.sync, .number(0)),
        ])
        let sorted = extra.count < 2 ? extra : extra.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return try Item(
            itemClass: itemClass, uuid: uuid ?? ItemUUID(), attributes: completed, extra: sorted,
            secretSize: secretSize)
    }
}
