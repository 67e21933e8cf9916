package import KCByteStreams

/// Collects the items that pass a filter, without their secrets.
package struct MatchingItems: ItemVisitor {
    private let filter: ItemFilter?
    package private(set) var items: [Item] = []

    package init(_ filter: ItemFilter?) {
        self.filter = filter
    }

    package mutating func wants(_ item: Item) -> Bool {
        if filter?.matches(item) ?? true { items.append(item) }
        return false
    }

    package func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        preconditionFailure("no secret was wanted")
    }

    /// Does nothing: what cannot be read was reported when the source was read.
    package func skip(damaged item: Item?) {}
}
