package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The keybag in an archive, with those of its class keys that could be opened.
///
/// The device key alone opens those of `dk` and `dku`, or all if the keybag has no passcode. The others are opened by
/// the archive's passcode, or by a keychain that has the same class keys, current or retired.
package final class ArchivedKeybag {
    private let keybag: Keybag
    /// The key of this device; nil on another device, which cannot open anything.
    private let deviceKey: DeviceKey?
    private var keys = ClassKeys()
    private var sealer: ItemSealer

    /// The result of checking a stored secret.
    package enum Finding: Hashable, Sendable {
        /// Its seal is intact.
        case opened
        /// Its frame and size are valid, but no key is available to open it.
        case closed
        /// Its seal is broken.
        case broken
        /// The secret is not valid for this item.
        case malformed
    }

    /// Reads the keybag of an archive and, on the device that made the archive, verifies that this device wrote it.
    ///
    /// - Parameters:
    ///   - device: the device that made the archive.
    ///   - deviceKey: the key of this device, if this device made the archive.
    package init(text: String, of device: DeviceID, deviceKey: DeviceKey?) throws(KeybagFailure) {
        let keybag = try Keybag(text: Array(text.utf8).span)
        guard keybag.device == device else { throw .otherDevice(keybag.device) }
        try keybag.requireArchivable()
        self.keybag = keybag
        self.deviceKey = deviceKey
        sealer = try failing(as: KeybagFailure.cryptography, ItemSealer())
        if let deviceKey { keys = try keybag.deviceOnlyKeys(deviceKey) }
    }

    /// True if it has a passcode.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// True if every presence key is available.
    package var opensConstrained: Bool { AccessConstraint.allCases.allSatisfy { keys.presenceKeys[$0] != nil } }

    /// True if every class key that an archive can need is available.
    package var isOpen: Bool { RetiredKeys.accessibilities.allSatisfy { keys[$0] != nil } }

    /// True if the key of items with this protection is available.
    package func opens(_ protection: Protection) -> Bool { keys.openingKey(protection) != nil }

    /// Opens all class keys with the passcode that the keychain had when the archive was made.
    ///
    /// Wrong passcodes are not counted, unless a chip does: the archive has no place for a count, and a copy of it would
    /// not have the count.
    ///
    /// - Parameter minimumCost: overrides the lower end of `Keybag.costRange`; for tests.
    package func unlock(
        passcode: borrowing SecretBytes, minimumCost: ScryptCost? = nil
    ) throws(KeybagFailure) {
        guard let deviceKey else { throw .otherDevice(keybag.device) }
        keys.merge(try keybag.passcodeKeys(passcode, deviceKey, minimumCost: minimumCost))
    }

    /// Checks the stored secret of an item, and opens it into `secret` if there is a key.
    ///
    /// - Parameter line: the metadata line of `item`.
    /// - Throws: `cryptography` for failures not caused by the data.
    package func open(
        _ item: Item, line: borrowing Span<UInt8>, stored: borrowing SecretBytes, into secret: inout SecretBytes
    ) throws(KeybagFailure) -> Finding {
        secret.removeAll()
        return try stored.withBytes { bytes throws(KeybagFailure) in
            guard SealedFrame.fits(bytes, item) else { return .malformed }
            guard let key = keys.openingKey(item.protection) else { return .closed }
            sealer.begin(item, line: line)
            return try failing(
                as: KeybagFailure.cryptography, sealer.open(bytes, under: key, into: &secret) ? .opened : .broken)
        }
    }

    /// True if it has the class keys of `other`.
    ///
    /// Comparing the key of `dk` suffices, since all are created together and the device key opens that one.
    package func hasKeys(_ other: ClassKeys) -> Bool {
        guard let mine = keys[.always], let theirs = other[.always] else { return false }
        return constantTimeEqual(mine.secret, theirs.secret)
    }

    /// Adopts class keys that have been found to be those of this keybag.
    package func take(_ other: ClassKeys) {
        for accessibility in RetiredKeys.accessibilities {
            if let key = other[accessibility] { keys[accessibility] = key }
        }
        for (constraint, key) in other.presenceKeys { keys.add(key, for: constraint) }
    }
}
