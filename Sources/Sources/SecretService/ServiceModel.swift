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

    /// The attributes without the schema; the title of an entry is its label.
    private var free: [ServiceAttribute] {
        identifying.filter { $0.name != Self.schema && !(isEntry && $0.name == Self.title) }
    }

    static let title = "Title"
    private static let path = "Path"
    private static let uuid = "Uuid"
    // Of a secret that KeePassXC keeps as bytes.
    private static let mediaType = "FDO_SECRETS_CONTENT_TYPE"

    /// True if it has the attributes that KeePassXC gives every entry of a database.
    package var isEntry: Bool { [Self.title, Self.path, Self.uuid].allSatisfy { self[$0] != nil } }

    /// The attributes that make it this item: without those that KeePassXC chooses for an entry, or leaves empty.
    package var identifying: [ServiceAttribute] {
        guard isEntry else { return attributes }
        return attributes.filter { attribute in
            switch attribute.name {
            case Self.path, Self.uuid, Self.mediaType: false
            case "Notes", "URL", "UserName": !attribute.value.isEmpty
            default: true
            }
        }
    }

    /// The attributes that KeePassXC lets others set.
    var settableInEntry: [ServiceAttribute] {
        attributes.filter { ![Self.path, Self.uuid, Self.mediaType].contains($0.name) }
    }

    /// What is identified as this item's entry in KeePassXC.
    var asEntry: ServiceItem {
        guard !isEntry else { return self }
        var entry = self
        entry.attributes.removeAll { [Self.title, Self.path, Self.uuid].contains($0.name) }
        entry.attributes += [Self.title, Self.path, Self.uuid].map {
            ServiceAttribute(name: $0, value: $0 == Self.title ? label : "")
        }
        entry.attributes.sort()
        return entry
    }

    /// The same with its schema as an attribute, for a service that keeps nothing but attributes.
    var withSchemaAmongAttributes: ServiceItem {
        guard let type, self[Self.schema] == nil else { return self }
        return ServiceItem(
            label: label, attributes: attributes + [ServiceAttribute(name: Self.schema, value: type)],
            contentType: contentType, created: created, modified: modified)
    }

    /// What KWallet can hold: an entry has a name, and the passwords of KDE's own programs are texts without attributes.
    var asWalletEntry: ServiceItem {
        // What has no schema of its own has this one, which no attribute says.
        var entry = type == KeyringIdentity.genericSchema ? self : withSchemaAmongAttributes
        entry.label = Self.walletLabel(label)
        if attributes.isEmpty, contentType == ServiceMapping.contentTypeOfBytes {
            entry.contentType = ServiceMapping.usualContentType
        }
        return entry
    }

    // The folder of entries whose label names none.
    private static let walletFolder = "Secret Service/"

    /// The label that KWallet tells of an entry with this one: it numbers entries of one name by an ending.
    private static func walletLabel(_ label: String) -> String {
        var name =
            label.hasPrefix(walletFolder) && label != walletFolder ? label.dropFirst(walletFolder.count) : label[...]
        if name.hasSuffix("_") {
            let stem = name.dropLast().reversed().drop { $0.isASCII && $0.isNumber }.reversed()
            if stem.count < name.count - 1, stem.suffix(2) == ["_", "_"] { name = name.prefix(stem.count - 2) }
        }
        return name.isEmpty ? "no label" : String(name)
    }

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
