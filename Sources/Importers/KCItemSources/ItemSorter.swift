internal import KCByteStreams
internal import KCKeychainModel

/// Puts items in archive order that need not all fit into memory.
///
/// Items beyond a limit wait in an encrypted file, as runs of sorted items, which are merged whenever the items are
/// visited.
struct ItemSorter: ~Copyable {
    private let folder: String?
    private let limit: Int
    private var held: ItemCollection
    private var spool: SealedSpool?
    private var runs: [SortedRun] = []
    /// How many items there are.
    private(set) var count = 0
    /// A word of each UUID, and one of each unique key.
    private var words = (uuids: WordList(), keys: WordList())

    // Bytes of packed items that are in memory: many more than keychains of people have, and few enough that an import of
    // a million stays small.
    static let limit = 16 << 20

    /// Starts without items.
    ///
    /// - Parameters:
    ///   - folder: where the encrypted file is made, if one is needed; nil to have everything in memory.
    init(spoolingIn folder: String?, limit: Int = limit) {
        self.folder = folder
        self.limit = limit
        held = Self.emptyCollection
    }

    // Its date is that of items that it makes itself.
    private static var emptyCollection: ItemCollection { ItemCollection(date: .reference) }

    /// Adds items, and moves those that there are to the file if they are too many for the memory.
    ///
    /// - Parameter records: items with higher numbers than all before.
    /// - Throws: `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    mutating func add(_ records: borrowing PackedRecords) throws {
        count += records.entries.count
        records.forEach { packed, entry in
            held.append(packed, entry)
            words.uuids.append(entry.words.uuid)
            words.keys.append(entry.words.key)
        }
        if held.size > limit, let folder { try spool(in: folder) }
    }

    private mutating func spool(in folder: String) throws {
        var full = Self.emptyCollection
        swap(&full, &held)
        let run = full.sorted()
        let spool = try self.spool ?? SealedSpool(inFolder: folder)
        self.spool = spool
        for place in run.places {
            try run.items.withBytes(of: place) { bytes in try spool.write(bytes.extracting(..<PackedItem.size(bytes))) }
        }
        runs.append(.spooled(try spool.endPiece()))
    }

    /// Puts the items in archive order.
    ///
    /// - Throws: `ItemCollection.Clash`, and what visiting the items throws.
    consuming func finish() throws -> CollectedItems {
        let uuids = words.uuids.repeated()
        let keys = words.keys.repeated()
        let items = CollectedItems(runs + [.held(held.sorted())], count: count)
        if !uuids.isEmpty || !keys.isEmpty { try Repetitions(uuids).require(items) }
        return items
    }
}

/// Finds out whether items whose words are equal have the same UUID or unique key.
private struct Repetitions {
    private let words: Set<UInt64>

    init(_ words: Set<UInt64>) { self.words = words }

    /// - Throws: `ItemCollection.Clash`, and what visiting the items throws.
    func require(_ items: CollectedItems) throws {
        var candidates: [(number: Int, uuid: ItemUUID)] = []
        var sameKey: ItemCollection.Clash?
        var previous = SecretBytes(capacity: 1_024)
        try items.forEachRecord { record in
            let (number, uuid) = (PackedItem.number(record), PackedItem.uuid(record))
            if words.contains(uuid.word) { candidates.append((number, uuid)) }
            if sameKey != nil { return }
            let other = previous.withBytes { previous in
                !previous.isEmpty && PackedItem.compareKeys(previous, record) == 0 ? PackedItem.number(previous) : nil
            }
            if let other { sameKey = .sameKey(min(number, other), max(number, other)) }
            previous.removeAll()
            previous.append(record.extracting(..<PackedItem.keyRange(in: record).upperBound))
        }
        candidates.sort { $0.number < $1.number }
        var earlier: [ItemUUID: Int] = [:]
        for (number, uuid) in candidates {
            guard let other = earlier.updateValue(number, forKey: uuid) else { continue }
            throw try hasSameKey(items, other, number)
                ? ItemCollection.Clash.sameKey(other, number) : .sameUUID(other, number)
        }
        if let sameKey { throw sameKey }
    }

    private func hasSameKey(_ items: CollectedItems, _ one: Int, _ other: Int) throws -> Bool {
        var keys: [[UInt8]] = []
        try items.forEachRecord { record in
            if [one, other].contains(PackedItem.number(record)) {
                keys.append(Array(copying: record.extracting(PackedItem.keyRange(in: record))))
            }
        }
        return keys.count == 2 && keys[0] == keys[1]
    }
}
