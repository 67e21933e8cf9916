internal import KCByteStreams
internal import KCKeychainModel

/// Packed items with their secrets, in pieces of wiped memory, which need not be copied when there are more.
struct PackedItems: ~Copyable {
    /// Where an item is.
    struct Place: Sendable {
        /// The first bytes of its key, with which most comparisons end.
        let beginning: UInt64
        let chunk: UInt32
        let offset: UInt32
    }

    /// A piece of memory that is full.
    final class Chunk: Sendable {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    private var full: [Chunk] = []
    private var last = SecretBytes(capacity: sizes.lowerBound)
    /// The item that is added.
    private var record = SecretBytes(capacity: 1_024)

    // From the one page that a secret has at least: small collections are made for single records.
    private static let sizes = 4_096...1 << 20

    init() {}

    /// Adds an item.
    ///
    /// - Parameter key: the result of `PackedItem.key(of:)`.
    mutating func append(_ item: Item, key: [UInt8], secret: borrowing SecretBytes?) -> Place {
        record.removeAll()
        PackedItem.encode(item, key: key, into: &record)
        switch secret {
        case .some(let secret): secret.withBytes { record.append($0) }
        case .none: break
        }
        if last.capacity - last.count < record.count { startChunk(of: record.count) }
        let offset = last.count
        record.withBytes { last.append($0) }
        let beginning = key.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Place(
            beginning: key.count < 8 ? beginning << (8 * (8 - key.count)) : beginning, chunk: UInt32(full.count),
            offset: UInt32(offset))
    }

    private mutating func startChunk(of size: Int) {
        var next = SecretBytes(capacity: max(size, min(Self.sizes.upperBound, last.capacity * 2)))
        swap(&next, &last)
        full.append(Chunk(next))
    }

    /// Removes an item and all that were added after it.
    mutating func removeAll(from place: Place) {
        let chunk = Int(place.chunk)
        if chunk == full.count {
            last.removeLast(last.count - Int(place.offset))
        } else {
            // What else is in that chunk stays until all items go.
            full.removeSubrange((chunk + 1)...)
            last.removeAll()
        }
    }

    /// Passes the bytes that begin with an item to `body`.
    func withBytes<Result: ~Copyable>(of place: Place, _ body: (borrowing Span<UInt8>) -> Result) -> Result {
        let offset = Int(place.offset)
        if place.chunk == full.count { return last.withBytes { body($0.extracting(offset...)) } }
        return full[Int(place.chunk)].bytes.withBytes { body($0.extracting(offset...)) }
    }

    /// All items, which no longer change.
    consuming func finish() -> ReadablePackedItems {
        full.append(Chunk(last))
        return ReadablePackedItems(chunks: full)
    }
}

/// Packed items that no longer change.
struct ReadablePackedItems: Sendable {
    fileprivate let chunks: [PackedItems.Chunk]

    /// Passes the bytes that begin with an item to `body`.
    func withBytes<Result: ~Copyable, E: Error>(
        of place: PackedItems.Place, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        let offset = Int(place.offset)
        return try chunks[Int(place.chunk)].bytes.withBytes { bytes throws(E) in
            try body(bytes.extracting(offset...))
        }
    }

    /// The item at a place.
    func item(at place: PackedItems.Place) -> Item { withBytes(of: place) { PackedItem.decode($0).item } }

    /// True if an item sorts before another.
    func precedes(_ one: PackedItems.Place, _ other: PackedItems.Place) -> Bool {
        if one.beginning != other.beginning { return one.beginning < other.beginning }
        return compareKeys(one, other) < 0
    }

    /// True if both items have the same unique key.
    func haveSameKey(_ one: PackedItems.Place, _ other: PackedItems.Place) -> Bool {
        one.beginning == other.beginning && compareKeys(one, other) == 0
    }

    /// Returns a negative number, 0 or a positive one.
    private func compareKeys(_ one: PackedItems.Place, _ other: PackedItems.Place) -> Int {
        withBytes(of: one) { one in
            withBytes(of: other) { other in
                let mine = one.extracting(PackedItem.keyRange(in: one))
                let theirs = other.extracting(PackedItem.keyRange(in: other))
                for index in 0..<min(mine.count, theirs.count) where mine[index] != theirs[index] {
                    return mine[index] < theirs[index] ? -1 : 1
                }
                return mine.count - theirs.count
            }
        }
    }
}
