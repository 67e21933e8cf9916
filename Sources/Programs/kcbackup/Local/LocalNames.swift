internal import BackupEngine
internal import ByteStreams
internal import DeviceIdentity
internal import KeychainStore
internal import LocalKeychains
internal import SecretService

extension LocalKeychain {
    /// Resolves a keychain name given by the user; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure` (`emptyName`, `invalidName`, `listsDamaged`, `file`), `UsageProblem`
    ///   (`notAKeychain`, `desktopKeyring`).
    init(_ given: String?, in world: World) throws {
        if let given, FileOfItems.path(given) != nil { throw UsageProblem.notAKeychain }
        if DesktopKeyring(given) != nil { throw UsageProblem.desktopKeyring }
        let expanded = given.map { $0.hasPrefix("~/") ? world.resolve($0) : $0 }
        try self.init(expanded, in: world.dataFolder, workingFolder: world.workingFolder)
    }

    /// Opens the file; only keys that need no passcode are available.
    ///
    /// - Throws: as `open(on:minimumCost:)`.
    func open(in session: Session) throws -> Keychain {
        session.subjects.keychain = name
        do {
            return try open(on: LocalDevice(session.world), minimumCost: session.world.costs.lowestPasscode)
        } catch KeychainStoreError.otherDevice(let device) {
            let retired = "\(session.world.dataFolder.deviceKey).retired-\(device)"
            if try Path.exists(retired) { session.subjects.retiredKey = retired }
            throw KeychainStoreError.otherDevice(device)
        } catch KeychainStoreError.notFound(let path) {
            if try LocalKeychain.names(in: session.world.dataFolder).isEmpty {
                session.subjects.desktopKeyring = try session.world.desktopKeyring()
            }
            throw KeychainStoreError.notFound(path)
        }
    }
}

extension LocalDevice {
    /// Creates an instance for the key in this world's data folder.
    init(_ world: World) {
        self.init(world.dataFolder, machineIDPath: world.machineIDPath)
    }

    /// Returns this device and the devices that it trusts; nil if no key was ever created.
    ///
    /// - Throws: `DeviceKeyFailure`, `TrustedDevicesFailure`.
    func identity() throws -> LocalIdentity? {
        guard let key = try keyIfAny() else { return nil }
        return LocalIdentity(device: key, trusted: try trusted(by: key).list())
    }
}
