/// The limits of one item and of a keychain; everything read from a file is checked against them first.
package enum ItemLimits {
    /// Bytes of one secret: Apple's tests store up to 20 MB, but nothing that belongs in a keychain comes close.
    package static let secretSize = 16 << 20
    /// Bytes of one attribute's value.
    package static let attributeSize = 64 << 10
    /// Bytes of all attribute values of an item, including free attributes.
    package static let attributesSize = 1 << 20
    /// Free attributes (those without a column) of one item.
    package static let extraCount = 256
    /// Items of a keychain or archive; a higher count is rejected.
    package static let itemCount = 10_000_000
    /// Bytes of one metadata line: `attributesSize` in the worst escaping (six bytes for one) and the names around it.
    package static let metadataLineSize = 6 * attributesSize + (64 << 10)
    /// Bytes of one secrets line: `secretSize` and its seal in base64, and the names around it.
    package static let secretLineSize = (secretSize + 1024) / 3 * 4 + 1024
}
