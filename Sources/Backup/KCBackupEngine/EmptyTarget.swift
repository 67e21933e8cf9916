package import KCByteStreams
package import KCKeychainKeys
package import KCKeychainModel

/// A keychain that does not exist, for planning a dry run without creating a file.
package struct EmptyTarget: StoredItemTarget, ExistingItems {
    private let form: SecretForm

    /// Creates a target with the form in which the new keychain would accept stored secrets.
    package init(form: SecretForm) {
        self.form = form
    }

    package var isEmpty: Bool { true }

    package func form(ofSecretsUnder keybag: ArchivedKeybag) -> SecretForm { form }

    package func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    package func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        preconditionFailure("a dry run writes nothing")
    }

    package func item(withKeyOf item: Item) -> Item? { nil }

    package func item(withUUID uuid: ItemUUID) -> Item? { nil }

    package func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }

    package func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }
}
