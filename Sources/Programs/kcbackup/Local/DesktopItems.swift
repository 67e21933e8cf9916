internal import KCByteStreams
internal import KCKeychainModel
internal import KCSecretService

/// The items in the desktop keyring that a command works on.
struct DesktopItems {
    /// An item with its secret.
    final class Found {
        let item: Item
        let secret: SecretBytes

        init(_ item: Item, _ secret: consuming SecretBytes) {
            self.item = item
            self.secret = secret
        }
    }

    /// The items in archive order.
    let found: [Found]
    /// False if items of the keyring were left out, which was reported.
    let isComplete: Bool
    private let byUUID: [ItemUUID: Found]

    /// Reads the items that pass a filter; nil for all items.
    ///
    /// - Throws: `SecretServiceFailure`.
    init(
        _ keyring: DesktopKeyring, _ client: SecretServiceClient, _ filter: ItemFilter?, in session: Session
    ) throws {
        var visitor = FindingVisitor(filter: filter)
        let source = try keyring.read(client, missing: .ofList, in: session)
        try source.visitItems(&visitor)
        isComplete = source.unreadableCount == 0
        found = visitor.found
        byUUID = Dictionary(uniqueKeysWithValues: found.map { ($0.item.uuid, $0) })
    }

    var items: [Item] { found.map(\.item) }

    /// Returns the secret of an item.
    func secret(of item: Item) -> SecretBytes? { byUUID[item.uuid]?.secret.copy() }
}

private struct FindingVisitor: ItemVisitor {
    let filter: ItemFilter?
    private(set) var found: [DesktopItems.Found] = []

    init(filter: ItemFilter?) { self.filter = filter }

    func wants(_ item: Item) -> Bool { filter?.matches(item) ?? true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        found.append(DesktopItems.Found(item, secret.copy()))
    }

    /// `read` has already warned of it.
    func skip(damaged item: Item?) {}
}
