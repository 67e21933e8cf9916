package import KCByteStreams
package import KCDeviceIdentity

extension DeviceKeyProvider {
    /// Creates a key in the file.
    package func create() throws(DeviceKeyFailure) -> DeviceKey { try create(in: .file) }

    /// Renews the device with a key in the file.
    package func renew() throws(DeviceKeyFailure) -> DeviceKeyRenewal { try renew(in: .file) }

    /// Exports the key on some day.
    package func exported() throws(DeviceKeyFailure) -> SecretBytes { try exported(on: .ofTest) }
}

extension DeviceKeyStatus {
    /// Describes a key that a file holds.
    package init(device: DeviceID, machine: MachineMatch) {
        self.init(device: device, machine: machine, holding: .file)
    }
}

extension KeyDay {
    /// A day.
    package static let ofTest = KeyDay(year: 2026, month: 11, day: 21)
}
