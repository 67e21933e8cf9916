package import ByteStreams
package import Cryptography
package import DeviceIdentity
package import KeychainModel

/// The keybag that an archive carries, with as many of its class keys as could be opened, and what they open.
///
/// The device alone opens those of `dk` and `dku`, or all where the keybag has no passcode; the passcode of its time
/// opens the others, and so does a keychain that has the same class keys or has retired them.
package final class ArchivedKeybag {
    private let keybag: Keybag
    /// Nil on another device, which opens nothing.
    private let deviceKey: DeviceKey?
    private var keys = ClassKeys()
    private var sealer: ItemSealer

    /// What became of a stored secret.
    package enum Finding: Hashable, Sendable {
        /// Its seal is whole.
        case opened
        /// Its frame and size are right, and there is no key to open it.
        case closed
        /// Its seal is broken.
        case broken
        /// It is none that a keychain file would hold for this item.
        case malformed
    }

    /// Reads the keybag of an archive and, on the device that made the archive, makes sure that this device wrote it.
    ///
    /// - Parameters:
    ///   - device: the device that made the archive.
    ///   - deviceKey: the key of this device, if it is that one.
    /// - Throws: `damaged`, `newerFormat`, `limit`, `otherDevice`, `cryptography`.
    package init(text: String, of device: DeviceID, deviceKey: DeviceKey?) throws(KeybagFailure) {
        let keybag = try Keybag(text: Array(text.utf8).span)
        guard keybag.device == device else { throw .otherDevice(keybag.device) }
        self.keybag = keybag
        self.deviceKey = deviceKey
        do throws(CryptographyFailure) {
            sealer = try ItemSealer()
        } catch {
            throw .cryptography(error)
        }
        if let deviceKey { keys = try keybag.deviceOnlyKeys(deviceKey) }
    }

    /// True when it has a passcode.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// True when every class key that an archive can need is open.
    package var isOpen: Bool { RetiredKeys.accessibilities.allSatisfy { keys[$0] != nil } }

    /// Opens all class keys with the passcode of the archive's time.
    ///
    /// Nothing is counted: the archive has no place for it, and no copy would count.
    ///
    /// - Parameter minimumCost: the lowest scrypt cost believed, when not the lower end of `Keybag.costRange`; for tests.
    /// - Throws: `wrongPasscode`, `limit`, `damaged`, `cryptography`.
    package func unlock(
        passcode: borrowing SecretBytes, minimumCost: ScryptCost? = nil
    ) throws(KeybagFailure) {
        guard let deviceKey else { throw .otherDevice(keybag.device) }
        keys.merge(try keybag.passcodeKeys(passcode, deviceKey, minimumCost: minimumCost))
    }

    /// Checks the stored secret of an item, and opens it into `secret` where there is a key.
    ///
    /// - Parameter line: the metadata line of `item`.
    /// - Throws: `cryptography` for what is no fault of the bytes.
    package func open(
        _ item: Item, line: borrowing Span<UInt8>, stored: borrowing SecretBytes, into secret: inout SecretBytes
    ) throws(KeybagFailure) -> Finding {
        secret.removeAll()
        return try stored.withBytes { bytes throws(KeybagFailure) in
            guard SealedFrame.fits(bytes, item) else { return .malformed }
            guard let key = keys[item.accessibility] else { return .closed }
            sealer.begin(item, line: line)
            do throws(CryptographyFailure) {
                return try sealer.open(bytes, under: key, into: &secret) ? .opened : .broken
            } catch {
                throw .cryptography(error)
            }
        }
    }

    /// True when it has the class keys of `other`: all are made together, and the device opens that of `dk`.
    package func hasKeys(_ other: ClassKeys) -> Bool {
        guard let mine = keys[.always], let theirs = other[.always] else { return false }
        return constantTimeEqual(mine.secret, theirs.secret)
    }

    /// Takes class keys that were found to be its own.
    package func take(_ other: ClassKeys) {
        for accessibility in RetiredKeys.accessibilities {
            if let key = other[accessibility] { keys[accessibility] = key }
        }
    }
}
