package import KeychainModel

/// A target that can take secrets in the form in which a keychain file stores them.
package protocol StoredItemTarget: ItemTarget {
    /// Lends the target's class keys to the keybag of an archive where they fit, and says in which form the target takes
    /// the secrets: as they are where its class keys are the same, or in the clear, to be sealed again.
    func form(ofSecretsUnder keybag: ArchivedKeybag) throws -> SecretForm
}
