internal import KCByteStreams
internal import KCCryptography
package import KCKeychainKeys
package import KCKeychainModel

extension Keychain: StoredItemTarget {
    /// Lends the class keys that open `archived`, including earlier ones if the keychain is unlocked.
    ///
    /// - Throws: `KeychainStoreError` (`damaged`, `cryptography`).
    package func form(ofSecretsUnder archived: ArchivedKeybag) throws -> SecretForm {
        if archived.hasKeys(classKeys) {
            archived.take(classKeys)
            return .stored
        }
        let retired = try withKeys(keybag.retiredKeys(under: classKeys))
        for keys in retired where archived.hasKeys(keys) {
            archived.take(keys)
            break
        }
        return .plain
    }
}

/// Runs an operation on class keys and converts its failures to those of a keychain file.
func withKeys<R>(_ call: @autoclosure () throws(KeybagFailure) -> R) throws(KeychainStoreError) -> R {
    try failing(as: KeychainStoreError.init, call())
}

extension KeychainStoreError {
    /// Converts a failure of a keybag to one of the keychain that contains it.
    package init(_ failure: KeybagFailure) {
        switch failure {
        case .newerFormat(let found, let known): self = .newerFormat(found: found, known: known)
        case .damaged(let rule): self = .damaged(rule)
        case .otherDevice(let device): self = .otherDevice(device)
        case .limit(let what, let found, let allowed): self = .limit(what, found: found, allowed: allowed)
        case .wrongPasscode: self = .wrongPasscode
        case .escrow(let problem): self = .escrow(problem)
        case .token(let problem): self = .token(problem)
        case .cryptography(let failure): self = .cryptography(failure)
        }
    }
}

/// Runs an operation on a secret that can fail only for reasons other than the data.
func sealing<R: ~Copyable>(_ call: @autoclosure () throws(CryptographyFailure) -> R) throws(KeychainStoreError) -> R {
    try failing(as: KeychainStoreError.cryptography, call())
}
