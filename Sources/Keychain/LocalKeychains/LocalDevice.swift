internal import ByteStreams
package import DeviceIdentity

/// The device key of this installation, and what lies beside it.
package struct LocalDevice: Sendable {
    private let folder: DataFolder
    /// Where the key is kept.
    package let provider: any DeviceKeyProvider

    /// Finds the key in the data folder.
    ///
    /// - Parameter machineIDPath: where the machine ID is (machine-id(5)).
    package init(_ folder: DataFolder, machineIDPath: String = "/etc/machine-id") {
        self.folder = folder
        provider = FileDeviceKeyProvider(path: folder.deviceKey, machineIDPath: machineIDPath)
    }

    /// The key that is there.
    ///
    /// - Throws: `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`) when keychains are there without their
    ///   key, `FileFailure`.
    package func key() throws -> DeviceKey {
        try refusingOrphans { () throws(DeviceKeyFailure) in try provider.load() }
    }

    /// Which device the key belongs to, and whether it was made on this machine, even if `key` refuses.
    ///
    /// - Throws: as `key`.
    package func status() throws -> DeviceKeyStatus {
        try refusingOrphans { () throws(DeviceKeyFailure) in try provider.status() }
    }

    /// The key that is there, or nil where none was ever made.
    ///
    /// - Throws: `DeviceKeyFailure`.
    package func keyIfAny() throws(DeviceKeyFailure) -> DeviceKey? {
        do throws(DeviceKeyFailure) {
            return try provider.load()
        } catch {
            if case .notFound = error { return nil }
            throw error
        }
    }

    /// The key that is there, or a new one with the first keychain.
    ///
    /// - Throws: `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func keyOrFirst() throws -> (key: DeviceKey, isNew: Bool) {
        if let key = try keyIfAny() { return (key, false) }
        try refuseOrphans()
        do throws(DeviceKeyFailure) {
            return (try provider.create(), true)
        } catch {
            // Another process has made it since.
            if case .exists = error { return (try provider.load(), false) }
            throw error
        }
    }

    /// The list of devices that the owner of `key` trusts.
    package func trusted(by key: DeviceKey) -> TrustedDevices {
        TrustedDevices(besideKeyAt: folder.deviceKey, of: key)
    }

    /// Tells a lost key from one that was never made.
    private func refusingOrphans<R>(_ body: () throws(DeviceKeyFailure) -> R) throws -> R {
        do throws(DeviceKeyFailure) {
            return try body()
        } catch {
            if case .notFound = error { try refuseOrphans() }
            throw error
        }
    }

    /// Refuses to make a new key while there are keychains that need a lost one.
    private func refuseOrphans() throws {
        let names = try LocalKeychain.names(in: folder)
        if !names.isEmpty { throw LocalKeychainFailure.deviceKeyMissing(keychains: names.count) }
    }
}
