internal import BackupEngine
internal import ByteStreams
internal import DeviceIdentity

/// The device key of this installation, and what lies beside it.
struct LocalDevice {
    private let world: World
    /// Where the key is kept.
    let provider: FileDeviceKeyProvider

    /// Finds the key in the data folder.
    init(_ world: World) {
        self.world = world
        provider = FileDeviceKeyProvider(path: world.dataFolder + "/device.key", machineIDPath: world.machineIDPath)
    }

    /// The key that is there.
    ///
    /// - Throws: `DeviceKeyFailure`, `Refusal` (`deviceKeyMissing`) when keychains are there without their key.
    func key() throws -> DeviceKey {
        do throws(DeviceKeyFailure) {
            return try provider.load()
        } catch {
            if case .notFound = error { try refuseOrphans() }
            throw error
        }
    }

    /// The key that is there, or nil where none was ever made.
    ///
    /// - Throws: `DeviceKeyFailure`, `Refusal` (`deviceKeyMissing`).
    func keyIfAny() throws -> DeviceKey? {
        Path.exists(provider.path) ? try provider.load() : nil
    }

    /// The key that is there, or a new one with the first keychain.
    ///
    /// - Throws: `DeviceKeyFailure`, `Refusal` (`deviceKeyMissing`).
    func keyOrFirst() throws -> (key: DeviceKey, isNew: Bool) {
        if Path.exists(provider.path) { return (try provider.load(), false) }
        try refuseOrphans()
        return (try provider.create(), true)
    }

    /// The list of devices that the owner of `key` trusts.
    func trusted(by key: DeviceKey) -> TrustedDevices {
        TrustedDevices(besideKeyAt: provider.path, of: key)
    }

    /// What this device is and whom it trusts; nil where no key was ever made.
    ///
    /// - Throws: `DeviceKeyFailure`, `TrustedDevicesFailure`.
    func identity() throws -> LocalIdentity? {
        guard let key = try keyIfAny() else { return nil }
        return LocalIdentity(device: key, trusted: try trusted(by: key).list())
    }

    /// A lost key is not made anew in silence while keychains wait for it.
    private func refuseOrphans() throws {
        let names = try LocalKeychain.names(in: world)
        if !names.isEmpty { throw Refusal.deviceKeyMissing(keychains: names.count) }
    }
}
