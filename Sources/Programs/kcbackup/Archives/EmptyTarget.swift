internal import BackupEngine
internal import ByteStreams
internal import KeychainModel

/// A keychain that is not there: what a dry run plans against, so that it makes no file.
struct EmptyTarget: StoredItemTarget, ExistingItems {
    /// In which form the keychain that would be made takes stored secrets: as they are where it gets the archive's keys.
    let form: SecretForm

    var isEmpty: Bool { true }

    func form(of secrets: StoredSecrets) -> SecretForm { form }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        throw Failure.unforeseen(type: "\(Self.self)")
    }

    func item(withKeyOf item: Item) -> Item? { nil }

    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }

    func localItems(_ body: (Item) throws -> Void) {}
}
