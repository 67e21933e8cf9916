internal import KCByteStreams
internal import KCKeychainModel

/// Packed items one after the other, with what sorting and the search for duplicates need of each.
struct PackedRecords: ~Copyable {
    /// The facts known of an item without looking at it.
    struct Entry {
        /// See `PackedItems.Place`.
        let beginning: UInt64
        /// A word of the UUID, and one of the unique key.
        let words: (uuid: UInt64, key: UInt64)
        fileprivate let end: Int
    }

    private let date: Timestamp
    private var bytes = SecretBytes(capacity: 4_096)
    private var record = SecretBytes(capacity: 1_024)
    private(set) var entries: [Entry] = []

    /// Starts without items.
    ///
    /// - Parameter date: the creation and modification date of items without dates.
    init(date: Timestamp) {
        self.date = date
    }

    /// Adds an item, with Apple's defaults for missing attributes.
    ///
    /// - Parameter number: what an error calls it.
    mutating func add(_ draft: ItemDraft, number: Int, secret: borrowing SecretBytes?) throws(ItemProblem) {
        add(try ItemCollection.item(draft, secret: secret, date: date), number: number, secret: secret)
    }

    /// Adds an item as it is.
    mutating func add(_ item: Item, number: Int, secret: borrowing SecretBytes?) {
        let key = PackedItem.key(of: item)
        PackedItem.encode(item, number: number, key: key, secret: secret, into: &record)
        record.withBytes { bytes.append($0) }
        entries.append(
            Entry(
                beginning: PackedItem.beginning(of: key), words: (item.uuid.word, HashedBytes(key).word),
                end: bytes.count))
    }

    /// The size of the items in bytes.
    var size: Int { bytes.count }

    /// Removes all items.
    mutating func removeAll() {
        bytes.removeAll()
        entries.removeAll(keepingCapacity: true)
    }

    /// Passes each item to `body`.
    func forEach(_ body: (borrowing Span<UInt8>, Entry) -> Void) {
        bytes.withBytes { bytes in
            var start = 0
            for entry in entries {
                body(bytes.extracting(start..<entry.end), entry)
                start = entry.end
            }
        }
    }
}
