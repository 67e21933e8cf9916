package import KCByteStreams
internal import KCCryptography
package import KCKeychainKeys
package import KCKeychainModel

extension Keychain {
    /// Keeps class keys for the holder of an escrow key, who can then read on this device what a backup contains.
    ///
    /// The keychain must have been unlocked. Setting the passcode renews the record for the same escrow key.
    ///
    /// - Throws: `escrow` (`noPasscode`, `exists`), `locked`, `wrongPasscode`, which only a chip counts, `busy`, `diskFull`,
    ///   `readOnly`, `sqlite`.
    package func enableEscrow(
        for key: EscrowPublicKey, passcode: borrowing SecretBytes, now: Timestamp
    ) throws(KeychainStoreError) {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        for accessibility in Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            for constraint in [nil] + AccessConstraint.allCases where keybag.hasPasscode || constraint == nil {
                _ = try openingKey(Protection(accessibility, constraint))
            }
        }
        let before = keybag
        let after = try withKeys(before.withEscrow(for: key, since: now, classKeys, deviceKey, passcode: passcode))
        try change { database throws(KeychainStoreError) in
            guard keybag == before else { throw .busy }
            try StoreRecord.replace(with: after, in: database)
        }
        adopt(after, classKeys)
    }

    /// Removes the escrow record; no passcode is needed.
    ///
    /// A copy of the file still has the record. Only new class keys (`setPasscode`) protect items that are added later
    /// from someone who has both a copy and the escrow key.
    ///
    /// - Throws: `escrow` (`none`), `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func revokeEscrow() throws(KeychainStoreError) {
        let after = try change { database throws(KeychainStoreError) in
            if keybag.escrow == nil { throw .escrow(.none) }
            let after = try sealing(keybag.withoutEscrow(deviceKey))
            try StoreRecord.replace(with: after, in: database)
            return after
        }
        adopt(after, classKeys)
    }
}

/// A keychain opened with an escrow key, from which a backup can be made, but nothing else.
package final class EscrowedKeychain {
    // The keychain is unlocked, so it must stay private.
    private let keychain: Keychain

    /// Opens the file of `keychain` again; `keychain` itself does not change.
    ///
    /// - Parameter text: an escrow key file.
    /// - Throws: `escrow` (`none`, `otherKey`, `forged`, `malformedLine`, `noKey`), `limit`, and as `Keychain.open`.
    package init(_ keychain: Keychain, keyFile text: borrowing SecretBytes) throws(KeychainStoreError) {
        let opened = try Keychain.open(
            at: keychain.path, deviceKey: keychain.deviceKey, lockWait: keychain.lockWait,
            minimumCost: keychain.minimumCost)
        guard opened.storeID == keychain.storeID else { throw .busy }
        let keys = try withKeys(opened.keybag.escrowedKeys(EscrowKeys(parsing: text), opened.deviceKey))
        opened.classKeys.merge(keys)
        self.keychain = opened
    }

    /// Identifies the file (16 bytes).
    package var storeID: [UInt8] { keychain.storeID }

    /// The number of live items.
    package func itemCount() throws(KeychainStoreError) -> Int { try keychain.itemCount() }
}

extension EscrowedKeychain: StoredItemSource {
    /// Visits every live item; see `ItemSource`.
    ///
    /// - Throws: as `Keychain.visitItems`; `busy` if the passcode was set in the meantime.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        do {
            try keychain.visitItems(&visitor)
        } catch KeychainStoreError.locked(let accessibility) where accessibility != .whenPasscodeSetThisDeviceOnly {
            // The escrow key opened it before, so its class keys have changed since.
            throw KeychainStoreError.busy
        }
    }

    /// Visits every live item; see `StoredItemSource`.
    ///
    /// - Throws: as `Keychain.visitStoredItems`.
    package func visitStoredItems<Visitor: ItemVisitor>(_ begin: (StoredKeychain) throws -> Visitor) throws -> Visitor {
        try keychain.visitStoredItems(begin)
    }

    /// True except for WhenPasscodeSetThisDeviceOnly items, which are never in a backup.
    package func canOpen(_ protection: Protection) -> Bool { keychain.canOpen(protection) }
}
