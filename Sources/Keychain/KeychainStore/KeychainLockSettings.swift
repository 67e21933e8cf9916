internal import Cryptography
package import KeychainKeys
internal import KeychainModel

extension Keychain {
    /// When the keychain locks by itself, as far as this object knows; `information()` and sessions read the file anew.
    package var lockSettings: LockSettings { keybag.lockSettings }

    /// Changes when the keychain locks by itself; a session that runs follows at its next use.
    ///
    /// The passcode stays, and so does the generation.
    ///
    /// - Throws: `locked` unless the keychain is unlocked, `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func setLockSettings(_ settings: LockSettings) throws(KeychainStoreError) {
        try setLockSettings(settings) { () throws(KeychainStoreError) in }
    }

    /// Does so, and runs `beforeCommit` as the one process that changes the file, when nothing but the commit is left.
    func setLockSettings(
        _ settings: LockSettings, beforeCommit: () throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) {
        guard isUnlocked else { throw .locked(.whenUnlocked) }
        let after = try change { database throws(KeychainStoreError) in
            let after: Keybag
            do throws(CryptographyFailure) {
                after = try keybag.with(settings, deviceKey)
            } catch {
                throw KeychainStoreError.cryptography(error)
            }
            try StoreRecord.replace(with: after, in: database)
            try beforeCommit()
            return after
        }
        adopt(after, classKeys)
    }
}
