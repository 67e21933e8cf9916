internal import KCByteStreams
package import KCItemSources
package import KCKeychainModel

/// The items of a file or folder, as they were read.
package struct FileItems: ReadableStore {
    package let identity: String
    private let contents: ForeignContents

    package init(_ contents: ForeignContents, identity: String) {
        self.contents = contents
        self.identity = identity
    }

    package var unread: UnreadItems {
        var unread = UnreadItems()
        unread.count = contents.refused.count
        unread.names = contents.refused.map(\.name)
        return unread
    }

    package func itemCount() -> Int { contents.items.count }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try contents.visitItems(&visitor) }
}

extension FileItems {
    /// The items, of which those that have the date of the file are older than any other.
    ///
    /// Records without dates have that of their file, which says nothing about when they were changed.
    package func undated(_ date: Timestamp) -> some ItemSource { UndatedItems(items: self, date: date) }
}

/// Items of which those with one date have none that counts.
private struct UndatedItems: ItemSource {
    let items: FileItems
    let date: Timestamp

    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        var dating = DatingVisitor(visitor: visitor, date: date)
        try items.visitItems(&dating)
        visitor = dating.visitor
    }
}

private struct DatingVisitor<Visitor: ItemVisitor>: ItemVisitor {
    var visitor: Visitor
    let date: Timestamp

    private func dated(_ item: Item) throws(ItemProblem) -> Item {
        // A record with a date of its own rarely has that of the file in both places.
        guard item.created == date, item.modified == date else { return item }
        var attributes = item.attributes
        attributes[.mdat] = .date(.reference)
        return try Item(
            itemClass: item.itemClass, uuid: item.uuid, attributes: attributes, extra: item.extra,
            secretSize: item.secretSize)
    }

    mutating func wants(_ item: Item) throws -> Bool { try visitor.wants(dated(item)) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        let dated = try dated(item)
        var line = SecretBytes(capacity: 1_024)
        ItemLine.encode(dated, into: &line)
        try line.withBytes { line in try visitor.take(dated, line: line, secret: secret) }
    }

    mutating func skip(damaged item: Item?) throws { try visitor.skip(damaged: item) }
}
