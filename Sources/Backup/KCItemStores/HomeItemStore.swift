package import KCBackupArchive
internal import KCByteStreams
package import KCHomeFiles
internal import KCItemSources
package import KCKeychainModel

/// The files of a home that hold secrets, as a store of items: each file is one.
package struct HomeItemStore: ReadableStore {
    package let identity: String
    package let contents: HomeContents
    private let missing: [String]
    private let leftCount: Int

    /// - Parameters:
    ///   - identity: the path of the home.
    ///   - isForArchive: true if what stays in the home by a rule, and should be in an archive, is missing.
    package init(_ contents: HomeContents, identity: String, isForArchive: Bool) {
        self.contents = contents
        self.identity = identity
        let left = isForArchive ? contents.missed.map(\.path) : []
        missing = contents.unread.map(\.path) + left
        leftCount = left.count
    }

    package var unread: UnreadItems {
        var unread = UnreadItems()
        unread.count = missing.count
        unread.names = missing
        unread.left = leftCount
        return unread
    }

    package func itemCount() -> Int { contents.items.count }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for _ in missing { try visitor.skip(damaged: nil) }
        try contents.items.visitItems(&visitor)
    }
}

extension HomeRoot {
    /// The name of the store as the user types it.
    package var storeName: String {
        switch self {
        case .home: "home:"
        case .credentials: "systemd-creds:"
        }
    }

    /// The kind that its archives record.
    package var sourceKind: String {
        switch self {
        case .home: ArchiveSource.homeFiles
        case .credentials: ArchiveSource.credentials
        }
    }

    /// The root whose store the user names; nil for any other name.
    package init?(storeName: String) {
        guard let root = Self.allCases.first(where: { $0.storeName.exact == storeName.exact }) else { return nil }
        self = root
    }

    /// The root from whose files an archive was made; nil for any other source.
    package init?(archived source: ArchiveSource) {
        guard let root = Self.allCases.first(where: { $0.sourceKind.exact == source.kind.exact }) else { return nil }
        self = root
    }
}
