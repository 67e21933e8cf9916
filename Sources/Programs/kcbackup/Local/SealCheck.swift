internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

/// Finds the items whose seals do not prove their attributes: another program changed them, or the file is damaged.
///
/// Only seals whose keys are available can be checked.
struct SealCheck: ItemVisitor {
    private let isIncluded: (Item) -> Bool
    private var broken: Set<ItemUUID> = []

    private init(_ isIncluded: @escaping (Item) -> Bool) {
        self.isIncluded = isIncluded
    }

    /// Returns the UUIDs of the items with broken seals.
    ///
    /// - Throws: as `Keychain.visitStoredItems`.
    static func broken(in keychain: Keychain, where isIncluded: @escaping (Item) -> Bool) throws -> Set<ItemUUID> {
        try keychain.visitStoredItems { _ in SealCheck(isIncluded) }.broken
    }

    /// Returns the UUIDs of those of `items` whose seals are broken.
    ///
    /// - Throws: as `Keychain.read` and `KeychainReader.isWhole`.
    static func broken(among items: [Item], in keychain: Keychain) throws -> Set<ItemUUID> {
        try keychain.read { reader in
            var broken: Set<ItemUUID> = []
            for item in items where keychain.canOpen(item.accessibility) {
                do throws(KeychainStoreError) {
                    if try !reader.isWhole(item) { broken.insert(item.uuid) }
                } catch .itemNotFound {
                    // Another process has deleted it since.
                }
            }
            return broken
        }
    }

    /// The JSON member that marks an item whose seal is broken; it is left out of others.
    static func member(isBroken: Bool) -> (String, JSONValue?) { ("sealBroken", isBroken ? .flag(true) : nil) }

    func wants(_ item: Item) -> Bool { isIncluded(item) }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) {
        // Rows that are no items are counted when they are listed.
        if let item { broken.insert(item.uuid) }
    }
}

extension Session {
    /// Reports broken seals of listed items.
    ///
    /// - Returns: `incomplete` if there are any, otherwise `status`.
    func status(_ status: ExitStatus, brokenSeals count: Int) -> ExitStatus {
        if count == 0 { return status }
        warn(
            "the seals of \(counted(count, "item")) do not fit: another program changed what is shown, or the keychain is "
                + "damaged; 'kcbackup restore ARCHIVE \(OptionName.onConflict.spelling) overwrite' brings back what a backup has"
        )
        return .incomplete
    }
}
