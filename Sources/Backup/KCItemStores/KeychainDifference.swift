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
    private let versions: Set<RowVersion>
    private let old: VersionedItems

    /// - Parameters:
    ///   - keychain: the keychain that is replaced.
    ///   - copy: its state at an earlier time.
    ///   - written: the rows that the undone command wrote; nil if that is unknown.
    init(from keychain: Keychain, to copy: Keychain, written: Set<RowSeal>?) throws(KeychainStoreError) {
        self.copy = copy
        old = try copy.versionedItems()
        let now = try keychain.versionedItems(since: old, of: copy)
        versions = now.versions
        itemsAfter = try copy.itemCount()
        let pairs: [Int?]
        do throws(CryptographyFailure) {
            pairs = try ItemMatcher.pairs(of: now.items.map(\.item), with: old.items.map(\.item))
        } catch {
            throw .cryptography(error)
        }
        let differing = now.items.indices.filter { [old] in !old.versions.contains(now.items[$0].version) }
        let (added, changed) = (differing.filter { pairs[$0] == nil }, differing.filter { pairs[$0] != nil })
        let present = Set(pairs.compactMap(\.self))
        var changes = UndoneChanges()
        changes.itemsBefore = try keychain.itemCount()
        changes.vanishing = added.map { now.items[$0].item }
        changes.changing = changed.map { now.items[$0].item }
        changes.returning = old.items.indices.filter { !present.contains($0) }.map { [old] in old.items[$0].item }
        if let written {
            let since = { (indices: [Int]) in
                indices.map { now.items[$0] }.filter { row in row.seal.map(written.contains) != true }.map(\.item)
            }
            changes.since = .init(added: since(added), changed: since(changed))
        }
        self.changes = changes
    }

    /// True if the copy holds what the keychain holds; rows that are no valid items count, too.
    var isNone: Bool { versions == old.versions }

    /// Checks that what was listed, and perhaps confirmed, is still what is removed or set back.
    ///
    /// - Throws: `KeychainStoreError` (`busy` if it is not).
    func requireCurrent(_ writer: KeychainWriter) throws(KeychainStoreError) {
        guard try writer.versionedItems(since: old, of: copy).versions == versions else { throw .busy }
    }
}
