internal import KCItemSources
package import KCKeychainModel

extension Item {
    /// The item in the place of an alike one: with its UUID, and with what its unique key has for its position.
    ///
    /// - Throws: `ItemProblem` if that makes it too large.
    package func identified(as counterpart: Item) throws(ItemProblem) -> Item {
        var attributes = attributes
        if let identity = KeyringIdentity(of: self) {
            attributes[.musr] = .data(identity.with(ordinal: counterpart.uuid.ordinal).key)
        } else if likeness == counterpart.likeness {
            for code in [AttributeCode.svce, .sdmn, .musr] { attributes[code] = counterpart.attributes[code] }
        }
        return try with(uuid: counterpart.uuid, attributes: attributes)
    }

    /// The item at a position of its own: with this UUID, and with a unique key that no alike item has.
    ///
    /// - Throws: `ItemProblem` if a mark that tells it apart makes it too large.
    package func identified(by uuid: ItemUUID) throws(ItemProblem) -> Item {
        var attributes = attributes
        if let identity = KeyringIdentity(of: self) {
            attributes[.musr] = .data(identity.with(ordinal: uuid.ordinal).key)
        } else {
            _ = attributes.mark(itemClass, for: uuid)
        }
        return try with(uuid: uuid, attributes: attributes)
    }

    /// The item as the first one of its kind, for comparisons.
    var withoutPosition: Item {
        get throws(ItemProblem) {
            var attributes = attributes
            if let identity = KeyringIdentity(of: self) {
                attributes[.musr] = .data(identity.with(ordinal: 0).key)
            } else {
                attributes.removeMark()
                // A mark may stand alone in an attribute that the item without it does not have.
                for code in [AttributeCode.svce, .sdmn] where attributes[code]?.keyBytes?.isEmpty == true {
                    attributes[code] = nil
                }
            }
            return try with(uuid: uuid.with(ordinal: 0), attributes: attributes)
        }
    }

    /// The item with another UUID and other attributes.
    package func with(uuid: ItemUUID, attributes: Attributes) throws(ItemProblem) -> Item {
        try Item(itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
    }
}
