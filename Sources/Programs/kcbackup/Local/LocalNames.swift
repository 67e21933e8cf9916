internal import BackupEngine
internal import DeviceIdentity
internal import KeychainStore
internal import LocalKeychains

extension LocalKeychain {
    /// Finds the file of what the user calls `given`; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure` (`emptyName`, `invalidName`, `listsDamaged`, `file`).
    init(_ given: String?, in world: World) throws(LocalKeychainFailure) {
        try self.init(given, in: world.dataFolder, workingFolder: world.workingFolder)
    }

    /// Opens the file; only what needs no passcode is at hand.
    ///
    /// - Throws: as `open(on:minimumCost:)`.
    func open(in session: Session) throws -> Keychain {
        session.subjects.keychain = name
        return try open(on: LocalDevice(session.world), minimumCost: session.world.costs.lowestPasscode)
    }
}

extension LocalDevice {
    /// Finds the key in the data folder of this world.
    init(_ world: World) {
        self.init(world.dataFolder, machineIDPath: world.machineIDPath)
    }

    /// What this device is and whom it trusts; nil where no key was ever made.
    ///
    /// - Throws: `DeviceKeyFailure`, `TrustedDevicesFailure`.
    func identity() throws -> LocalIdentity? {
        guard let key = try keyIfAny() else { return nil }
        return LocalIdentity(device: key, trusted: try trusted(by: key).list())
    }
}
