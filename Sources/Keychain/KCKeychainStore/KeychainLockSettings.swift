internal import KCByteStreams
internal import KCCryptography
package import KCKeychainKeys
internal import KCKeychainModel

extension Keychain {
    /// When the keychain locks automatically, as this object last read it; `information()` and sessions read the file.
    package var lockSettings: LockSettings { keybag.lockSettings }

    /// Changes when the keychain locks automatically; a running session adopts the change at its next use.
    ///
    /// The passcode and the generation stay the same.
    ///
    /// - Throws: `locked` unless the keychain is unlocked, `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func setLockSettings(_ settings: LockSettings) throws(KeychainStoreError) {
        try setLockSettings(settings) { () throws(KeychainStoreError) in }
    }

    /// The same, but runs `beforeCommit` under the lock when only the commit is left.
    func setLockSettings(
        _ settings: LockSettings, beforeCommit: () throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) {
        guard isUnlocked else { throw .locked(.whenUnlocked) }
        let after = try change { database throws(KeychainStoreError) in
            let after = try failing(as: KeychainStoreError.cryptography, keybag.with(settings, deviceKey))
            try StoreRecord.replace(with: after, in: database)
            try beforeCommit()
            return after
        }
        adopt(after, classKeys)
    }
}
