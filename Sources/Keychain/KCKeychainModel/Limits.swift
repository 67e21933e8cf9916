/// The limits of one item and of a keychain; everything read from a file is checked against them first.
package enum ItemLimits {
    /// The size of a secret in bytes: Apple's tests store up to 20 MB, but nothing that belongs in a keychain comes
    /// close.
    package static let secretSize = 16 << 20
    /// The size of an attribute's value in bytes.
    package static let attributeSize = 64 << 10
    /// The total size of an item's attribute values in bytes, including free attributes.
    package static let attributesSize = 1 << 20
    /// The number of free attributes (those without a column) of an item.
    package static let extraCount = 256
    /// The number of items in a keychain or archive; a higher count is rejected.
    package static let itemCount = 10_000_000
    /// The size of a metadata line in bytes: `attributesSize` with the worst escaping (six bytes for one), and the
    /// names.
    package static let metadataLineSize = 6 * attributesSize + (64 << 10)
    /// The size of a secrets line in bytes: `secretSize` and its seal in base64, and the names.
    package static let secretLineSize = (secretSize + 1024) / 3 * 4 + 1024
}
