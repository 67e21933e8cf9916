/// Where a device key is kept, such as a file or a security chip.
package protocol DeviceKeyProvider: Sendable {
    /// Where it is kept, in words or as a path, for messages.
    var location: String { get }

    /// True where a key is kept, whether it can be used or not.
    ///
    /// - Throws: `DeviceKeyFailure` (`file`).
    var holdsKey: Bool { get throws(DeviceKeyFailure) }

    /// Loads the key of this device.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` when there is none, `otherMachine` when it belongs to another machine.
    func load() throws(DeviceKeyFailure) -> DeviceKey

    /// Makes the key of this device, which happens once.
    ///
    /// - Throws: `DeviceKeyFailure`; `exists` when there is one already, which is left alone.
    func create() throws(DeviceKeyFailure) -> DeviceKey

    /// Tells which device the key names and whether it was made on this machine, also where `load` refuses.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` when there is none.
    func status() throws(DeviceKeyFailure) -> DeviceKeyStatus

    /// Takes the user's word that this is still the device of the key, although the machine is another one.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` when there is none.
    func adopt() throws(DeviceKeyFailure) -> DeviceKey

    /// Takes the user's word that this is another device: it gets a new key, and the old one is kept.
    ///
    /// - Throws: `DeviceKeyFailure`; the old key is in place then.
    func renew() throws(DeviceKeyFailure) -> DeviceKeyRenewal
}

/// What is known of a device key before anything is opened with it.
package struct DeviceKeyStatus: Hashable, Sendable {
    /// The device that the key makes.
    package let device: DeviceID
    /// Whether the key was made or adopted on this machine.
    package let machine: MachineMatch
}

/// What became of the keys when a device was renewed.
package struct DeviceKeyRenewal: Sendable {
    /// The new device.
    package let device: DeviceKey
    /// The device that was.
    package let retired: DeviceID
    /// Where the old key is kept.
    package let retiredPath: String
}
