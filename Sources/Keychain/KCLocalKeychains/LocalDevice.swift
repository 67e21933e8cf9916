internal import KCByteStreams
package import KCDeviceIdentity
internal import KCSecurityChip

/// The device key of this installation, and the files next to it.
package struct LocalDevice: Sendable {
    private let folder: DataFolder
    /// The provider that keeps the key.
    package let provider: any DeviceKeyProvider

    /// Locates the key in the data folder.
    ///
    /// - Parameters:
    ///   - machineIDPath: the path of the machine ID (machine-id(5)).
    ///   - chip: the security chip of this machine, which may hold the key.
    package init(
        _ folder: DataFolder, machineIDPath: String = "/etc/machine-id", chip: DeviceChip = LocalDevice.chip
    ) {
        self.folder = folder
        provider = FileDeviceKeyProvider(path: folder.deviceKey, machineIDPath: machineIDPath, chip: chip)
    }

    /// The security chip of this machine.
    package static let chip = DeviceChip(TPM.ofThisMachine)

    /// The existing key.
    ///
    /// - Throws: `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`) if there are keychains but their key
    ///   is missing, `FileFailure`.
    package func key() throws -> DeviceKey {
        try refusingOrphans { () throws(DeviceKeyFailure) in try provider.load() }
    }

    /// The device that the key belongs to, and whether it was made on this machine, even if `key` throws.
    ///
    /// - Throws: as `key`.
    package func status() throws -> DeviceKeyStatus {
        try refusingOrphans { () throws(DeviceKeyFailure) in try provider.status() }
    }

    /// The existing key, or nil if none was ever made.
    package func keyIfAny() throws(DeviceKeyFailure) -> DeviceKey? {
        do throws(DeviceKeyFailure) {
            return try provider.load()
        } catch {
            if case .notFound = error { return nil }
            throw error
        }
    }

    /// Checks that there is a key, or that one may be made.
    ///
    /// - Throws: as `keyOrFirst`.
    package func requireKeyOrNone() throws {
        if try keyIfAny() == nil { try refuseOrphans() }
    }

    /// The existing key, or a new one for the first keychain.
    ///
    /// - Parameter holder: where a new key is to be.
    /// - Throws: `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func keyOrFirst(in holder: NewKeyHolder = .file) throws -> (key: DeviceKey, isNew: Bool) {
        if let key = try keyIfAny() { return (key, false) }
        try refuseOrphans()
        do throws(DeviceKeyFailure) {
            return (try provider.create(in: holder), true)
        } catch {
            // Another process has created it in the meantime.
            if case .exists = error { return (try provider.load(), false) }
            throw error
        }
    }

    /// The list of devices that the owner of `key` trusts.
    package func trusted(by key: DeviceKey) -> TrustedDevices {
        TrustedDevices(besideKeyAt: folder.deviceKey, of: key)
    }

    /// The path of the key, beside which are the lists that its device keeps.
    package var keyPath: String { folder.deviceKey }

    /// Distinguishes a lost key from one that was never made.
    private func refusingOrphans<R>(_ body: () throws(DeviceKeyFailure) -> R) throws -> R {
        do throws(DeviceKeyFailure) {
            return try body()
        } catch {
            if case .notFound = error { try refuseOrphans() }
            throw error
        }
    }

    /// Throws if there are keychains that need a lost key, so that no new one is made.
    private func refuseOrphans() throws {
        let names = try LocalKeychain.names(in: folder)
        if !names.isEmpty { throw LocalKeychainFailure.deviceKeyMissing(keychains: names.count) }
    }
}
