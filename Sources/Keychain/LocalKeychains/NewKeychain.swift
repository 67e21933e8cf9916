package import ByteStreams
package import Cryptography
package import DeviceIdentity
internal import KeychainKeys
package import KeychainModel
package import KeychainStore

/// A keychain that is to be made, and with the first one its folder and the key of this device.
///
/// ```swift
/// let made = try NewKeychain(local, in: folder, on: device, cost: cost, now: now).make(passcode: passcode)
/// ```
package struct NewKeychain {
    private let local: LocalKeychain
    private let folder: DataFolder
    private let device: LocalDevice
    private let cost: ScryptCost?
    private let now: Timestamp
    private let isSearched: Bool

    /// Names the keychain.
    ///
    /// - Parameters:
    ///   - cost: the work that one try of its passcode takes.
    ///   - isSearched: true to put it on the search list of `security`; by default if it is in the data folder.
    package init(
        _ local: LocalKeychain, in folder: DataFolder, on device: LocalDevice, cost: ScryptCost?, now: Timestamp,
        isSearched: Bool? = nil
    ) {
        self.local = local
        self.folder = folder
        self.device = device
        self.cost = cost
        self.now = now
        self.isSearched = isSearched ?? local.isNamed
    }

    /// What was made.
    package struct Made {
        /// The device that the keychain belongs to.
        package let device: DeviceID
        /// True when the key of the device was made with it.
        package let isFirstOfDevice: Bool
        /// Why the keychain is not on the search list of `security`; nil if it is, or does not belong there.
        package let notListed: LocalKeychainFailure?
    }

    /// Makes an empty keychain; once the file has its name, nothing fails.
    ///
    /// - Throws: `KeychainStoreError`, `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func make(passcode: borrowing SecretBytes?) throws -> Made {
        let (key, isNew) = try prepare()
        try Keychain.make(at: local.path, deviceKey: key, passcode: passcode, cost: cost, now: now)
        return list(key, isNew)
    }

    /// Makes a keychain that gets its name when `fill` has filled it; when that throws, there is none.
    ///
    /// - Returns: what `fill` returned, and what was made.
    /// - Throws: what `fill` throws, and as `make(passcode:)`.
    package func make<Result>(
        passcode: borrowing SecretBytes?, _ fill: (Keychain) throws -> Result
    ) throws -> (Result, Made) {
        let (key, isNew) = try prepare()
        let place = try Place(local)
        let result = try fill(
            Keychain.create(at: place.path, deviceKey: key, passcode: passcode, cost: cost, now: now))
        try place.publish()
        return (result, list(key, isNew))
    }

    /// Makes a keychain with the class keys of an earlier one of this device, whose passcode opens it, and fills it.
    ///
    /// - Parameter minimumCost: the lowest scrypt cost believed; for tests.
    /// - Returns: what `fill` returned, and what was made.
    /// - Throws: what `fill` throws, and as `make(passcode:)`.
    package func make<Result>(
        adopting stored: StoredKeychain, minimumCost: ScryptCost?, _ fill: (Keychain) throws -> Result
    ) throws -> (Result, Made) {
        let keybag: Keybag
        do throws(KeybagFailure) {
            keybag = try Keybag(text: Array(stored.keybag.utf8).span)
        } catch {
            throw KeychainStoreError(error)
        }
        let (key, isNew) = try prepare()
        let place = try Place(local)
        let result = try fill(
            Keychain.create(at: place.path, adopting: keybag, deviceKey: key, now: now, minimumCost: minimumCost))
        try place.publish()
        return (result, list(key, isNew))
    }

    private func prepare() throws -> (DeviceKey, Bool) {
        try Keychain.requireFree(at: local.path)
        let (key, isNew) = try device.keyOrFirst()
        if local.isNamed { try Path.makeFolder(folder.keychains) }
        return (key, isNew)
    }

    private func list(_ key: DeviceKey, _ isNew: Bool) -> Made {
        var failure: LocalKeychainFailure?
        do throws(LocalKeychainFailure) {
            if isSearched { try local.joinSearchList(in: folder) }
        } catch {
            failure = error
        }
        return Made(device: key.id, isFirstOfDevice: isNew, notListed: failure)
    }

    /// Where a keychain is while it is filled.
    private struct Place {
        private let staging: StagingFolder
        private let name: String
        private let target: String

        init(_ local: LocalKeychain) throws(FileFailure) {
            let (folder, name) = Path.split(local.path)
            staging = try StagingFolder(in: folder)
            self.name = name
            target = local.path
        }

        var path: String { staging.path + "/" + name }

        /// The keychain must have been closed.
        func publish() throws {
            try Keychain.requireFree(at: target)
            try staging.publish(name, as: name)
        }
    }
}
