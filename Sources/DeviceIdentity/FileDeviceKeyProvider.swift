internal import ByteStreams
internal import Cryptography

/// Keeps the device key in a file that only its owner can read.
///
/// The file is made once and never made anew in silence. When the machine ID no longer fits, `load` refuses until the
/// user has said which it is: still this device (`adopt`) or another one (`renew`).
public struct FileDeviceKeyProvider: DeviceKeyProvider {
    /// The file with the key.
    public let path: String
    private let machineIDPath: String

    /// Names the key file, and the file with the machine ID (machine-id(5)).
    public init(path: String, machineIDPath: String = "/etc/machine-id") {
        self.path = path
        self.machineIDPath = machineIDPath
    }

    /// Loads the key, if it belongs to this machine or nothing is known of the machine.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `otherMachine`, `damaged`, `file`, `cryptography`).
    public func load() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try read(path)
        let device = try device(of: text)
        guard text.machine.match(try currentMachine()) != .different else {
            throw .otherMachine(path: path, device: device.id)
        }
        return device
    }

    /// Makes the key and its folder, 0600 and 0700, and reads it back.
    ///
    /// - Throws: `DeviceKeyFailure` (`exists`, `file`, `cryptography`).
    public func create() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try newText()
        let encoded = text.encode(device: try device(of: text).id)
        try DeviceKeyFailure.wrapping { () throws(FileFailure) in
            try Path.makeFolder(Path.split(path).folder)
            try PrivateFile.create(path, encoded)
        }
        return try readBack(text)
    }

    /// Tells which device the key names and whether it was made on this machine, also where `load` refuses.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `damaged`, `file`, `cryptography`).
    public func status() throws(DeviceKeyFailure) -> DeviceKeyStatus {
        let text = try read(path)
        return DeviceKeyStatus(device: try device(of: text).id, machine: text.machine.match(try currentMachine()))
    }

    /// Takes the user's word that this is still the device of the key: the file remembers this machine from now on.
    ///
    /// The file is replaced in one step; the key stays what it was.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `damaged`, `file`, `cryptography`).
    public func adopt() throws(DeviceKeyFailure) -> DeviceKey {
        let old = try read(path)
        let text = DeviceKeyText(secret: old.secret.copy(), machine: try currentMachine())
        let encoded = text.encode(device: try device(of: text).id)
        try DeviceKeyFailure.wrapping { () throws(FileFailure) in try PrivateFile.replace(path, encoded) }
        return try readBack(text)
    }

    /// Takes the user's word that this is another device: it gets a new key, and the old one another name.
    ///
    /// The old key is kept, 0600, as `<path>.retired-<its device ID>`. Cut short at any point, the old key is in place
    /// or both are, and a second call finishes the work.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exists` when the name for the old key holds another one or when the
    ///   key changed meanwhile, `damaged`, `file`, `cryptography`).
    public func renew() throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        let old = try read(path)
        let oldID = try device(of: old).id
        let new = try newText()
        let encoded = new.encode(device: try device(of: new).id)

        let retiredPath = "\(path).retired-\(oldID)"
        try retire(old, oldID, to: retiredPath)
        // Another renewal may have finished since: its new key must not be lost.
        guard constantTimeEqual(try read(path).secret, old.secret) else { throw .exists(path: path) }
        try DeviceKeyFailure.wrapping { () throws(FileFailure) in try PrivateFile.replace(path, encoded) }
        return DeviceKeyRenewal(device: try readBack(new), retired: oldID, retiredPath: retiredPath)
    }

    private func retire(
        _ old: borrowing DeviceKeyText, _ id: DeviceID, to retiredPath: String
    ) throws(DeviceKeyFailure) {
        let encoded = old.encode(device: id)
        do throws(FileFailure) {
            try PrivateFile.create(retiredPath, encoded)
        } catch {
            guard error.problem == .exists else { throw DeviceKeyFailure(error) }
            // An earlier renewal came this far; what it left must be the same key.
            guard constantTimeEqual(try read(retiredPath).secret, old.secret) else { throw .exists(path: retiredPath) }
        }
    }

    private func newText() throws(DeviceKeyFailure) -> DeviceKeyText {
        let secret = try DeviceKeyFailure.wrapping { () throws(CryptographyFailure) in
            try RandomBytes.secret(count: DeviceKey.secretLength)
        }
        return DeviceKeyText(secret: secret, machine: try currentMachine())
    }

    private func read(_ path: String) throws(DeviceKeyFailure) -> DeviceKeyText {
        let bytes = try DeviceKeyFailure.wrapping { () throws(FileFailure) in
            try PrivateFile.read(path, limit: DeviceKeyText.sizeLimit)
        }
        do throws(DeviceKeyText.Malformed) {
            return try DeviceKeyText(parsing: bytes)
        } catch {
            throw .damaged(path: path, rule: error.rule)
        }
    }

    /// Loads what was just written, and makes sure that it is that.
    private func readBack(_ written: borrowing DeviceKeyText) throws(DeviceKeyFailure) -> DeviceKey {
        let text = try read(path)
        guard constantTimeEqual(text.secret, written.secret), text.machine == written.machine else {
            throw .damaged(path: path, rule: "it does not hold what was just written")
        }
        return try device(of: text)
    }

    private func device(of text: borrowing DeviceKeyText) throws(DeviceKeyFailure) -> DeviceKey {
        do throws(CryptographyFailure) {
            return try DeviceKey(secret: text.secret)
        } catch {
            throw .cryptography(error)
        }
    }

    private func currentMachine() throws(DeviceKeyFailure) -> MachineIdentity {
        try DeviceKeyFailure.wrapping { () throws(FileFailure) in try MachineIdentity.current(machineIDPath) }
    }
}

/// What a key file says before anything is opened with it.
public struct DeviceKeyStatus: Hashable, Sendable {
    /// The device that the key makes.
    public let device: DeviceID
    /// Whether the key was made or adopted on this machine.
    public let machine: MachineMatch
}

/// What became of the keys when a device was renewed.
public struct DeviceKeyRenewal: Sendable {
    /// The new device.
    public let device: DeviceKey
    /// The device that was.
    public let retired: DeviceID
    /// The file that keeps the old key.
    public let retiredPath: String
}
