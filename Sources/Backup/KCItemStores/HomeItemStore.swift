package import KCHomeFiles
internal import KCItemSources
package import KCKeychainModel

/// The files of a home that hold secrets, as a store of items: each file is one.
package struct HomeItemStore: ReadableStore {
    package let identity: String
    package let contents: HomeContents

    /// - Parameter identity: the path of the home.
    package init(_ contents: HomeContents, identity: String) {
        self.contents = contents
        self.identity = identity
    }

    package var unread: UnreadItems {
        var unread = UnreadItems()
        unread.count = contents.unread.count
        unread.names = contents.unread.map(\.path)
        return unread
    }

    package func itemCount() -> Int { contents.items.count }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for _ in contents.unread { try visitor.skip(damaged: nil) }
        try contents.items.visitItems(&visitor)
    }
}

/// The files of a home, as named by the user.
package enum HomeName {
    /// The name as the user types it.
    package static let name = "home:"
}
