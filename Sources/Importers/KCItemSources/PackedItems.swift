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

    /// The size of all items in bytes.
    private(set) var size = 0

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - number: what an error calls it.
    ///   - key: the result of `PackedItem.key(of:)`.
    mutating func append(_ item: Item, number: Int, key: [UInt8], secret: borrowing SecretBytes?) -> Place {
        PackedItem.encode(item, number: number, key: key, secret: secret, into: &record)
        let beginning = PackedItem.beginning(of: key)
        var packed = SecretBytes(capacity: 0)
        swap(&packed, &record)
        defer { swap(&packed, &record) }
        return packed.withBytes { append($0, beginning: beginning) }
    }

    /// Adds an item that is packed already.
    ///
    /// - Parameter beginning: the result of `PackedItem.beginning(of:)`.
    mutating func append(_ packed: borrowing Span<UInt8>, beginning: UInt64) -> Place {
        size += packed.count
        if last.capacity - last.count < packed.count { startChunk(of: packed.count) }
        let offset = last.count
        last.append(packed)
        return Place(beginning: beginning, chunk: UInt32(full.count), offset: UInt32(offset))
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
            size -= last.count - Int(place.offset)
            last.removeLast(last.count - Int(place.offset))
        } else {
            // The bytes of that chunk stay, and count, until all items go.
            size -= last.count
            for later in full[(chunk + 1)...] { size -= later.bytes.count }
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
        withBytes(of: one) { one in withBytes(of: other) { other in PackedItem.compareKeys(one, other) } }
    }
}
