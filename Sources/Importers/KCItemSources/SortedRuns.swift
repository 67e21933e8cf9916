internal import KCByteStreams
internal import KCKeychainModel

/// Packed items in archive order.
enum SortedRun: Sendable {
    /// In memory.
    case held(HeldRun)
    /// In an encrypted file.
    case spooled(SealedSpool.Piece)
}

/// Packed items in memory, in archive order.
struct HeldRun: Sendable {
    let items: ReadablePackedItems
    let places: [PackedItems.Place]

    /// The number by which an error names the item at a place.
    func number(_ place: PackedItems.Place) -> Int { items.withBytes(of: place) { PackedItem.number($0) } }
}

/// Reads the packed items of a run one after the other.
final class RunReader {
    private enum Source {
        case held(HeldRun)
        case spooled(SealedSpool.Reader)
    }

    private let source: Source
    /// The number of items that were read.
    private var count = 0
    private var record = SecretBytes(capacity: 1_024)

    /// Starts before the first item.
    init(_ run: SortedRun) throws {
        switch run {
        case .held(let held): source = .held(held)
        case .spooled(let piece): source = .spooled(try SealedSpool.Reader(piece))
        }
    }

    /// Moves to the next item; false if there is none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    func advance() throws -> Bool {
        record.removeAll()
        switch source {
        case .held(let held):
            if count == held.places.count { return false }
            held.items.withBytes(of: held.places[count]) { record.append($0.extracting(..<PackedItem.size($0))) }
        case .spooled(let reader):
            if reader.isAtEnd { return false }
            try reader.read(PackedItem.sizeOfSize, into: &record)
            let rest = record.withBytes { PackedItem.size($0) } - record.count
            try reader.read(rest, into: &record)
        }
        count += 1
        return true
    }

    /// Passes the item to `body`.
    func withRecord<Result: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result { try record.withBytes(body) }

    /// True if its item sorts before that of `other`.
    func precedes(_ other: RunReader) -> Bool {
        withRecord { one in other.withRecord { other in PackedItem.compareKeys(one, other) < 0 } }
    }
}

/// Merges runs: a heap of readers, whose first one has the item that comes next.
struct RunMerge {
    private var heap: [RunReader] = []

    /// Starts at the first item of all.
    init(_ runs: [SortedRun]) throws {
        for run in runs {
            let reader = try RunReader(run)
            if try reader.advance() { heap.append(reader) }
        }
        for index in heap.indices.reversed() { sink(index) }
    }

    /// The reader that has the next item; nil after the last one.
    var first: RunReader? { heap.first }

    /// Moves to the next item.
    mutating func advance() throws {
        if try !heap[0].advance() {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
        }
        sink(0)
    }

    /// Moves a reader down to where none below it precedes it.
    private mutating func sink(_ index: Int) {
        var index = index
        while true {
            var first = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].precedes(heap[first]) { first = child }
            }
            if first == index { return }
            heap.swapAt(index, first)
            index = first
        }
    }
}
