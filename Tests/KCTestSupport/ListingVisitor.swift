package import KCByteStreams
package import KCKeychainModel
internal import Testing

/// Collects the items of a source, and their secrets as text.
package struct ListingVisitor: ItemVisitor {
    private let wanted: (Item) -> Bool
    /// The items, in the order of the source.
    package private(set) var items: [Item] = []
    /// Their secrets; bytes that are not UTF-8 are replaced.
    package private(set) var secrets: [String] = []

    /// Collects the items for which `wanted` returns true.
    package init(wanted: @escaping (Item) -> Bool = { _ in true }) {
        self.wanted = wanted
    }

    package mutating func wants(_ item: Item) -> Bool { wanted(item) }

    package mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        items.append(item)
        secrets.append(secret.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) })
    }

    package mutating func skip(damaged item: Item?) { Issue.record("nothing is damaged") }
}
