internal import Cryptography
package import KeychainKeys
package import KeychainModel

extension Keychain: StoredItemTarget {
    /// Earlier class keys of this keychain are lent too, while it is unlocked.
    ///
    /// - Throws: `KeychainStoreError` (`damaged`, `cryptography`).
    package func form(ofSecretsUnder archived: ArchivedKeybag) throws -> SecretForm {
        if archived.hasKeys(classKeys) {
            archived.take(classKeys)
            return .stored
        }
        let retired = try withKeys { () throws(KeybagFailure) in try keybag.retiredKeys(under: classKeys) }
        for keys in retired where archived.hasKeys(keys) {
            archived.take(keys)
            break
        }
        return .plain
    }
}

/// Runs work on class keys; its failures become those of a keychain file.
func withKeys<R>(_ body: () throws(KeybagFailure) -> R) throws(KeychainStoreError) -> R {
    do {
        return try body()
    } catch {
        throw KeychainStoreError(error)
    }
}

extension KeychainStoreError {
    /// The failure of a keybag as one of the keychain that has it.
    package init(_ failure: KeybagFailure) {
        switch failure {
        case .newerFormat(let found, let known): self = .newerFormat(found: found, known: known)
        case .damaged(let rule): self = .damaged(rule)
        case .otherDevice(let device): self = .otherDevice(device)
        case .limit(let what, let found, let allowed): self = .limit(what, found: found, allowed: allowed)
        case .wrongPasscode: self = .wrongPasscode
        case .escrow(let problem): self = .escrow(problem)
        case .cryptography(let failure): self = .cryptography(failure)
        }
    }
}

/// Runs work on a secret whose failure is not in the data.
func sealing<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(KeychainStoreError) -> R {
    do {
        return try body()
    } catch {
        throw .cryptography(error)
    }
}
