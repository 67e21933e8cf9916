internal import ItemSources

/// An attribute by which programs find an item of the Secret Service.
package struct ServiceAttribute: Comparable, Hashable, Sendable {
    package let name: String
    package let value: String

    /// Names a value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Orders by the bytes of the name, then of the value.
    package static func < (left: ServiceAttribute, right: ServiceAttribute) -> Bool {
        if left.name.utf8.elementsEqual(right.name.utf8) {
            return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
        }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// Equal when the bytes are.
    package static func == (left: ServiceAttribute, right: ServiceAttribute) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(0 as UInt8)
        for byte in value.utf8 { hasher.combine(byte) }
    }
}

/// An item as the Secret Service gives it, without its secret.
package struct ServiceItem: Hashable, Sendable {
    /// What people read.
    package var label: String
    /// Ordered by name, each at most once.
    package var attributes: [ServiceAttribute]
    /// The property `Type`, where the service has it and it differs from the attribute `xdg:schema`.
    package var type: String?
    /// The media type of the secret.
    package var contentType: String
    /// Seconds since 1970; 0 if the service does not know.
    package var created: UInt64
    /// Seconds since 1970; 0 if the service does not know.
    package var modified: UInt64

    /// Describes an item.
    package init(
        label: String, attributes: [ServiceAttribute], type: String? = nil, contentType: String = "text/plain",
        created: UInt64 = 0, modified: UInt64 = 0
    ) {
        self.label = label
        self.attributes = attributes.sorted()
        self.type = type
        self.contentType = contentType
        self.created = created
        self.modified = modified
    }

    /// The value of an attribute.
    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The attribute that names the schema of an item.
    package static let schema = KeyringIdentity.schema

    /// True if it is `other` as far as every service can hold it: not all keep media types, and GNOME Keyring gives an
    /// item the attribute of its type.
    func holds(_ other: ServiceItem) -> Bool {
        label.utf8.elementsEqual(other.label.utf8) && free == other.free && kind == other.kind
    }

    /// The attributes without the schema.
    private var free: [ServiceAttribute] { attributes.filter { $0.name != Self.schema } }

    /// The schema, however it is kept; nil for what has none of its own.
    private var kind: String? {
        let kind = self[Self.schema] ?? type
        return kind == KeyringIdentity.genericSchema ? nil : kind
    }
}

/// Which collection an item is in: by what survives a move to another machine.
package struct CollectionName: Hashable, Sendable {
    /// What people read.
    package var label: String
    /// 0 for the first collection of this label, 1 for the next one.
    package var number = 0

    /// Names a collection.
    package init(label: String, number: Int = 0) {
        self.label = label
        self.number = number
    }
}

/// A collection as the service lists it.
struct ServiceCollection {
    let path: String
    let name: CollectionName
    let isDefault: Bool
    var isLocked: Bool
    /// The object paths of its items, in the order in which the service made them.
    var items: [String]
}

/// An item that was read, with its place.
struct FoundItem {
    let path: String
    let collection: Int
    var item: ServiceItem
    /// Where its secret is among all secrets.
    var secret: Range<Int>
}

/// What a reading could not have.
package enum Unreadable: Hashable, Sendable {
    /// A locked collection, with the number of its items as far as the service tells.
    case lockedCollection(label: String, items: Int)
    /// A locked item of a collection that is not.
    case lockedItem(collection: String, label: String)
    /// An item that is larger than one of a backup can be, or has something that no item can have.
    case unfit(label: String)
}
