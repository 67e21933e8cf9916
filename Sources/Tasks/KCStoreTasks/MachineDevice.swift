package import KCBackupEngine
package import KCByteStreams
package import KCDeviceIdentity
package import KCLocalKeychains

extension Machine {
    /// The file with the key of a device that another one has replaced; nil if there is none.
    package func retiredKey(of device: DeviceID) throws(FileFailure) -> String? {
        let path = "\(dataFolder.deviceKey).retired-\(device)"
        return try Path.exists(path) ? path : nil
    }
}

extension LocalDevice {
    /// Creates an instance for the key in this machine's data folder.
    package init(_ machine: Machine) {
        self.init(machine.dataFolder, machineIDPath: machine.machineIDPath, chip: machine.chip)
    }

    /// Returns this device and the devices that it trusts; nil if no key was ever created.
    ///
    /// - Throws: `DeviceKeyFailure`, `TrustedDevicesFailure`.
    package func identity() throws -> LocalIdentity? {
        guard let key = try keyIfAny() else { return nil }
        return LocalIdentity(device: key, trusted: try trusted(by: key).list())
    }
}
