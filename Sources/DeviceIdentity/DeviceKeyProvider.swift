internal import ByteStreams
internal import Cryptography

/// Where the device key lives: a file now, a TPM one day.
public protocol DeviceKeyProvider: Sendable {
    /// Returns the device key of this installation; a missing one is an error, never made anew in silence.
    func load() throws(DeviceKeyFailure) -> DeviceKey

    /// Makes the device key of this installation; an existing one is an error.
    func create() throws(DeviceKeyFailure) -> DeviceKey
}

/// What a stored device key says before anybody decides whether it may be used here.
public struct DeviceKeyStatus: Hashable, Sendable {
    /// The name of the device whose key is stored.
    public let id: DeviceID
    /// Whether it was made on this machine.
    public let match: MachineMatch
}

/// The device key in a private file (0600), bound to the machine ID.
public struct FileDeviceKeyProvider: DeviceKeyProvider {
    /// The key file.
    public let path: String
    /// The file with the machine's ID, normally `/etc/machine-id`.
    public let machineIDPath: String

    /// Names the files; nothing is opened yet.
    public init(path: String, machineIDPath: String = "/etc/machine-id") {
        self.path = path
        self.machineIDPath = machineIDPath
    }

    /// Reads the key.
    ///
    /// - Throws: `DeviceKeyFailure`: `file` (missing, exposed, …), `malformed`, `otherMachine`, `cryptography`.
    public func load() throws(DeviceKeyFailure) -> DeviceKey {
        let (key, match) = try read()
        if match == .different { throw .otherMachine(key.id) }
        return key
    }

    /// Makes a key and its file, and the folder where that is missing.
    ///
    /// - Throws: `DeviceKeyFailure`: `file` (`exists` when there is a key already, …), `cryptography`.
    public func create() throws(DeviceKeyFailure) -> DeviceKey {
        let key = try DeviceKeyFailure.crypto(DeviceKey.generate)
        let machine = try currentMachine()
        try DeviceKeyFailure.files { () throws(FileFailure) in
            try Path.makeFolder(Path.split(path).folder)
            try PrivateFile.create(path, DeviceKeyText.render(key.secret, machine: machine))
        }
        return key
    }

    /// Says whose key is stored and whether it was made here, also when `load` refuses it.
    ///
    /// - Throws: `DeviceKeyFailure`: `file`, `malformed`, `cryptography`.
    public func status() throws(DeviceKeyFailure) -> DeviceKeyStatus {
        let (key, match) = try read()
        return DeviceKeyStatus(id: key.id, match: match)
    }

    /// Declares that this machine is still that device: binds the stored key to the machine ID of now.
    ///
    /// - Throws: `DeviceKeyFailure`: `file`, `malformed`, `cryptography`.
    public func adopt() throws(DeviceKeyFailure) -> DeviceKey {
        let (key, _) = try read()
        let machine = try currentMachine()
        try DeviceKeyFailure.files { () throws(FileFailure) in
            try PrivateFile.replace(path, DeviceKeyText.render(key.secret, machine: machine))
        }
        return key
    }

    /// Declares that this is another device: sets the stored key aside and makes a new one.
    ///
    /// The old key stays in `retiredPath(of:)`, 0600, and is never deleted. Interrupted at any point, the key file
    /// holds the old key or the new one, and the old one is not lost.
    ///
    /// - Throws: `DeviceKeyFailure`: `file`, `malformed`, `retiredKeyDiffers`, `cryptography`.
    public func renew() throws(DeviceKeyFailure) -> DeviceKey {
        let old = try DeviceKeyFailure.files { () throws(FileFailure) in try PrivateFile.read(path) }
        let (oldKey, _) = try read(old)
        try setAside(old, as: retiredPath(of: oldKey.id))
        let key = try DeviceKeyFailure.crypto(DeviceKey.generate)
        let machine = try currentMachine()
        try DeviceKeyFailure.files { () throws(FileFailure) in
            try PrivateFile.replace(path, DeviceKeyText.render(key.secret, machine: machine))
        }
        return key
    }

    /// Where `renew` keeps the key of a device that this installation no longer is.
    public func retiredPath(of id: DeviceID) -> String {
        "\(path).retired-\(id)"
    }

    /// Where the devices that `key` trusts are listed: beside the key file, a list for each device.
    public func trustedDevicesPath(of id: DeviceID) -> String {
        Path.split(path).folder + "/trusted-devices-\(id)"
    }

    private func setAside(_ contents: borrowing SecretBytes, as retiredPath: String) throws(DeviceKeyFailure) {
        do throws(FileFailure) {
            try PrivateFile.create(retiredPath, contents)
        } catch {
            guard error.problem == .exists else { throw .file(error) }
            // An interrupted renewal left it; only the same key may be taken for done.
            let earlier = try DeviceKeyFailure.files { () throws(FileFailure) in try PrivateFile.read(retiredPath) }
            let kept = try DeviceKeyText.parse(earlier, path: retiredPath)
            let ours = try DeviceKeyText.parse(contents, path: path)
            guard constantTimeEqual(kept.secret, ours.secret) else { throw .retiredKeyDiffers(path: retiredPath) }
        }
    }

    private func read() throws(DeviceKeyFailure) -> (key: DeviceKey, match: MachineMatch) {
        let contents = try DeviceKeyFailure.files { () throws(FileFailure) in try PrivateFile.read(path) }
        return try read(contents)
    }

    private func read(_ contents: borrowing SecretBytes) throws(DeviceKeyFailure) -> (DeviceKey, MachineMatch) {
        let stored = try DeviceKeyText.parse(contents, path: path)
        let match = MachineHash.match(stored.machine, try currentMachine())
        let secret = stored.secret.copy()
        do throws(CryptographyFailure) {
            return (try DeviceKey(secret: secret), match)
        } catch {
            throw .cryptography(error)
        }
    }

    private func currentMachine() throws(DeviceKeyFailure) -> MachineHash? {
        try DeviceKeyFailure.files { () throws(FileFailure) in try MachineHash.read(machineIDPath) }
    }
}
