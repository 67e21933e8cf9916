internal import ByteStreams
internal import ItemSources
package import KeychainModel

/// What a Secret Service holds, as the source of a backup.
package struct ServiceSource: ItemSource {
    private let items: CollectedItems
    /// What could not be read.
    package let unreadable: [Unreadable]
    /// The collections that were read, and those that are locked.
    package let collections: [CollectionSummary]

    /// Puts the items of a service in archive order.
    ///
    /// An item that is over a limit is unreadable.
    package init(_ contents: ServiceContents) {
        var unreadable = contents.unreadable
        var collection = ItemCollection(date: .reference)
        for (found, draft) in contents.drafts {
            do throws(ItemProblem) {
                try contents.secrets.withBytes { bytes throws(ItemProblem) in
                    try collection.add(draft, secret: SecretBytes(bytes.extracting(found.secret)))
                }
            } catch {
                unreadable.append(.unfit(label: found.item.label))
            }
        }
        do throws(ItemCollection.Clash) {
            items = try collection.finish()
        } catch {
            preconditionFailure("the items of a service have keys of their own")
        }
        self.unreadable = unreadable
        collections = contents.collections.enumerated().map { index, collection in
            CollectionSummary(
                label: collection.name.label, isDefault: collection.isDefault, isLocked: collection.isLocked,
                items: collection.isLocked
                    ? collection.items.count : contents.items.count { $0.collection == index })
        }
    }

    private init(_ items: CollectedItems) {
        self.items = items
        unreadable = []
        collections = []
    }

    /// The same without what could not be read, for a state that is brought back into what could be.
    package var readable: ServiceSource { ServiceSource(items) }

    /// How many items there are.
    package var count: Int { items.count }

    /// How many items could not be read, at least.
    package var unreadableCount: Int {
        unreadable.reduce(0) { count, entry in
            // How many are in a locked collection is not certain; that the backup is incomplete is.
            guard case .lockedCollection(_, let items) = entry else { return count + 1 }
            return count + max(items, 1)
        }
    }

    /// Visits every item, and what could not be read before; see `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for _ in 0..<unreadableCount { try visitor.skip(damaged: nil) }
        try items.visitItems(&visitor)
    }
}

/// What a collection is.
package struct CollectionSummary: Hashable, Sendable {
    /// What people read.
    package let label: String
    /// True if items that name no collection go there.
    package let isDefault: Bool
    package let isLocked: Bool
    /// How many items it has, as far as the service tells.
    package let items: Int
}

extension ServiceContents {
    /// Each item with what it is in a keychain.
    var drafts: [(FoundItem, ItemDraft)] {
        var ordinals: [[UInt8]: Int] = [:]
        return items.map { found in
            let collection = collections[found.collection]
            let key = ServiceMapping.identity(of: found.item, in: collection.name, ordinal: 0).key
            let ordinal = ordinals[key, default: 0]
            ordinals[key] = ordinal + 1
            return (
                found,
                ServiceMapping.draft(
                    of: found.item, in: collection.name, isDefault: collection.isDefault, ordinal: ordinal)
            )
        }
    }
}
