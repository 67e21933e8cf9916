package import KCByteStreams
package import KCCryptography

/// Stores a device key, for example in a file or a security chip.
package protocol DeviceKeyProvider: Sendable {
    /// Where the key is stored, as a description or a path, for messages.
    var location: String { get }

    /// True if a key exists, whether or not it can be used.
    var holdsKey: Bool { get throws(DeviceKeyFailure) }

    /// Loads the key of this device.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` if there is none, `otherMachine` if it belongs to another machine.
    func load() throws(DeviceKeyFailure) -> DeviceKey

    /// Creates the key of this device, once.
    ///
    /// - Throws: `DeviceKeyFailure`; `exists` if there already is a key, which is left alone.
    func create(in holder: NewKeyHolder) throws(DeviceKeyFailure) -> DeviceKey

    /// Returns which device the key belongs to and whether it was created on this machine, even if `load` refuses the
    /// key.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` if there is none.
    func status() throws(DeviceKeyFailure) -> DeviceKeyStatus

    /// Checks that the chip that is said to hold the key opens it, and that what is said of it was written by this device.
    ///
    /// Nothing is checked of a key that no chip holds.
    ///
    /// - Throws: `DeviceKeyFailure`; `cryptography` with why not.
    func checkHolder() throws(DeviceKeyFailure)

    /// Confirms that this machine is still the key's device although the machine ID has changed.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` if there is none.
    func adopt() throws(DeviceKeyFailure) -> DeviceKey

    /// Returns the key as text that can be installed on any machine; if a chip holds it, the file says so from then on.
    ///
    /// - Throws: `DeviceKeyFailure`; `notFound` if there is none.
    func exported(on day: KeyDay) throws(DeviceKeyFailure) -> SecretBytes

    /// Moves the key from the file to the chip; whenever it is interrupted, one of them holds it.
    ///
    /// - Throws: `DeviceKeyFailure`; `heldByChip` if it is there already, `notFound`, `otherMachine`.
    func seal(on day: KeyDay) throws(DeviceKeyFailure) -> DeviceKey

    /// Moves the key from the chip to the file.
    ///
    /// - Throws: `DeviceKeyFailure`; `heldByFile` if it is there already, `notFound`, `otherMachine`.
    func unseal() throws(DeviceKeyFailure) -> DeviceKey

    /// Returns what the chip says about itself.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if it cannot be asked).
    func chipFacts() throws(CryptographyFailure) -> ChipFacts

    /// Returns the key in an exported text.
    ///
    /// - Throws: `DeviceKeyFailure` (`damaged` with `origin`, `cryptography`).
    func key(exportedAs text: borrowing SecretBytes, from origin: String) throws(DeviceKeyFailure) -> DeviceKey

    /// Makes an exported key the key of this device, on this machine.
    ///
    /// - Parameter origin: where the text comes from, for messages.
    /// - Throws: `DeviceKeyFailure`; `exists` if there is another key, which is left alone.
    func install(
        _ text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKey

    /// Makes an exported key the key of this device, in place of another one, which is kept as by `renew`.
    ///
    /// - Parameter origin: where the text comes from, for messages.
    /// - Throws: `DeviceKeyFailure`; the old key is then still in place.
    func replace(by text: borrowing SecretBytes, from origin: String) throws(DeviceKeyFailure) -> DeviceKeyRenewal

    /// Makes an exported key the key of this device, in place of a damaged file, which is kept.
    ///
    /// - Parameter origin: where the text comes from, for messages.
    /// - Returns: the device, and where the damaged file is kept.
    /// - Throws: `DeviceKeyFailure`; `exists` if the file is not damaged, which is then still in place.
    func replaceDamaged(
        by text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> (device: DeviceKey, retiredPath: String)

    /// Confirms that this is a new device: it gets a new key, and the old one is kept.
    ///
    /// - Throws: `DeviceKeyFailure`; the old key is then still in place.
    func renew(in holder: NewKeyHolder) throws(DeviceKeyFailure) -> DeviceKeyRenewal
}

/// Where a new key is to be.
package enum NewKeyHolder: Hashable, Sendable {
    /// In the file.
    case file
    /// In the chip, from this day on.
    case chip(KeyDay)
}

/// Who holds a device key.
package enum DeviceKeyHolding: Hashable, Sendable {
    /// The file has the key: a copy of it is the key.
    case file
    /// The chip has sealed the key: a copy of the file opens nothing elsewhere.
    case chip(SealedKeyHistory)
}

/// The facts about a device key that are known without using it.
package struct DeviceKeyStatus: Hashable, Sendable {
    /// The ID of the device.
    package let device: DeviceID
    /// Whether the key was created or adopted on this machine.
    package let machine: MachineMatch
    /// Who holds the key.
    package let holding: DeviceKeyHolding

    /// Creates an instance from its parts.
    package init(device: DeviceID, machine: MachineMatch, holding: DeviceKeyHolding) {
        self.device = device
        self.machine = machine
        self.holding = holding
    }
}

/// The result of renewing a device.
package struct DeviceKeyRenewal: Sendable {
    /// The new device.
    package let device: DeviceKey
    /// The previous device.
    package let retired: DeviceID
    /// Where the old key is kept.
    package let retiredPath: String
}
