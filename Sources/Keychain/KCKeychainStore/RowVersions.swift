internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Identifies the contents of a row, with its seal or without.
package struct RowVersion: Hashable, Sendable {
    // Half of SHA-256, far more than it takes to tell the rows of one keychain apart.
    private let high: UInt64
    private let low: UInt64

    /// Hashes the current row of a statement.
    ///
    /// - Parameters:
    ///   - secretSize: what the seal is replaced by; nil for a version with its seal.
    ///   - text: a scratch buffer.
    fileprivate init(_ row: SQLStatement, _ layout: ItemRow, secretSize: Int?? = nil, text: inout [UInt8]) {
        text.removeAll(keepingCapacity: true)
        text.append(UInt8(layout.itemClass.position))
        for column in 0..<layout.columnCount {
            let type = row.type(column)
            text.append(UInt8(type.rawValue))
            // Most attributes are absent.
            if type == .null {
                Self.append(0, to: &text)
            } else if let secretSize, layout.isSeal(column) {
                Self.append(secretSize ?? -1, to: &text)
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

/// The live rows in which a keychain and an earlier copy of it differ, in the order of their classes and numbers.
///
/// Of each row there is a little, however large it is; `KeychainReader.visit` reads its item.
package struct RowDifference: Sendable {
    /// A row of one of the two that the other does not have.
    package struct Row: Sendable {
        fileprivate let version: RowVersion
        /// The version without the seal; nil if the row is not a valid item.
        fileprivate let item: RowVersion?
        fileprivate let number: Int64
        fileprivate let itemClass: ItemClass

        fileprivate init(
            _ row: SQLStatement, _ layout: ItemRow, _ builder: inout AttributesBuilder, _ text: inout [UInt8]
        ) {
            version = RowVersion(row, layout, text: &text)
            item = layout.item(row, &builder).map { item in
                RowVersion(row, layout, secretSize: .some(item.secretSize), text: &text)
            }
            number = layout.number(row)
            itemClass = layout.itemClass
        }
    }

    /// The rows that only the keychain has.
    package private(set) var now: [Row] = []
    /// The rows that only the copy has.
    package private(set) var before: [Row] = []
    /// The numbers of all live rows of the keychain and of the copy.
    package private(set) var counts = (now: 0, before: 0)

    /// True if both hold the same, though perhaps under other seals.
    package var isNone: Bool { now.isEmpty && before.isEmpty }

    /// True if the rows are the same ones.
    package func isEqual(to other: RowDifference) -> Bool {
        now.elementsEqual(other.now) { $0.version == $1.version }
            && before.elementsEqual(other.before) { $0.version == $1.version }
    }

    fileprivate mutating func add(_ pairs: RowPairs) throws(KeychainStoreError) {
        var pairs = pairs
        var builder = AttributesBuilder()
        var text: [UInt8] = []
        while let pair = try pairs.next() {
            if pair != .gone { counts.now += 1 }
            if pair != .added { counts.before += 1 }
            if pair == .added || pair == .changed { now.append(Row(pairs.now, pairs.row, &builder, &text)) }
            if pair == .gone || pair == .changed { before.append(Row(pairs.before, pairs.row, &builder, &text)) }
        }
    }

    /// Leaves out the rows that only have another number.
    fileprivate mutating func removeMoved() {
        if now.isEmpty || before.isEmpty { return }
        let moved = Set(now.map(\.version)).intersection(before.map(\.version))
        now.removeAll { moved.contains($0.version) }
        before.removeAll { moved.contains($0.version) }
    }

    /// Leaves out the rows whose items are the same and whose secrets are too.
    ///
    /// - Parameter isSame: returns whether a row of the keychain, whose item the copy has too, has its secret.
    fileprivate mutating func removeSealedAnew(
        _ isSame: (Row) throws(KeychainStoreError) -> Bool
    ) throws(KeychainStoreError) {
        if now.isEmpty || before.isEmpty { return }
        let items = Set(before.compactMap(\.item))
        var same: Set<RowVersion> = []
        for row in now {
            guard let item = row.item, items.contains(item), try isSame(row) else { continue }
            same.insert(item)
        }
        now.removeAll { $0.item.map(same.contains) ?? false }
        before.removeAll { $0.item.map(same.contains) ?? false }
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
    /// The comparison reads both files from start to end, side by side, and keeps nothing of them, so that a change of
    /// a large keychain stays small. A row that is written again has another number; one that has its number of before
    /// is compared with what it was. A secret that no key opens here counts as changed if its seal differs.
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
        if try !earlier.tables.hasLiveRows(row.itemClass) { return try addAll(row, to: &written) }
        var pairs = try RowPairs(row, row.storedSelection, now: tables.database, before: earlier.tables.database)
        var builder = AttributesBuilder()
        var (same, gone) = (0, 0)
        while let pair = try pairs.next() {
            if pair == .gone || pair == .changed { gone += 1 }
            guard pair == .added || pair == .changed else { continue }
            let now = pairs.now
            try row.withData(now) { blob throws(KeychainStoreError) in
                if try isOnlySealedAnew(row.item(now, &builder), blob, since: earlier) {
                    same += 1
                } else {
                    written.isNone = false
                    RowSeal(of: blob)?.append(to: &written.record)
                }
            }
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
    /// The rows that differ from those of `copy`, an earlier state of the same file, in more than their seals.
    ///
    /// A secret that no key opens here counts as changed if its seal differs.
    package func difference(from copy: Keychain) throws(KeychainStoreError) -> RowDifference {
        try copy.withReadTransaction { database throws(KeychainStoreError) in
            try difference(from: KeychainReader(copy, database))
        }
    }

    fileprivate func difference(from earlier: KeychainReader) throws(KeychainStoreError) -> RowDifference {
        let before = earlier.tables.database
        try before.limitCache(toKiB: Self.copyCacheSize)
        var difference = RowDifference()
        for row in ItemRow.all {
            try difference.add(RowPairs(row, row.storedSelection, now: tables.database, before: before))
        }
        difference.removeMoved()
        let reading = RowReading(tables)
        try difference.removeSealedAnew { row throws(KeychainStoreError) in
            guard let item = try reading.item(row).item else { return false }
            return try holdsSecret(of: item, in: earlier)
        }
        return difference
    }

    /// True if the secret of a live item is the one that it has in `other`, whose keys are the same.
    private func holdsSecret(of item: Item, in other: KeychainReader) throws(KeychainStoreError) -> Bool {
        if !keychain.canOpen(item.protection) { return false }
        var secret = SecretBytes(capacity: 0)
        guard try opens(item, other.row(of: item).blob, into: &secret) else { return false }
        return try isSecret(of: item, secret)
    }

    /// Passes the items of rows of this state to `body`, one after the other; rows that are no valid items are left out.
    ///
    /// - Throws: what `body` throws, `KeychainStoreError`.
    package func visit(
        _ rows: [RowDifference.Row], _ body: (_ item: Item, _ seal: RowSeal?) throws -> Void
    ) throws {
        let reading = RowReading(tables)
        for row in rows where row.item != nil {
            let (item, seal) = try reading.item(row)
            if let item { try body(item, seal) }
        }
    }
}

/// Reads rows again that were found before in the same transaction.
private final class RowReading {
    private let tables: ItemTables
    private var statements: [ItemClass: SQLStatement] = [:]
    private var builder = AttributesBuilder()

    init(_ tables: ItemTables) { self.tables = tables }

    /// The item of a row, and its seal, which is nil if it is damaged.
    func item(_ row: RowDifference.Row) throws(KeychainStoreError) -> (item: Item?, seal: RowSeal?) {
        let layout = ItemRow.of(row.itemClass)
        let statement: SQLStatement
        if let known = statements[row.itemClass] {
            statement = known
        } else {
            statement = try SQLStatement(layout.selection + " WHERE id=?", on: tables.database)
            statements[row.itemClass] = statement
        }
        defer { statement.reset() }
        try statement.bind(row.number, 1)
        guard try statement.step() else { throw .damaged("a row is not found by its number") }
        return (layout.item(statement, &builder), layout.withData(statement) { RowSeal(of: $0) })
    }
}

extension Keychain {
    /// Passes the rows that differ from those of a copy to `body`, with both states, of which it may visit these rows.
    ///
    /// - Throws: what `body` throws, and `KeychainStoreError`: `damaged` also if an index of this file does not fit its rows.
    package func comparing<Result>(
        with copy: Keychain,
        _ body: (_ rows: RowDifference, _ now: KeychainReader, _ before: KeychainReader) throws -> Result
    ) throws -> Result {
        try read { now in
            try now.requireSound()
            return try copy.read { before in try body(now.difference(from: before), now, before) }
        }
    }
}
