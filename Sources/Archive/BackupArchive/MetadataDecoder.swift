internal import ByteStreams
internal import Cryptography
internal import KeychainModel

/// Hashes and decodes the lines of batches, one batch at a time, and checks what can be checked without the secrets: order,
/// UUIDs, counts.
final class MetadataDecoder {
    private let work: MetadataWork
    private let thread: BackgroundThread?
    private var isBusy = false

    // In bytes; decoding a line calls some twenty functions deep.
    private static let stackSize = 524_288

    /// Starts with nothing decoded.
    ///
    /// - Parameters:
    ///   - hash: of what comes before the first batch.
    ///   - inBackground: true to use a thread, if the system has one to give.
    init(after hash: consuming SHA256, inBackground: Bool) {
        let work = MetadataWork(hash)
        self.work = work
        thread = inBackground ? BackgroundThread(stackSize: Self.stackSize) { work.run() } : nil
    }

    deinit {
        wait()
        work.batch = nil
        work.ready.signal()
    }

    /// Decodes a batch, which is the decoder's until `wait` returns.
    func start(_ batch: MetadataBatch) {
        work.batch = batch
        guard thread != nil else { return work.decode(batch) }
        isBusy = true
        work.ready.signal()
    }

    /// Waits until the batch of `start` is decoded, if there is one.
    func wait() {
        guard isBusy else { return }
        work.isDone.wait()
        isBusy = false
    }

    /// The hash of all lines, when nothing is being decoded; to be asked once.
    func takeHash() -> SHA256Digest { work.takeHash() }

    /// How many items there were, when nothing is being decoded.
    var counts: ItemCounts { work.counts }

    /// A UUID that two items have.
    func repeatedUUID() -> ItemUUID? { work.identities.repetition() }
}

/// What the thread does, and what it shares with its owner.
///
/// All of it belongs to the thread from `ready` to `isDone`, and else to the owner; the semaphores order the accesses.
private final class MetadataWork: @unchecked Sendable {
    let ready = Semaphore()
    let isDone = Semaphore()
    /// What is to be decoded; nil ends the thread.
    var batch: MetadataBatch?
    var counts = ItemCounts()
    var identities = IdentityList()
    private var previous: Item?
    private var hash: SHA256

    init(_ hash: consuming SHA256) {
        self.hash = hash
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
            let item = try place.parsed { () throws(MalformedLine) in try ItemLine.decode(line) }
            guard Travel(item.accessibility) != .nowhere else {
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

/// Lines in a row, their items, and what comes after them.
final class MetadataBatch {
    private var lines = SecretBytes(capacity: sizeInBytes)
    private var ends: [Int] = []
    private var items: [Item] = []
    private var firstLine = LinePlace(kind: .metadata, number: 1)
    /// What is wrong with the line after `items`.
    private var failure: ArchiveFailure?
    /// How the stream ends after the lines, or why it cannot be read further; nil where another batch follows.
    var outcome: Result<StreamEnd, any Error>?

    // Enough that handing over does not count, little enough that the caches of a processor hold it.
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

    /// Lends all lines with their line feeds.
    func withLines(_ body: (borrowing Span<UInt8>) -> Void) {
        lines.withBytes(body)
    }

    /// Makes the items of all lines, until `body` throws.
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

    /// Hands over the items with their lines and numbers, and then throws what is wrong after them.
    func visit(_ body: (Item, borrowing Span<UInt8>, UInt64) throws -> Void) throws {
        try lines.withBytes { bytes in
            var start = 0
            // The first line of the stream is not that of an item.
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

/// The UUIDs of an archive, 16 bytes each: one that two items share would let one of them replace the other.
private struct IdentityList {
    private var all: [ItemUUID] = []

    mutating func append(_ uuid: ItemUUID) {
        all.append(uuid)
    }

    /// A UUID that is there twice.
    mutating func repetition() -> ItemUUID? {
        // Halves are unlikely to be the same by chance, and numbers are sorted in half the time.
        var halves = all.map { $0.high ^ $0.low }
        halves.sort()
        if !zip(halves, halves.dropFirst()).contains(where: { $0 == $1 }) { return nil }
        all.sort { ($0.high, $0.low) < ($1.high, $1.low) }
        return zip(all, all.dropFirst()).first { $0 == $1 }?.0
    }
}
