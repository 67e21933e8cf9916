/// Where a device key is kept: a file now, a security chip later.
public protocol DeviceKeyProvider: Sendable {
    /// Loads the key of this device.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` when there is none, `otherMachine` when it belongs to another machine.
    func load() throws(DeviceKeyFailure) -> DeviceKey

    /// Makes the key of this device, which happens once.
    ///
    /// - Throws: `DeviceKeyFailure`; `exists` when there is one already, which is left alone.
    func create() throws(DeviceKeyFailure) -> DeviceKey
}
