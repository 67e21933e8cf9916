internal import KCBackupArchive
internal import KCByteStreams
internal import KCKeychainModel

/// The records of a small archive, from the same reading that proved it.
///
/// Secrets are in wiped memory.
final class HeldRecords: RecordVisitor {
    private struct Record {
        let item: Item
        let state: SecretState
        /// Where its secret ends in `secrets`.
        let end: Int
    }

    private var records: [Record] = []
    private var secrets = SecretBytes(capacity: 4_096)
    private var room: Int
    private let secretLimit: Int
    /// False if they were too large, so that none is held.
    private(set) var isComplete = true

    /// How much is held, in bytes: as much as an import holds before it takes to a file.
    static let limit = 16 << 20
    // How much of that may be secrets, in bytes, of the 8 MiB that most systems let a process lock.
    private static let usualSecretLimit = 2 << 20
    // Estimates of what an item takes beside its line, in bytes, and of what each of its attributes without a code does.
    private static let recordSize = 256
    private static let extraSize = 96

    /// How much of what is held may be secrets, in bytes.
    ///
    /// Their memory is copied as it grows, so that up to three times as much is locked at once, and others need some.
    ///
    /// - Parameter lockable: how much memory the process may lock.
    static func secretLimit(lockable: Int) -> Int { min(usualSecretLimit, lockable / 4) }

    init(limit: Int, secretLimit: Int) {
        room = limit
        self.secretLimit = secretLimit
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState) {
        if !isComplete { return }
        room -= line.count + secret.count + Self.recordSize + Self.extraSize * item.extra.count
        guard room >= 0, secrets.count + secret.count <= secretLimit else {
            isComplete = false
            records = []
            secrets = SecretBytes(capacity: 0)
            return
        }
        secret.withBytes { secrets.append($0) }
        records.append(Record(item: item, state: state, end: secrets.count))
    }

    /// Passes all records to `visitor`, in order.
    ///
    /// - Parameter advance: called before each of them with its number, from 1, and the number of all.
    func visit(_ visitor: inout some RecordVisitor, _ advance: (Int, Int) -> Void) throws {
        var line = SecretBytes(capacity: 4_096)
        var secret = SecretBytes(capacity: 4_096)
        var start = 0
        for (index, record) in records.enumerated() {
            advance(index + 1, records.count)
            // Reading an archive notices a signal.
            if Interruption.isRequested { throw ArchiveFailure.stream(StreamFailure(.reading, .interrupted)) }
            let place = start..<record.end
            start = record.end
            secret.removeAll()
            secrets.withBytes { secret.append($0.extracting(place)) }
            line.removeAll()
            ItemLine.encode(record.item, into: &line)
            try line.withBytes { line in
                try visitor.take(record.item, line: line, secret: secret, state: record.state)
            }
        }
    }

    /// Passes all items to `body`, in order.
    func visitItems(_ body: (Item) throws -> Void) rethrows {
        for record in records { try body(record.item) }
    }
}
