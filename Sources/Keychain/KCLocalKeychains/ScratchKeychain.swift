internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore

/// A keychain for a trial, which disappears with this object and which no other process can ever open.
///
/// Its device key exists only in the memory of this process, so any remains of the file on disk open nothing. After a
/// kill, the folder is removed when the next one is created. The keychain has a passcode, since some items need one.
package final class ScratchKeychain {
    private let staging: StagingFolder
    private let device: DeviceKey
    private let passcode: SecretBytes
    private let now: Timestamp

    /// Creates the keychain's folder within the data folder.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`.
    package init(in folder: DataFolder, now: Timestamp) throws {
        try Path.makeFolder(folder.path)
        staging = try StagingFolder(in: folder.path)
        device = try DeviceKey.generate()
        passcode = try RandomBytes.secret(count: 32)
        self.now = now
    }

    private var path: String { staging.path + "/trial.keychain" }

    /// Creates the keychain, empty and open.
    package func make() throws(KeychainStoreError) -> Keychain {
        // 32 random bytes cannot be guessed, so the lowest cost is enough.
        let cost = ScryptCost(logN: Keybag.costRange.lowerBound)
        let passcode: SecretBytes? = passcode.copy()
        return try Keychain.create(at: path, deviceKey: device, passcode: passcode, cost: cost, now: now)
    }

    /// Opens the file again.
    package func open() throws(KeychainStoreError) -> Keychain {
        let keychain = try Keychain.open(at: path, deviceKey: device)
        let passcode: SecretBytes? = passcode.copy()
        try keychain.unlock(passcode: passcode, now: now)
        return keychain
    }
}
