internal import KCByteStreams
internal import KCItemSources

/// An attribute by which programs find an item of the Secret Service.
package struct ServiceAttribute: Comparable, Hashable, Sendable {
    package let name: String
    package let value: String

    /// Creates an attribute.
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

    /// True if the name has these bytes; `==` would also accept another Unicode form.
    func hasName(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(0 as UInt8)
        for byte in value.utf8 { hasher.combine(byte) }
    }
}

/// An item as returned by the Secret Service, without its secret.
package struct ServiceItem: Hashable, Sendable {
    /// The name that people see.
    package var label: String
    /// Ordered by name; names are unique.
    package var attributes: [ServiceAttribute]
    /// The property `Type`, if the service has it and it differs from the attribute `xdg:schema`.
    package var type: String?
    /// The media type of the secret.
    package var contentType: String
    /// Seconds since 1970; 0 if unknown.
    package var created: UInt64
    /// Seconds since 1970; 0 if unknown.
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
    package subscript(name: String) -> String? { attributes.first { $0.hasName(name) }?.value }

    /// The attribute that names the schema of an item.
    package static let schema = KeyringIdentity.schema

    /// True if the item equals `other` in everything that all services can hold.
    ///
    /// Not all of them keep media types, and GNOME Keyring adds an attribute for the type of an item.
    func holds(_ other: ServiceItem) -> Bool {
        label.utf8.elementsEqual(other.label.utf8) && free == other.free && kind == other.kind
    }

    /// The attributes without the schema, and without the title of an entry, which is its label.
    private var free: [ServiceAttribute] {
        identifying.filter {
            $0.name.exact != Self.schema.exact && !(isEntry && $0.name.exact == KeyringEntry.title.exact)
        }
    }

    /// The part of the item that `holds` compares.
    var comparable: ServiceItem { ServiceItem(label: label, attributes: free, type: kind) }

    /// True if it has the attributes that KeePassXC gives to every entry of a database.
    package var isEntry: Bool { KeyringEntry.isEntry(attributes.map(\.name)) }

    /// The attributes that identify the item.
    package var identifying: [ServiceAttribute] {
        isEntry ? attributes.filter { KeyringEntry.identifies($0.name, $0.value) } : attributes
    }

    /// The attributes that KeePassXC allows others to set.
    var settableInEntry: [ServiceAttribute] {
        attributes.filter { ![KeyringEntry.path, KeyringEntry.uuid, KeyringEntry.mediaType].contains($0.name) }
    }

    /// The item in the form by which its entry in KeePassXC is identified.
    var asEntry: ServiceItem {
        guard !isEntry else { return self }
        var entry = self
        entry.attributes.removeAll { [KeyringEntry.title, KeyringEntry.path, KeyringEntry.uuid].contains($0.name) }
        entry.attributes += [KeyringEntry.title, KeyringEntry.path, KeyringEntry.uuid].map {
            ServiceAttribute(name: $0, value: $0 == KeyringEntry.title ? label : "")
        }
        entry.attributes.sort()
        return entry
    }

    /// The item with its schema as an attribute, for a service that stores only attributes.
    var withSchemaAmongAttributes: ServiceItem {
        guard let type, self[Self.schema] == nil else { return self }
        return ServiceItem(
            label: label, attributes: attributes + [ServiceAttribute(name: Self.schema, value: type)],
            contentType: contentType, created: created, modified: modified)
    }

    /// The form in which a service of this kind can hold the item.
    func form(in kind: SecretServiceClient.Kind) -> ServiceItem {
        switch kind {
        case .keePassXC: withSchemaAmongAttributes
        case .kWallet: asWalletEntry
        case .other: self
        }
    }

    /// The item as KWallet can hold it: entries have names, and passwords of KDE's own programs are text without
    /// attributes.
    var asWalletEntry: ServiceItem {
        // The generic schema means that there is none of its own, and does not become an attribute.
        var entry = type == KeyringIdentity.genericSchema ? self : withSchemaAmongAttributes
        entry.label = Self.walletLabel(label)
        if attributes.isEmpty, contentType == ServiceMapping.contentTypeOfBytes {
            entry.contentType = ServiceMapping.usualContentType
        }
        return entry
    }

    // The folder of entries whose label does not name one.
    private static let walletFolder = "Secret Service/"

    /// The label that KWallet reports for an entry with this one; it numbers entries of the same name with a suffix.
    private static func walletLabel(_ label: String) -> String {
        var name = (label.exact.removingPrefix(walletFolder).flatMap { $0.isEmpty ? nil : $0 } ?? label)[...]
        if name.exact.hasSuffix("_") {
            let stem = name.dropLast().reversed().drop { $0.isASCII && $0.isNumber }.reversed()
            if stem.count < name.count - 1, stem.suffix(2) == ["_", "_"] { name = name.prefix(stem.count - 2) }
        }
        return name.isEmpty ? "no label" : String(name)
    }

    /// The schema, however it is stored; nil if it is the generic one or missing.
    private var kind: String? {
        let kind = self[Self.schema] ?? type
        return kind == KeyringIdentity.genericSchema ? nil : kind
    }
}

/// Identifies a collection by what survives a move to another machine.
package struct CollectionName: Hashable, Sendable {
    /// The name that people see.
    package var label: String
    /// 0 for the first collection of this label, 1 for the next one.
    package var number = 0

    /// Names a collection.
    package init(label: String, number: Int = 0) {
        self.label = label
        self.number = number
    }

    /// True if the label has these bytes; `==` would also accept another Unicode form.
    func hasLabel(_ label: String) -> Bool { self.label.utf8.elementsEqual(label.utf8) }

    /// Equal when the bytes of the labels are.
    package static func == (left: CollectionName, right: CollectionName) -> Bool {
        left.number == right.number && left.hasLabel(right.label)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in label.utf8 { hasher.combine(byte) }
        hasher.combine(number)
    }
}

/// A collection as the service lists it.
struct ServiceCollection {
    let path: String
    let name: CollectionName
    let isDefault: Bool
    var isLocked: Bool
    /// The object paths of its items, in order of creation.
    var items: [String]
}

/// An item that was read, with its place.
struct FoundItem {
    let path: String
    let collection: Int
    var item: ServiceItem
    /// The position of its secret among all secrets.
    var secret: Range<Int>
}

/// An item or a collection that could not be read.
package enum Unreadable: Hashable, Sendable {
    /// A locked collection, with the number of items that the service reports.
    case lockedCollection(label: String, items: Int)
    /// A locked item in a collection that is not locked.
    case lockedItem(collection: String, label: String)
    /// An item that shows hashes in place of its attributes, although it is not locked.
    case hashedItem(collection: String, label: String)
    /// An item with several attributes of one name.
    case attributeTwice(label: String)
    /// An item that the service lists, but does not return; named by its label or, if that is unknown, by its path.
    case missingItem(collection: String, item: String)
    /// A collection that the service lists, but does not return.
    case missingCollection(path: String)
    /// An item that is too large for a backup, or has something that no item can have.
    case unfit(label: String)
}

/// The collections to be used.
package enum ServiceScope: Hashable, Sendable {
    /// All collections, except that of the session, which ends with the session.
    case all
    /// The collection with this label or, if there is none, with this alias.
    case collection(String)
}

/// Everything that a Secret Service holds, read at once: collections, items, and secrets in wiped memory.
package final class ServiceContents {
    let collections: [ServiceCollection]
    let items: [FoundItem]
    let secrets: SecretBytes
    /// The items and collections that could not be read.
    package let unreadable: [Unreadable]
    /// The number of items that were left out because they end with the session.
    package let ofSession: Int

    init(
        _ collections: [ServiceCollection], _ items: [FoundItem], _ secrets: consuming SecretBytes,
        _ unreadable: [Unreadable], ofSession: Int
    ) {
        self.collections = collections
        self.items = items
        self.secrets = secrets
        self.unreadable = unreadable
        self.ofSession = ofSession
    }

    /// True if an item has this secret.
    func hasSecret(_ secret: borrowing SecretBytes, _ found: FoundItem) -> Bool {
        let range = found.secret
        guard secret.count == range.count else { return false }
        return secrets.withBytes { bytes in
            secret.withBytes { other in
                var difference: UInt8 = 0
                for index in other.indices { difference |= other[index] ^ bytes[range.lowerBound + index] }
                return difference == 0
            }
        }
    }
}

extension SecretServiceClient {
    /// The collections that the service lists.
    struct Listing {
        var collections: [ServiceCollection] = []
        /// The number of items that end with the session.
        var ofSession = 0
        /// The paths of collections that answered as if they had been deleted.
        var gone: Set<ExactText> = []
    }
}
