package import KCByteStreams
package import KCKeychainModel

/// Collects items that are to be named later, in archive order, each with a number that says something about it.
///
/// However many and large the items are, few bytes of them are in memory: the others wait in an encrypted file without a
/// name. Items that come in archive order are written there and read back as one run.
///
/// ```swift
/// let log = ItemLog(spoolingIn: folder)
/// for item in items { try log.add(item) }
/// try log.finish().forEach { item, number in … }
/// ```
package final class ItemLog {
    private let folder: String
    private let limit: Int
    private var held = PackedItems()
    private var places: [PackedItems.Place] = []
    private var spool: SealedSpool?
    private var runs: [SortedRun] = []
    /// The last item of the run that is being written, up to its key; empty if there is none.
    private var last = SecretBytes(capacity: 0)
    /// How many items there are.
    package private(set) var count = 0
    /// The most bytes of items that were in memory at a time.
    package private(set) var mostHeld = 0

    /// Starts without items.
    ///
    /// - Parameters:
    ///   - folder: where the encrypted file is made, if one is needed.
    ///   - limit: how many bytes of packed items are held: more than those of a keychain of ten thousand items.
    package init(spoolingIn folder: String, limit: Int = 4 << 20) {
        self.folder = folder
        self.limit = limit
    }

    /// Adds an item.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package func add(_ item: Item, number: Int = 0) throws { try append(item, number, nil) }

    /// Adds an item with its secret; both come back.
    ///
    /// - Throws: as `add(_:number:)`.
    package func add(_ item: Item, number: Int, secret: borrowing SecretBytes) throws {
        try append(item, number, secret.copy())
    }

    private func append(_ item: Item, _ number: Int, _ secret: borrowing SecretBytes?) throws {
        places.append(held.append(item, number: number, key: PackedItem.key(of: item), secret: secret))
        count += 1
        mostHeld = max(mostHeld, held.size)
        if held.size > limit { try writeHeld() }
    }

    /// All items that were added, after which the log is empty.
    ///
    /// - Throws: as `add(_:number:)`.
    package func finish() throws -> ListedItems {
        if let spool, !last.isEmpty { runs.append(.spooled(try spool.endPiece())) }
        if !places.isEmpty { runs.append(.held(takeHeld())) }
        let items = ListedItems(CollectedItems(runs, count: count))
        (runs, spool, count) = ([], nil, 0)
        last.removeAll()
        return items
    }

    private func takeHeld() -> HeldRun {
        var items = PackedItems()
        swap(&items, &held)
        let readable = items.finish()
        var sorted = places
        places = []
        sorted.sort { readable.precedes($0, $1) }
        return HeldRun(items: readable, places: sorted)
    }

    private func writeHeld() throws {
        let run = takeHeld()
        let spool = try self.spool ?? SealedSpool(inFolder: folder)
        self.spool = spool
        let continues = run.items.withBytes(of: run.places[0]) { first in
            last.withBytes { last in last.isEmpty || PackedItem.compareKeys(last, first) <= 0 }
        }
        if !continues { runs.append(.spooled(try spool.endPiece())) }
        for place in run.places {
            try run.items.withBytes(of: place) { bytes in try spool.write(bytes.extracting(..<PackedItem.size(bytes))) }
        }
        last.removeAll()
        run.items.withBytes(of: run.places[run.places.count - 1]) { bytes in
            last.append(bytes.extracting(..<PackedItem.keyRange(in: bytes).upperBound))
        }
    }
}

/// The items of a log, in archive order.
package struct ListedItems: Sendable {
    let items: CollectedItems

    /// No items.
    package static let none = ListedItems(CollectedItems([], count: 0))

    fileprivate init(_ items: CollectedItems) { self.items = items }

    /// How many items there are.
    package var count: Int { items.count }

    package var isEmpty: Bool { count == 0 }

    /// True if all items are in memory.
    package var isHeld: Bool { items.runs.allSatisfy { run in if case .held = run { true } else { false } } }

    /// Passes each item to `body` with its number, in archive order.
    ///
    /// - Throws: what `body` throws and, if there were too many items for the memory, `FileFailure`, `StreamFailure` and
    ///   `CryptographyFailure`.
    package func forEach(_ body: (_ item: Item, _ number: Int) throws -> Void) throws {
        try forEachSecret { item, number, _ in try body(item, number) }
    }

    /// Passes each item to `body` with its number and its secret, which is empty if it has none.
    ///
    /// - Throws: as `forEach`.
    package func forEachSecret(
        _ body: (_ item: Item, _ number: Int, _ secret: borrowing Span<UInt8>) throws -> Void
    ) throws {
        var builder = AttributesBuilder()
        try items.forEachRecord { record in
            let (item, secret) = PackedItem.decode(record, &builder)
            // An item that was added without its secret ends where the secret would begin.
            try body(item, PackedItem.number(record), record.extracting(secret.lowerBound...))
        }
    }

    /// The UUIDs of all items.
    ///
    /// - Throws: as `forEach`.
    package func uuids() throws -> Set<ItemUUID> {
        var uuids: Set<ItemUUID> = []
        try items.forEachRecord { uuids.insert(PackedItem.uuid($0)) }
        return uuids
    }

    /// The first items as they are named, so that large ones need little memory, with their numbers.
    ///
    /// - Parameters:
    ///   - count: how many at most.
    ///   - isIncluded: which numbers count.
    /// - Throws: as `forEach`.
    package func named(
        first count: Int, where isIncluded: (Int) -> Bool = { _ in true }
    ) throws -> [(item: Item, number: Int)] {
        var builder = AttributesBuilder()
        var named: [(item: Item, number: Int)] = []
        var merge = try RunMerge(items.runs)
        while named.count < count, let run = merge.first {
            run.withRecord { record in
                let number = PackedItem.number(record)
                if isIncluded(number) { named.append((PackedItem.decode(record, &builder).item.shortened(), number)) }
            }
            try merge.advance()
        }
        return named
    }
}
