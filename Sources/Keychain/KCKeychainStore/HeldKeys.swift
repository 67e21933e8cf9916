internal import KCByteStreams
internal import KCKeychainKeys

/// The class keys that a process keeps for several objects of one keychain, because the kernel does not keep them.
package struct HeldKeys {
    fileprivate let storeID: [UInt8]
    fileprivate let keybag: Keybag
    fileprivate let keys: ClassKeys
}

extension Keychain {
    /// Copies of the class keys that this object has now.
    package func heldKeys() throws(KeychainStoreError) -> HeldKeys {
        HeldKeys(storeID: storeID, keybag: keybag, keys: try sealing(classKeys.copy()))
    }

    /// Gives this object the keys that the process keeps instead of those it has, or only the device's own keys if they
    /// belong to another keychain or to an earlier passcode.
    package func take(_ held: HeldKeys) throws(KeychainStoreError) {
        lock(untilFirstUnlock: true)
        // Another object may have noticed a new passcode that this one does not know yet.
        try withReadTransaction { _ throws(KeychainStoreError) in }
        guard held.storeID == storeID, held.keybag.hasKeys(of: keybag) else { return }
        classKeys.merge(try sealing(held.keys.copy()))
    }
}
