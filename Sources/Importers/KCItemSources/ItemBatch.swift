internal import KCByteStreams
internal import KCKeychainModel

/// Consecutive items of merged runs, decoded, with their lines and secrets.
final class ItemBatch {
    private var items: [Item] = []
    // From the one page that a secret has at least: sources of a single item are visited for every record of an export.
    private var lines = SecretBytes(capacity: 4_096)
    private var secrets = SecretBytes(capacity: 4_096)
    /// Where the line and the secret of each item end.
    private var ends: [(line: Int, secret: Int)] = []
    /// Why the items after these cannot be read.
    private var failure: (any Error)?
    /// True if no items follow.
    private(set) var isLast = false

    // Large enough to make the handover cheap, small enough for the processor's caches.
    private static let sizeInBytes = 131_072

    /// Replaces the items by the next ones.
    ///
    /// - Parameter builder: an empty one, whose memory is used.
    func fill(from merge: inout RunMerge, _ builder: inout AttributesBuilder) {
        items.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        lines.removeAll()
        secrets.removeAll()
        do {
            while let reader = merge.first, lines.count + secrets.count < Self.sizeInBytes / 2 {
                reader.withRecord { bytes in
                    let (item, secret) = PackedItem.decode(bytes, &builder)
                    ItemLine.encode(item, into: &lines)
                    secrets.append(bytes.extracting(secret))
                    items.append(item)
                    ends.append((lines.count, secrets.count))
                }
                try merge.advance()
            }
            isLast = merge.first == nil
        } catch {
            failure = error
        }
    }

    /// Passes the items to a visitor.
    ///
    /// - Parameter secret: a buffer for the secret that is passed.
    /// - Throws: what the visitor throws, and why further items cannot be read.
    func visit<Visitor: ItemVisitor>(_ visitor: inout Visitor, _ secret: inout SecretBytes) throws {
        var start = (line: 0, secret: 0)
        for (item, end) in zip(items, ends) {
            if try visitor.wants(item) {
                secret.removeAll()
                secrets.withBytes { secret.append($0.extracting(start.secret..<end.secret)) }
                try lines.withBytes { bytes in
                    try visitor.take(item, line: bytes.extracting(start.line..<end.line), secret: secret)
                }
            }
            start = end
        }
        if let failure { throw failure }
    }
}

/// Reads items of merged runs ahead of a visitor.
struct ItemReadAhead {
    /// The state that the worker uses while it is busy.
    private final class Source {
        var merge: RunMerge
        var builder = AttributesBuilder()

        init(_ merge: RunMerge) { self.merge = merge }
    }

    private let worker: Worker<ItemBatch>

    /// - Parameter inBackground: true to use a thread.
    init(_ runs: [SortedRun], inBackground: Bool) throws {
        let source = Source(try RunMerge(runs))
        worker = Worker(inBackground: inBackground) { batch in batch.fill(from: &source.merge, &source.builder) }
    }

    /// Passes all items to a visitor.
    func visit<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        var secret = SecretBytes(capacity: 1_024)
        var current = ItemBatch()
        worker.start(current)
        worker.wait()
        if current.isLast { return try current.visit(&visitor, &secret) }
        var next = ItemBatch()
        while !current.isLast {
            worker.start(next)
            try current.visit(&visitor, &secret)
            worker.wait()
            swap(&current, &next)
        }
        try current.visit(&visitor, &secret)
    }
}
