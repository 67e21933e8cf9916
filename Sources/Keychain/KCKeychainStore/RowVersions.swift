internal import KCCryptography
package import KCKeychainModel

/// Identifies the contents of a row; a row that is written again has another seal, and so another version.
package struct RowVersion: Hashable, Sendable {
    /// The number of bytes of `bytes`: half of SHA-256, far more than it takes to tell the rows of one keychain apart.
    package static let size = 16
    /// The bytes by which versions are compared.
    package let bytes: [UInt8]

    /// Takes bytes that were once a version; nil if there are not `size` of them.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Array(bytes)
    }

    /// Hashes the current row of a statement.
    fileprivate init(_ row: SQLStatement, of itemClass: ItemClass) {
        var hash = SHA256()
        hash.update([UInt8(itemClass.position)].span)
        for column in 0..<row.columnCount {
            let type = row.type(column)
            row.withBytes(column) { bytes in
                hash.update([UInt8(type.rawValue)].span)
                hash.update(Self.bytes(of: bytes.count).span)
                hash.update(bytes)
            }
        }
        bytes = Array(hash.finalize().bytes.prefix(Self.size))
    }

    private static func bytes(of count: Int) -> [UInt8] {
        stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}

/// The live rows of a keychain with their versions.
package struct VersionedItems: Sendable {
    /// The versions of all rows.
    package private(set) var versions: Set<RowVersion> = []
    /// The rows that are valid items, in archive order.
    package private(set) var items: [(item: Item, version: RowVersion)] = []

    fileprivate init(_ tables: ItemTables) throws(KeychainStoreError) {
        var search = try ItemSearch(ItemQuery(), in: tables)
        while let match = try search.next() {
            let version = RowVersion(match.statement, of: match.row.itemClass)
            versions.insert(version)
            if let item = match.item { items.append((item, version)) }
        }
    }
}

extension KeychainReader {
    /// All live rows with their versions; no key is needed.
    ///
    /// - Throws: `damaged`, `sqlite`.
    package func versionedItems() throws(KeychainStoreError) -> VersionedItems { try VersionedItems(tables) }
}

extension Keychain {
    /// All live rows with their versions; no key is needed.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`.
    package func versionedItems() throws(KeychainStoreError) -> VersionedItems {
        try withReadTransaction { database throws(KeychainStoreError) in try VersionedItems(ItemTables(database)) }
    }
}
