package import KCByteStreams
internal import KCCryptography
package import KCKeychainKeys
package import KCKeychainModel

extension Keychain {
    /// Lets a security token open items with `user-presence`, besides the passcode.
    ///
    /// The keychain must have been opened with the passcode. Setting the passcode renews the record for the same token.
    ///
    /// - Parameter secret: what the token gives for `handle`.
    /// - Throws: `token` (`noPasscode`, `exists`, `full`), `presenceNeeded`, `wrongPasscode`, which only a chip counts,
    ///   `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func enrollToken(
        _ name: TokenName, _ handle: TokenHandle, secret: borrowing SecretBytes, passcode: borrowing SecretBytes,
        now: Timestamp
    ) throws(KeychainStoreError) {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        let before = keybag
        _ = try withKeys(before.requirePlace(forToken: name))
        guard canOpen(Protection(.always, .userPresence)) else { throw .presenceNeeded(.userPresence) }
        let after = try withKeys(
            before.withToken(name, handle, secret: secret, since: now, classKeys, deviceKey, passcode: passcode))
        try change { database throws(KeychainStoreError) in
            guard keybag == before else { throw .busy }
            try StoreRecord.replace(with: after, in: database)
        }
        adopt(after, classKeys)
    }

    /// Removes a security token; neither it nor the passcode is needed.
    ///
    /// A copy of the file still has the record. Only new keys (`setPasscode`) protect items that are added later from
    /// someone who has both a copy and the token.
    ///
    /// - Throws: `token` (`none`), `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func removeToken(_ name: TokenName) throws(KeychainStoreError) {
        let after = try change { database throws(KeychainStoreError) in
            let after = try withKeys(keybag.withoutToken(name, deviceKey))
            try StoreRecord.replace(with: after, in: database)
            return after
        }
        adopt(after, classKeys)
    }

    /// Opens items with `user-presence` with the secret of a security token, if the keychain is unlocked.
    ///
    /// `forgetPresence` ends that, as after the passcode.
    ///
    /// - Parameter secret: what the token gives for the handle of its record.
    /// - Throws: `token` (`none`, `otherSecret`, `forged`).
    package func openPresence(
        ofToken name: TokenName, secret: borrowing SecretBytes
    ) throws(KeychainStoreError) {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        classKeys.merge(try withKeys(keybag.presenceKeys(ofToken: name, secret: secret, deviceKey)))
    }
}
