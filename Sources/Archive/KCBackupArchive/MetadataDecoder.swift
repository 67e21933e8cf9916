internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// Hashes and decodes the lines of batches, one batch at a time.
///
/// The decoder checks everything that can be checked without the secrets: order, UUIDs and counts.
final class MetadataDecoder {
    private let work: MetadataWork
    private let thread: BackgroundThread?
    private var isBusy = false

    // In bytes; decoding a line nests some twenty calls.
    private static let stackSize = 524_288

    /// Creates a decoder that has decoded nothing yet.
    ///
    /// - Parameters:
    ///   - hash: the hash of the lines before the first batch.
    ///   - inBackground: true to use a thread, if the system can create one.
    ///   - admits: returns whether the archive can have an item.
    init(after hash: consuming SHA256, inBackground: Bool, admits: @escaping (Item) -> Bool) {
        let work = MetadataWork(hash, admits)
        self.work = work
        thread = inBackground ? BackgroundThread(stackSize: Self.stackSize) { work.run() } : nil
    }

    deinit {
        wait()
        work.batch = nil
        work.ready.signal()
    }

    /// Starts decoding a batch, which belongs to the decoder until `wait` returns.
    func start(_ batch: MetadataBatch) {
        work.batch = batch
        guard thread != nil else { return work.decode(batch) }
        isBusy = true
        work.ready.signal()
    }

    /// Waits until the batch passed to `start`, if any, is decoded.
    func wait() {
        guard isBusy else { return }
        work.isDone.wait()
        isBusy = false
    }

    /// The hash of all lines; call this only once, and only while nothing is being decoded.
    func takeHash() -> SHA256Digest { work.takeHash() }

    /// The number of items; read this only while nothing is being decoded.
    var counts: ItemCounts { work.counts }

    /// A UUID that two items share.
    func repeatedUUID() -> ItemUUID? { work.identities.repetition() }
}

/// The work of the thread, and the state that it shares with its owner.
///
/// All of it belongs to the thread from `ready` to `isDone`, and otherwise to the owner; the semaphores order the
/// accesses.
private final class MetadataWork: @unchecked Sendable {
    let ready = Semaphore()
    let isDone = Semaphore()
    /// The batch to be decoded; nil ends the thread.
    var batch: MetadataBatch?
    var counts = ItemCounts()
    var identities = IdentityList()
    private var previous: Item?
    private var hash: SHA256
    private let admits: (Item) -> Bool

    init(_ hash: consuming SHA256, _ admits: @escaping (Item) -> Bool) {
        self.hash = hash
        self.admits = admits
    }

    func takeHash() -> SHA256Digest {
        var taken = SHA256()
        swap(&taken, &hash)
        return taken.finalize()
    }

    func run() {
        while true {
            ready.wait()
            guard let batch else { return }
            decode(batch)
            isDone.signal()
        }
    }

    func decode(_ batch: MetadataBatch) {
        batch.withLines { hash.update($0) }
        batch.decode { line, place throws(ArchiveFailure) in
            let item = try place.parsed(ItemLine.decode(line))
            guard admits(item) else {
                throw place.damaged("the item belongs in no archive", item: item)
            }
            guard previous?.precedes(item) ?? true else {
                throw place.damaged("the items are not in order, or one is there twice", item: item)
            }
            counts[item.itemClass] += 1
            guard counts.total <= ItemLimits.itemCount else {
                throw ArchiveFailure.limit("items: \(ItemLimits.itemCount) are the limit")
            }
            identities.append(item.uuid)
            previous = item
            return item
        }
    }
}

/// Consecutive lines, their items, and what follows them.
final class MetadataBatch {
    private var lines = SecretBytes(capacity: sizeInBytes)
    private var ends: [Int] = []
    private var items: [Item] = []
    private var firstLine = LinePlace(kind: .metadata, number: 1)
    /// The fault of the line after `items`.
    private var failure: ArchiveFailure?
    /// How the stream ends after these lines, or why it cannot be read further; nil if another batch follows.
    var outcome: Result<StreamEnd, any Error>?

    // Large enough to make the handover cheap, small enough for the processor's caches.
    private static let sizeInBytes = 131_072

    var isFull: Bool { lines.count >= Self.sizeInBytes / 2 }

    func removeAll(startingAt place: LinePlace) {
        lines.removeAll()
        ends.removeAll(keepingCapacity: true)
        items.removeAll(keepingCapacity: true)
        firstLine = place
        failure = nil
        outcome = nil
    }

    func append(_ line: borrowing Span<UInt8>) {
        lines.append(line)
        ends.append(lines.count)
        lines.append(UInt8(ascii: "\n"))
    }

    /// Calls `body` with all lines, including their line feeds.
    func withLines(_ body: (borrowing Span<UInt8>) -> Void) {
        lines.withBytes(body)
    }

    /// Decodes the items of all lines until `body` throws.
    func decode(_ body: (borrowing Span<UInt8>, LinePlace) throws(ArchiveFailure) -> Item) {
        do {
            try lines.withBytes { bytes throws(ArchiveFailure) in
                var start = 0
                for (index, end) in ends.enumerated() {
                    let place = LinePlace(kind: firstLine.kind, number: firstLine.number + index)
                    items.append(try body(bytes.extracting(start..<end), place))
                    start = end + 1
                }
            }
        } catch {
            failure = error
        }
    }

    /// Passes each item with its line and number to `body`, then throws the fault after them, if any.
    func visit(_ body: (Item, borrowing Span<UInt8>, UInt64) throws -> Void) throws {
        try lines.withBytes { bytes in
            var start = 0
            // The first line of the stream is not an item.
            var ordinal = UInt64(firstLine.number - 2)
            for (item, end) in zip(items, ends) {
                try body(item, bytes.extracting(start..<end), ordinal)
                ordinal += 1
                start = end + 1
            }
        }
        if let failure { throw failure }
    }
}

/// The UUIDs of an archive, 16 bytes each; if two items shared one, one of them could replace the other.
private struct IdentityList {
    private var all: [ItemUUID] = []

    mutating func append(_ uuid: ItemUUID) {
        all.append(uuid)
    }

    /// A UUID that occurs twice.
    mutating func repetition() -> ItemUUID? {
        // The combined halves rarely collide by chance, and sorting 64-bit numbers takes half the time.
        var halves = all.map { $0.high ^ $0.low }
        halves.sort()
        if !zip(halves, halves.dropFirst()).contains(where: { $0 == $1 }) { return nil }
        all.sort { ($0.high, $0.low) < ($1.high, $1.low) }
        return zip(all, all.dropFirst()).first { $0 == $1 }?.0
    }
}
