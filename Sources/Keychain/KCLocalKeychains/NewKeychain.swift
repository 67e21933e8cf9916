package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore

/// Creates a keychain and, with the first one, its folder and the key of this device.
///
/// ```swift
/// let made = try NewKeychain(local, in: folder, on: device, cost: cost, now: now).make(passcode: passcode)
/// ```
package struct NewKeychain {
    private let local: LocalKeychain
    private let folder: DataFolder
    private let device: LocalDevice
    private let holder: NewKeyHolder
    private let cost: ScryptCost?
    private let now: Timestamp
    private let isSearched: Bool

    /// Prepares a new keychain.
    ///
    /// - Parameters:
    ///   - holder: where the key of the device is to be, if this is its first keychain.
    ///   - cost: the scrypt cost of one passcode attempt.
    ///   - isSearched: true to put it on the search list of `security`; by default, if it is in the data folder.
    package init(
        _ local: LocalKeychain, in folder: DataFolder, on device: LocalDevice, heldBy holder: NewKeyHolder = .file,
        cost: ScryptCost?, now: Timestamp, isSearched: Bool? = nil
    ) {
        self.local = local
        self.folder = folder
        self.device = device
        self.holder = holder
        self.cost = cost
        self.now = now
        self.isSearched = isSearched ?? local.isNamed
    }

    /// The result of creating a keychain.
    package struct Made {
        /// The device that the keychain belongs to.
        package let device: DeviceID
        /// True if the key of the device was created with it.
        package let isFirstOfDevice: Bool
        /// Why the keychain is not on the search list of `security`; nil if it is, or does not belong there.
        package let notListed: LocalKeychainFailure?
    }

    /// Creates an empty keychain; once the file has its name, nothing can fail.
    ///
    /// - Parameter counter: who counts wrong passcodes, if there is a passcode.
    /// - Throws: `KeychainStoreError`, `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func make(passcode: borrowing SecretBytes?, countedBy counter: PasscodeCounter = .file) throws -> Made {
        let (key, isNew) = try prepare()
        try StateFolder.follow(at: local, in: folder)
        try Keychain.make(
            at: local.path, deviceKey: key, passcode: passcode, countedBy: counter, cost: cost, now: now)
        return list(key, isNew)
    }

    /// Creates a keychain that gets its name once `fill` has filled it; if that throws, there is none.
    ///
    /// - Returns: the result of `fill`, and that of creating the keychain.
    /// - Throws: what `fill` throws, and as `make(passcode:)`.
    package func make<Result>(
        passcode: borrowing SecretBytes?, _ fill: (Keychain) throws -> Result
    ) throws -> (Result, Made) {
        let (key, isNew) = try prepare()
        let place = try Place(local)
        let result = try fill(
            Keychain.create(at: place.path, deviceKey: key, passcode: passcode, cost: cost, now: now))
        try StateFolder.follow(at: local, in: folder)
        try place.publish()
        return (result, list(key, isNew))
    }

    /// Creates a keychain with the class keys of an earlier one of this device, whose passcode opens it, and fills it.
    ///
    /// - Parameter minimumCost: the lowest scrypt cost that is accepted; for tests.
    /// - Returns: the result of `fill`, and that of creating the keychain.
    /// - Throws: what `fill` throws, and as `make(passcode:)`.
    package func make<Result>(
        adopting stored: StoredKeychain, minimumCost: ScryptCost?, _ fill: (Keychain) throws -> Result
    ) throws -> (Result, Made) {
        let keybag = try failing(as: KeychainStoreError.init, Keybag(text: Array(stored.keybag.utf8).span))
        let (key, isNew) = try prepare()
        let place = try Place(local)
        let result = try fill(
            Keychain.create(at: place.path, adopting: keybag, deviceKey: key, now: now, minimumCost: minimumCost))
        try StateFolder.follow(at: local, in: folder)
        try place.publish()
        return (result, list(key, isNew))
    }

    private func prepare() throws -> (DeviceKey, Bool) {
        try Keychain.requireFree(at: local.path)
        let (key, isNew) = try device.keyOrFirst(in: holder)
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

    /// The temporary location of a keychain while it is being filled.
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

        /// Publishes the keychain, which must have been closed.
        func publish() throws {
            try Keychain.requireFree(at: target)
            try staging.publish(name, as: name)
        }
    }
}
