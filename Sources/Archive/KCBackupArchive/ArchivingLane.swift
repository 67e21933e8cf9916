package import KCByteStreams
package import KCKeychainModel

/// Adds items to an archive on a thread of its own, while the caller reads the next ones.
///
/// Reading and opening an item takes about as long as hashing and writing it. The items of a small archive are added on
/// the caller's thread, as all are if the system cannot create another.
///
/// ```swift
/// let lane = ArchivingLane(writer)
/// try lane.append(item, line: line, secret: secret)
/// let archive = try lane.finish(omitted: 0, damaged: 0, created: now, tool: "kcbackup 1.0")
/// ```
package final class ArchivingLane {
    private let work: ArchivingWork
    // While one batch is being filled, the other one is being added.
    private let batches = [ItemBatch(), ItemBatch()]
    private var turn = 0
    private var thread: BackgroundThread?
    private var isRefused = false
    private var isBusy = false

    // In bytes; as for decoding.
    private static let stackSize = 524_288

    /// Takes over `writer`.
    package init(_ writer: consuming ArchiveWriter) {
        work = ArchivingWork(writer)
    }

    deinit {
        waitForThread()
        work.batch = nil
        work.ready.signal()
    }

    /// Adds an item; see `ArchiveWriter.append`.
    ///
    /// - Throws: as `ArchiveWriter.append`, for this item or an earlier one.
    package func append(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes
    ) throws(ArchiveFailure) {
        let batch = batches[turn]
        batch.append(item, line, secret)
        guard batch.isFull else { return }
        try wait()
        turn = 1 - turn
        guard startThread() else {
            work.add(batch)
            return try work.check()
        }
        work.batch = batch
        isBusy = true
        work.ready.signal()
    }

    /// Adds what is left, and finishes the archive, once; see `ArchiveWriter.finish`.
    package func finish(
        omitted: Int, damaged: Int, created: Timestamp, tool: String
    ) throws(ArchiveFailure) -> FinishedArchive {
        try wait()
        work.add(batches[turn])
        try work.check()
        guard let writer = work.writer.take() else { preconditionFailure("an archive is finished once") }
        return try writer.finish(omitted: omitted, damaged: damaged, created: created, tool: tool)
    }

    /// Waits until the thread has added its batch.
    private func wait() throws(ArchiveFailure) {
        waitForThread()
        try work.check()
    }

    private func waitForThread() {
        guard isBusy else { return }
        work.isDone.wait()
        isBusy = false
    }

    /// True if there is a thread; once the system has refused one, no other attempt is made.
    private func startThread() -> Bool {
        if thread != nil { return true }
        if isRefused { return false }
        thread = BackgroundThread(stackSize: Self.stackSize) { [work] in work.run() }
        isRefused = thread == nil
        return !isRefused
    }
}

/// The work of the thread, and the state that it shares with its owner.
///
/// All of it belongs to the thread from `ready` to `isDone`, and otherwise to the owner; the semaphores order the
/// accesses.
private final class ArchivingWork: @unchecked Sendable {
    let ready = Semaphore()
    let isDone = Semaphore()
    var writer: ArchiveWriter?
    /// The batch to be added; nil ends the thread.
    var batch: ItemBatch?
    private var failure: ArchiveFailure?

    init(_ writer: consuming ArchiveWriter) {
        self.writer = consume writer
    }

    func run() {
        while true {
            ready.wait()
            guard let batch else { return }
            add(batch)
            isDone.signal()
        }
    }

    /// Adds the items of a batch and empties it; after a failure nothing more is added.
    func add(_ batch: ItemBatch) {
        guard failure == nil else { return }
        do throws(ArchiveFailure) {
            try batch.forEach { item, line, secret throws(ArchiveFailure) in
                try writer?.append(item, line: line, secret: secret)
            }
        } catch {
            failure = error
        }
    }

    /// Throws the failure of an earlier item, if any.
    func check() throws(ArchiveFailure) {
        if let failure { throw failure }
    }
}

/// Consecutive items with their lines and secrets.
private final class ItemBatch {
    private var items: [Item] = []
    private var lines = SecretBytes(capacity: sizeInBytes)
    private var secrets = SecretBytes(capacity: sizeInBytes)
    private var ends: [(line: Int, secret: Int)] = []
    private var secret = SecretBytes(capacity: 4_096)
    private var isAdded = false

    // Large enough to make the handover cheap, small enough for the processor's caches.
    private static let sizeInBytes = 131_072

    var isFull: Bool { lines.count + secrets.count >= Self.sizeInBytes }

    func append(_ item: Item, _ line: borrowing Span<UInt8>, _ secret: borrowing SecretBytes) {
        if isAdded { removeAll() }
        items.append(item)
        lines.append(line)
        secret.withBytes { secrets.append($0) }
        ends.append((lines.count, secrets.count))
    }

    /// Passes all items to `body`, in order; they are released by the next `append`, on the thread that made them.
    func forEach(
        _ body: (Item, borrowing Span<UInt8>, borrowing SecretBytes) throws(ArchiveFailure) -> Void
    ) throws(ArchiveFailure) {
        if isAdded { return }
        isAdded = true
        var start = (line: 0, secret: 0)
        for (item, end) in zip(items, ends) {
            secret.removeAll()
            secrets.withBytes { secret.append($0.extracting(start.secret..<end.secret)) }
            let range = start.line..<end.line
            try lines.withBytes { lines throws(ArchiveFailure) in try body(item, lines.extracting(range), secret) }
            start = end
        }
    }

    private func removeAll() {
        items.removeAll(keepingCapacity: true)
        lines.removeAll()
        secrets.removeAll()
        ends.removeAll(keepingCapacity: true)
        isAdded = false
    }
}
