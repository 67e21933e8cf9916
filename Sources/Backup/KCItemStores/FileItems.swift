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
