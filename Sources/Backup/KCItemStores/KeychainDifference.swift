internal import KCCryptography
internal import KCItemMatching
internal import KCKeychainModel
internal import KCKeychainStore

/// How a keychain differs from an earlier copy of it.
struct KeychainDifference {
    let changes: UndoneChanges
    /// The number of items of the copy.
    let itemsAfter: Int
    private let copy: Keychain
    private let rows: RowDifference

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - copy: its state at an earlier time.
    ///   - written: the rows that the undone command wrote; nil if that is unknown.
    init(from keychain: Keychain, to copy: Keychain, written: Set<RowSeal>?) throws(KeychainStoreError) {
        self.copy = copy
        rows = try keychain.difference(from: copy)
        itemsAfter = rows.counts.before
        let now = rows.now.compactMap { row in row.item.map { (item: $0, seal: row.seal) } }
            .sorted { $0.item.precedes($1.item) }
        let old = rows.before.compactMap(\.item).sorted { $0.precedes($1) }
        let pairs: [Int?]
        do throws(CryptographyFailure) {
            pairs = try ItemMatcher.pairs(of: now.map(\.item), with: old)
        } catch {
            throw .cryptography(error)
        }
        let (added, changed) = (now.indices.filter { pairs[$0] == nil }, now.indices.filter { pairs[$0] != nil })
        let present = Set(pairs.compactMap(\.self))
        var changes = UndoneChanges()
        changes.itemsBefore = rows.counts.now
        changes.vanishing = added.map { now[$0].item }
        changes.changing = changed.map { now[$0].item }
        changes.returning = old.indices.filter { !present.contains($0) }.map { old[$0] }
        if let written {
            let since = { (indices: [Int]) in
                indices.map { now[$0] }.filter { row in row.seal.map(written.contains) != true }.map(\.item)
            }
            changes.since = .init(added: since(added), changed: since(changed))
        }
        self.changes = changes
    }

    /// True if the copy holds what the keychain holds; rows that are no valid items count, too.
    var isNone: Bool { rows.isNone }

    /// Checks that what was listed, and perhaps confirmed, is still what is removed or set back.
    ///
    /// - Throws: `KeychainStoreError` (`busy` if it is not).
    func requireCurrent(_ writer: KeychainWriter) throws(KeychainStoreError) {
        guard try writer.difference(from: copy).isEqual(to: rows) else { throw .busy }
    }
}
