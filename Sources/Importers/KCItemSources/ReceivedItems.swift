internal import KCByteStreams
package import KCKeychainModel

/// Collects items that come one after the other, in any order.
///
/// Items that are too many for the memory wait in an encrypted file.
package struct ReceivedItems: ~Copyable {
    private var sorter: ItemSorter
    private var secret: SecretBytes? = SecretBytes(capacity: 1_024)
    private var records = PackedRecords(date: .reference)
    /// How many items there are.
    package private(set) var count = 0

    // Large enough to make the handover cheap.
    private static let sizeOfBlock = 131_072

    /// Starts without items.
    ///
    /// - Parameter folder: where the encrypted file is made, if one is needed.
    package init(spoolingIn folder: String) {
        sorter = ItemSorter(spoolingIn: folder)
    }

    /// Adds an item.
    ///
    /// - Parameter bytes: its secret, which is empty if it has none.
    /// - Throws: `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package mutating func add(_ item: Item, secret bytes: borrowing Span<UInt8>) throws {
        if item.secretSize == nil {
            records.add(item, number: count, secret: nil)
        } else {
            secret?.removeAll()
            secret?.append(bytes)
            records.add(item, number: count, secret: secret)
        }
        count += 1
        if records.size > Self.sizeOfBlock { try handOver() }
    }

    /// Puts the items in archive order.
    ///
    /// - Throws: `ItemCollection.Clash`; `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package consuming func finish() throws -> CollectedItems {
        try handOver()
        return try sorter.finish()
    }

    private mutating func handOver() throws {
        try sorter.add(records)
        records.removeAll()
    }
}
