internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Identifies an item of a keyring; the same in the running keyring, in its file and in every backup.
///
/// The identity is derived from the keyring's label and the item's attributes, or the item's label if it has none. The
/// schema counts no matter how a keyring stores it: GNOME Keyring writes a number for the schemas that it knows, and
/// returns the attribute `xdg:schema` after it reads its file again.
package struct KeyringIdentity: Hashable, Sendable {
    /// The value of `musr`: 16 bytes of a hash, and four bytes of the ordinal if an earlier item of the keyring has the
    /// same attributes.
    package let key: [UInt8]

    /// The attribute that names a schema.
    package static let schema = "xdg:schema"
    /// GNOME Keyring's name for the schema of an item that has none of its own.
    package static let genericSchema = "org.freedesktop.Secret.Generic"

    /// Identifies an item.
    ///
    /// - Parameters:
    ///   - number: the index of the keyring among those with this label, from 0.
    ///   - attributes: in any order, without kcbackup's own.
    ///   - type: the schema, if the attributes do not name it.
    ///   - itemLabel: the label of the item.
    package init(
        keyring label: String, number: Int = 0, attributes: [(name: String, value: String)], type: String?,
        label itemLabel: AttributeValue, ordinal: Int = 0
    ) {
        var texts = ["kcbackup Secret Service item", label, String(number)].map { Array($0.utf8) }
        let schema = attributes.first { $0.name.exact == Self.schema.exact }?.value ?? type
        var counted = attributes.filter { $0.name.exact != Self.schema.exact }
        // Items of KDE's own programs have no attributes. If only their order told them apart, the item after a deleted
        // one would be mistaken for it.
        // An attribute adds a name and a value, so a single text cannot be mistaken for one.
        if counted.isEmpty, let label = itemLabel.keyBytes { texts.append(label) }
        if let schema, schema != Self.genericSchema { counted.append((Self.schema, schema)) }
        for (name, value) in counted.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            texts += [Array(name.utf8), Array(value.utf8)]
        }
        var hash = SHA256()
        for text in texts {
            hash.update(Array("\(text.count)\n".utf8).span)
            hash.update(text.span)
        }
        key = Self.key(Array(hash.finalize().bytes.prefix(Self.digestSize)), ordinal: ordinal)
    }

    private init(key: [UInt8]) {
        self.key = key
    }

    /// The identity of an item of a keyring; nil for any other item.
    package init?(of item: Item) {
        guard case .data(let key) = item.attributes[.musr], [Self.digestSize, Self.digestSize + 4].contains(key.count)
        else { return nil }
        self.init(key: key)
        guard uuid.with(ordinal: 0) == item.uuid.with(ordinal: 0) else { return nil }
    }

    /// The identity of the item with another ordinal among those with the same attributes.
    package func with(ordinal: UInt32) -> KeyringIdentity {
        KeyringIdentity(key: Self.key(Array(key.prefix(Self.digestSize)), ordinal: Int(ordinal)))
    }

    private static let digestSize = 16

    private static func key(_ digest: [UInt8], ordinal: Int) -> [UInt8] {
        let number = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: ordinal >> $0) }
        return digest + (ordinal == 0 ? [] : number)
    }

    /// The UUID derived from the key.
    package var uuid: ItemUUID {
        var hash = SHA256()
        hash.update(Array("kcbackup Secret Service UUID\n".utf8).span)
        hash.update(Array(key.prefix(Self.digestSize)).span)
        return ItemUUID(derivedFrom: hash.finalize().bytes)
            .with(ordinal: UInt32(truncatingIfNeeded: Self.ordinal(ofKey: key)))
    }

    /// The ordinal in a key.
    package static func ordinal(ofKey key: [UInt8]) -> Int {
        key.count == digestSize + 4 ? key.suffix(4).reduce(0) { $0 << 8 | Int($1) } : 0
    }
    /// Numbers the items of a keyring: those with the same key from 0, by label, then in the given order.
    ///
    /// - Parameter items: in the order of creation.
    package static func ordinals(of items: [(key: [UInt8], label: [UInt8])]) -> [Int] {
        var places: [[UInt8]: [Int]] = [:]
        for (index, item) in items.enumerated() { places[item.key, default: []].append(index) }
        var ordinals = Array(repeating: 0, count: items.count)
        for places in places.values where places.count > 1 {
            let ordered = places.sorted { one, other in
                let (left, right) = (items[one].label, items[other].label)
                return left == right ? one < other : left.lexicographicallyPrecedes(right)
            }
            for (ordinal, index) in ordered.enumerated() { ordinals[index] = ordinal }
        }
        return ordinals
    }
}
