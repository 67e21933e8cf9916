internal import Cryptography
package import KeychainModel

/// Which item of a keyring it is: the same for the living keyring, for its file, and in every backup.
///
/// It follows from the keyring's label and the attributes, or the item's label where it has none. A schema counts however a keyring keeps it: GNOME Keyring
/// writes a number for those that it knows, and gives the attribute `xdg:schema` when it reads its file again.
package struct KeyringIdentity: Hashable, Sendable {
    /// The value of `musr`: 16 bytes of a hash, and four of the ordinal where another item of the keyring has the same
    /// attributes.
    package let key: [UInt8]

    /// The attribute that names a schema.
    package static let schema = "xdg:schema"
    /// What GNOME Keyring calls an item that has no schema of its own.
    package static let genericSchema = "org.freedesktop.Secret.Generic"

    /// Identifies an item.
    ///
    /// - Parameters:
    ///   - number: the how-manieth keyring of this label it is in, from 0.
    ///   - attributes: in any order, without those of kcbackup itself.
    ///   - type: the schema, where the attributes do not name it.
    ///   - itemLabel: the label of the item.
    package init(
        keyring label: String, number: Int = 0, attributes: [(name: String, value: String)], type: String?,
        label itemLabel: AttributeValue, ordinal: Int = 0
    ) {
        var texts = ["kcbackup Secret Service item", label, String(number)].map { Array($0.utf8) }
        let schema = attributes.first { $0.name == Self.schema }?.value ?? type
        var counted = attributes.filter { $0.name != Self.schema }
        // Those of KDE's own programs: with their order alone, the one behind a deleted item would be taken for it.
        if counted.isEmpty, let label = itemLabel.keyBytes { texts += [Array("label".utf8), label] }
        if let schema, schema != Self.genericSchema { counted.append((Self.schema, schema)) }
        for (name, value) in counted.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            texts += [Array(name.utf8), Array(value.utf8)]
        }
        var hash = SHA256()
        for text in texts {
            hash.update(Array("\(text.count)\n".utf8).span)
            hash.update(text.span)
        }
        let digest = Array(hash.finalize().bytes.prefix(16))
        key =
            digest
            + (ordinal == 0
                ? [] : stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: ordinal >> $0) })
    }

    /// The UUID that follows from the key.
    package var uuid: ItemUUID {
        var hash = SHA256()
        hash.update(Array("kcbackup Secret Service UUID\n".utf8).span)
        hash.update(Array(key.prefix(16)).span)
        return ItemUUID(derivedFrom: hash.finalize().bytes)
            .with(ordinal: UInt32(truncatingIfNeeded: Self.ordinal(ofKey: key)))
    }

    /// The ordinal in a key.
    package static func ordinal(ofKey key: [UInt8]) -> Int {
        key.count == 20 ? key.suffix(4).reduce(0) { $0 << 8 | Int($1) } : 0
    }
}
