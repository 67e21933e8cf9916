internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// The contents of a Secret Service, as the source of a backup.
package struct ServiceSource: ItemSource {
    private let items: CollectedItems
    /// The items and collections that could not be read.
    package let unreadable: [Unreadable]
    /// The labels of items that fit into an archive, but not into a state with `keepsAll`.
    package let unkept: [String]
    /// The collections that were read, and those that are locked.
    package let collections: [CollectionSummary]

    /// Puts the items of a service in archive order.
    ///
    /// An item that exceeds a limit counts as unreadable.
    ///
    /// - Parameter keepsAll: true for a state that never leaves this device, which also needs the items that are in no
    ///   archive.
    package init(_ contents: ServiceContents, keepsAll: Bool = false) {
        var unreadable = contents.unreadable
        var unkept: [String] = []
        var collection = ItemCollection(date: .reference)
        for (found, draft) in contents.drafts {
            do throws(ItemProblem) {
                try contents.secrets.withBytes { bytes throws(ItemProblem) in
                    try collection.add(draft, secret: SecretBytes(bytes.extracting(found.secret)), isForState: keepsAll)
                }
            } catch {
                let label = found.item.label
                unreadable.append(error == .extraOutOfOrder ? .attributeTwice(label: label) : .unfit(label: label))
                if draft.isFit(found.secret.count) { unkept.append(label) }
            }
        }
        do throws(ItemCollection.Clash) {
            items = try collection.finish()
        } catch {
            preconditionFailure("the items of a service have keys of their own")
        }
        self.unreadable = unreadable
        self.unkept = unkept
        collections = contents.collections.enumerated().map { index, collection in
            CollectionSummary(
                name: collection.name, isDefault: collection.isDefault, isLocked: collection.isLocked,
                items: collection.isLocked
                    ? collection.items.count : contents.items.count { $0.collection == index })
        }
    }

    private init(_ items: CollectedItems) {
        self.items = items
        unreadable = []
        unkept = []
        collections = []
    }

    /// The source without what could not be read, for a state to be restored into what could be read.
    package var readable: ServiceSource { ServiceSource(items) }

    /// How many items there are.
    package var count: Int { items.count }

    /// The minimum number of items that could not be read.
    package var unreadableCount: Int {
        unreadable.reduce(0) { count, entry in
            // The number of items in a locked collection is uncertain, but the backup is certainly incomplete.
            guard case .lockedCollection(_, let items) = entry else { return count + 1 }
            return count + max(items, 1)
        }
    }

    /// The labels of the collections that are locked, or hold a locked item.
    package var lockedCollections: [String] { Self.lockedCollections(unreadable) }

    static func lockedCollections(_ unreadable: [Unreadable]) -> [String] {
        var labels: [String] = []
        for entry in unreadable {
            switch entry {
            case .lockedCollection(let label, _) where !labels.contains(label),
                .lockedItem(let label, _) where !labels.contains(label):
                labels.append(label)
            default: continue
            }
        }
        return labels
    }

    /// The labels of the items that could not be read in open collections.
    package var unreadableLabels: [String] {
        unreadable.compactMap { entry in
            switch entry {
            case .lockedItem(_, let label), .hashedItem(_, let label), .attributeTwice(let label),
                .missingItem(_, let label), .unfit(let label):
                label
            default: nil
            }
        }
    }

    /// Visits every item, after reporting those that could not be read; see `ItemSource`.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for _ in 0..<unreadableCount { try visitor.skip(damaged: nil) }
        try items.visitItems(&visitor)
    }
}

/// The main properties of a collection.
package struct CollectionSummary: Hashable, Sendable {
    let name: CollectionName
    /// The name that people see.
    package var label: String { name.label }
    /// True for the collection of items that name none.
    package let isDefault: Bool
    package let isLocked: Bool
    /// The number of its items, as far as the service reports it.
    package let items: Int
}

extension ServiceContents {
    /// Each item with its form in a keychain.
    var drafts: [(FoundItem, ItemDraft)] {
        let ordinals = KeyringIdentity.ordinals(
            of: items.map { found in
                let place = collections[found.collection].name
                return (
                    ServiceMapping.identity(of: found.item, in: place, ordinal: 0).key, Array(found.item.label.utf8)
                )
            })
        return zip(items, ordinals).map { found, ordinal in
            let collection = collections[found.collection]
            return (
                found,
                ServiceMapping.draft(
                    of: found.item, in: collection.name, isDefault: collection.isDefault, ordinal: ordinal)
            )
        }
    }
}

extension ItemDraft {
    /// True if an item can be like this.
    fileprivate func isFit(_ secretSize: Int) -> Bool {
        do throws(ItemProblem) {
            _ = try completed(now: .reference, secretSize: secretSize)
            return true
        } catch {
            return false
        }
    }
}
