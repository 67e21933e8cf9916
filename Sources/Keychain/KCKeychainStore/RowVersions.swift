internal import KCByteStreams
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

    /// Gives the item at `index` another version.
    fileprivate mutating func set(_ version: RowVersion, at index: Int) {
        versions.remove(items[index].version)
        versions.insert(version)
        items[index].version = version
    }

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
    package func versionedItems() throws(KeychainStoreError) -> VersionedItems { try VersionedItems(tables) }
}

extension KeychainReader {
    /// All live rows with their versions; a row that differs from the one in `copy`, an earlier state of the same file,
    /// only in its seal has the version of that one.
    ///
    /// So the versions are equal if the contents are. A secret that no key opens here counts as changed if its seal
    /// differs.
    ///
    /// - Parameter old: the rows of `copy`.
    package func versionedItems(
        since old: VersionedItems, of copy: Keychain
    ) throws(KeychainStoreError) -> VersionedItems {
        var now = try VersionedItems(tables)
        let changed = now.items.indices.filter { !old.versions.contains(now.items[$0].version) }
        if changed.isEmpty { return now }
        let replaced = old.items.filter { !now.versions.contains($0.version) }.map { ($0.item, $0.version) }
        let earlier = Dictionary(replaced, uniquingKeysWith: { first, _ in first })
        try copy.withReadTransaction { database throws(KeychainStoreError) in
            let reader = try KeychainReader(copy, database)
            for index in changed {
                let item = now.items[index].item
                if let version = earlier[item], try holdsSecret(of: item, in: reader) { now.set(version, at: index) }
            }
        }
        return now
    }

    /// True if the secret of a live item is the one that it has in `other`, whose keys are the same.
    private func holdsSecret(of item: Item, in other: KeychainReader) throws(KeychainStoreError) -> Bool {
        if !keychain.canOpen(item.protection) { return false }
        var secret = SecretBytes(capacity: 0)
        guard try opens(item, other.row(of: item).blob, into: &secret) else { return false }
        return try isSecret(of: item, secret)
    }
}

extension Keychain {
    /// All live rows with their versions, compared with those of a copy; see `KeychainReader`.
    package func versionedItems(
        since old: VersionedItems, of copy: Keychain
    ) throws(KeychainStoreError) -> VersionedItems {
        try withReadTransaction { database throws(KeychainStoreError) in
            try KeychainReader(self, database).versionedItems(since: old, of: copy)
        }
    }

    /// All live rows with their versions; no key is needed.
    package func versionedItems() throws(KeychainStoreError) -> VersionedItems {
        try withReadTransaction { database throws(KeychainStoreError) in try VersionedItems(ItemTables(database)) }
    }
}
