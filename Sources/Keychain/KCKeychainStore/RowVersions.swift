internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Identifies the contents of a row, with its seal.
package struct RowVersion: Hashable, Sendable {
    // Half of SHA-256, far more than it takes to tell the rows of one keychain apart.
    private let high: UInt64
    private let low: UInt64

    /// Hashes the current row of a statement.
    ///
    /// - Parameter text: a scratch buffer.
    fileprivate init(_ row: SQLStatement, _ layout: ItemRow, text: inout [UInt8]) {
        text.removeAll(keepingCapacity: true)
        text.append(UInt8(layout.itemClass.position))
        for column in 0..<layout.columnCount {
            let type = row.type(column)
            text.append(UInt8(type.rawValue))
            // Most attributes are absent.
            if type == .null {
                Self.append(0, to: &text)
            } else {
                row.withBytes(column) { bytes in
                    Self.append(bytes.count, to: &text)
                    text.append(bytes)
                }
            }
        }
        let digest = SHA256.hash(text.span).bytes
        high = digest.span.word(at: 0)
        low = digest.span.word(at: 8)
    }

    private static func append(_ count: Int, to text: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { text.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
}

/// The live rows of a keychain with their versions.
package struct VersionedItems: Sendable {
    /// The versions of all rows.
    package private(set) var versions: Set<RowVersion> = []
    /// The rows that are valid items, in archive order; a seal is nil if it is damaged.
    package private(set) var items: [(item: Item, version: RowVersion, seal: RowSeal?)] = []

    /// Gives the item at `index` another version.
    fileprivate mutating func set(_ version: RowVersion, at index: Int) {
        versions.remove(items[index].version)
        versions.insert(version)
        items[index].version = version
    }

    fileprivate init(_ tables: ItemTables) throws(KeychainStoreError) {
        var search = try ItemSearch(ItemQuery(), in: tables)
        var text: [UInt8] = []
        while let match = try search.next() {
            let version = RowVersion(match.statement, match.row, text: &text)
            versions.insert(version)
            if let item = match.item {
                items.append((item, version, match.row.withData(match.statement) { RowSeal(of: $0) }))
            }
        }
    }
}

/// The live rows of a keychain that a change wrote.
package struct WrittenRows: Sendable {
    /// The seals of the rows that were not there before with the same contents, each `RowSeal.size` bytes.
    package fileprivate(set) var record: [UInt8] = []
    /// True if the keychain holds the same as before, though perhaps under other seals.
    package fileprivate(set) var isNone = false
}

extension KeychainReader {
    /// The rows that differ from those of `copy`, an earlier state of the same file, in more than their seals.
    ///
    /// It reads both files from start to end, side by side, and keeps nothing of them, so that a change of a large
    /// keychain stays small. A row that is written again has another number; one that has its number of before is
    /// compared with what it was. A secret that no key opens here counts as changed if its seal differs.
    package func rowsWritten(since copy: Keychain) throws(KeychainStoreError) -> WrittenRows {
        try copy.withReadTransaction { database throws(KeychainStoreError) in
            let earlier = try KeychainReader(copy, database)
            try database.limitCache(toKiB: Self.copyCacheSize)
            var written = WrittenRows()
            written.isNone = true
            // An array that grows is copied, and in memory twice meanwhile.
            written.record.reserveCapacity(RowSeal.size * Int(clamping: tables.database.changeCount))
            for row in ItemRow.all { try add(row, since: earlier, to: &written) }
            return written
        }
    }

    // KiB of page cache for the copy, each page of which is needed once or twice.
    private static let copyCacheSize = 4_096

    /// Adds the rows of one class that were written.
    private func add(
        _ row: ItemRow, since earlier: KeychainReader, to written: inout WrittenRows
    ) throws(KeychainStoreError) {
        let before = try SQLStatement(row.storedSelection, on: earlier.tables.database)
        var hasBefore = try before.step()
        if !hasBefore { return try addAll(row, to: &written) }
        let now = try SQLStatement(row.storedSelection, on: tables.database)
        var builder = AttributesBuilder()
        var (same, gone) = (0, 0)
        while try now.step() {
            while hasBefore, row.number(before) < row.number(now) {
                gone += 1
                hasBefore = try before.step()
            }
            var isSame = false
            if hasBefore, row.number(before) == row.number(now) {
                isSame = row.isEqual(now, before)
                if !isSame { gone += 1 }
                hasBefore = try before.step()
            }
            if isSame { continue }
            try row.withData(now) { blob throws(KeychainStoreError) in
                if try isOnlySealedAnew(row.item(now, &builder), blob, since: earlier) {
                    same += 1
                } else {
                    written.isNone = false
                    RowSeal(of: blob)?.append(to: &written.record)
                }
            }
        }
        while hasBefore {
            gone += 1
            hasBefore = try before.step()
        }
        if same != gone { written.isNone = false }
    }

    /// Adds the rows of a class that had none before.
    private func addAll(_ row: ItemRow, to written: inout WrittenRows) throws(KeychainStoreError) {
        // If rows were only inserted, these are all, and need not be read for it.
        if let seals = tables.sealsInserted(into: row.itemClass) {
            if !seals.isEmpty { written.isNone = false }
            return written.record.append(seals.span)
        }
        let now = try SQLStatement(row.sealSelection, on: tables.database)
        while try now.step() {
            written.isNone = false
            now.withBytes(0) { blob in RowSeal(of: blob)?.append(to: &written.record) }
        }
    }

    /// True if `earlier` has the same item with the same secret.
    private func isOnlySealedAnew(
        _ item: Item?, _ blob: borrowing Span<UInt8>, since earlier: KeychainReader
    ) throws(KeychainStoreError) -> Bool {
        guard let item, let found = try earlier.tables.row(item.itemClass, item.uuid), !found.isTombstone,
            found.item == item
        else { return false }
        if blob.isEqual(to: found.blob.span) { return true }
        return try holdsSecret(of: item, in: earlier)
    }
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
