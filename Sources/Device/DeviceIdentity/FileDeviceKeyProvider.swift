internal import ByteStreams
internal import Cryptography

/// Keeps the device key in a file that only its owner can read.
///
/// The file is made once and never made anew in silence. When the machine ID no longer fits, `load` refuses until the
/// user has said which it is: still this device (`adopt`) or another one (`renew`).
package struct FileDeviceKeyProvider: DeviceKeyProvider {
    /// The file with the key.
    package let path: String
    private let machineIDPath: String

    /// Names the key file, and the file with the machine ID (machine-id(5)).
    package init(path: String, machineIDPath: String = "/etc/machine-id") {
        self.path = path
        self.machineIDPath = machineIDPath
    }

    /// The path of the file.
    package var location: String { path }

    /// True where the file is.
    package var holdsKey: Bool {
        get throws(DeviceKeyFailure) {
            try DeviceKeyFailure.wrapping { () throws(FileFailure) in try Path.exists(path) }
        }
    }

    /// Loads the key, if it belongs to this machine or nothing is known of the machine.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `otherMachine`, `damaged`, `file`, `cryptography`).
    package func load() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try read(path)
        let device = try device(of: text)
        guard text.machine.match(try currentMachine()) != .different else {
            throw .otherMachine(path: path, device: device.id)
        }
        return device
    }

    /// Makes the key and its folder, 0600 and 0700, and reads the key back before it gets its name.
    ///
    /// - Throws: `DeviceKeyFailure` (`exists`, `file`, `cryptography`).
    package func create() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try newText()
        let device = try device(of: text)
        try change { () throws(DeviceKeyFailure) in
            try DeviceKeyFailure.wrapping { () throws(FileFailure) in
                try PrivateFile.create(path, text.encode(device: device.id))
            }
        }
        return device
    }

    /// Tells which device the key names and whether it was made on this machine, also where `load` refuses.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `damaged`, `file`, `cryptography`).
    package func status() throws(DeviceKeyFailure) -> DeviceKeyStatus {
        let text = try read(path)
        return DeviceKeyStatus(device: try device(of: text).id, machine: text.machine.match(try currentMachine()))
    }

    /// Takes the user's word that this is still the device of the key: the file remembers this machine from now on.
    ///
    /// The file is replaced in one step; the key stays what it was.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `damaged`, `file`, `cryptography`).
    package func adopt() throws(DeviceKeyFailure) -> DeviceKey {
        try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            let device = try device(of: old)
            let text = DeviceKeyText(secret: old.secret.copy(), machine: try currentMachine())
            try replace(with: text, device)
            return device
        }
    }

    /// Takes the user's word that this is another device: it gets a new key, and the old one another name.
    ///
    /// The old key is kept, 0600, as `<path>.retired-<its device ID>`. Cut short at any point, the old key is in place
    /// or both are, and a second call finishes the work.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exists` when the name for the old key holds another one, `damaged`,
    ///   `file`, `cryptography`); the old key is in place then.
    package func renew() throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            let oldID = try device(of: old).id
            let new = try newText()
            let device = try device(of: new)
            let retiredPath = "\(path).retired-\(oldID)"
            try retire(old, oldID, to: retiredPath)
            try replace(with: new, device)
            return DeviceKeyRenewal(device: device, retired: oldID, retiredPath: retiredPath)
        }
    }

    /// Runs `body` as the one process that changes the key and what lies beside it.
    private func change<Result>(_ body: () throws(DeviceKeyFailure) -> Result) throws(DeviceKeyFailure) -> Result {
        let lock = try DeviceKeyFailure.wrapping { () throws(FileFailure) in
            let folder = Path.split(path).folder
            try Path.makeFolder(folder)
            return try FileLock.ofFolder(folder)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func replace(with text: borrowing DeviceKeyText, _ device: DeviceKey) throws(DeviceKeyFailure) {
        let encoded = text.encode(device: device.id)
        try DeviceKeyFailure.wrapping { () throws(FileFailure) in try PrivateFile.replace(path, encoded) }
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
