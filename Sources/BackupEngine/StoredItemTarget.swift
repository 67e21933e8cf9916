public import KeychainModel
public import KeychainStore

/// A target that can take secrets in the form in which a keychain file stores them.
public protocol StoredItemTarget: ItemTarget {
    /// True when secrets that were stored under `keybag`, as an archive's header holds it, open in this target.
    func opensSecrets(storedUnder keybag: String) -> Bool
}

extension Keychain: StoredItemTarget {
    /// True when the class keys are the same: a change of the passcode keeps them, a new keychain has its own.
    public func opensSecrets(storedUnder keybag: String) -> Bool {
        guard let keybag = try? Keybag(text: Array(keybag.utf8).span) else { return false }
        return matches(keybagUUID: keybag.uuid)
    }
}
