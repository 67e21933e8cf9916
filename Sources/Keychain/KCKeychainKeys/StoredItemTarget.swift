package import KCKeychainModel

/// A target that can accept secrets in the form in which a keychain file stores them.
package protocol StoredItemTarget: ItemTarget {
    /// Lends the target's class keys to the keybag of an archive if they match it.
    ///
    /// - Returns: the form in which the target accepts the secrets: stored if its class keys are the same, otherwise
    ///   plain, to be sealed again.
    func form(ofSecretsUnder keybag: ArchivedKeybag) throws -> SecretForm
}
