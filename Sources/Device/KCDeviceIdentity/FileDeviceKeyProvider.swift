package import KCByteStreams
internal import KCCryptography

/// Keeps the device key in a file that only its owner can read.
///
/// The file is created once and never silently replaced. If the machine ID has changed, `load` refuses the key until
/// the user confirms that this is still the same device (`adopt`) or a new one (`renew`).
package struct FileDeviceKeyProvider: DeviceKeyProvider {
    /// The file with the key.
    package let path: String
    private let machineIDPath: String

    /// Uses this key file and this file with the machine ID (machine-id(5)).
    package init(path: String, machineIDPath: String = "/etc/machine-id") {
        self.path = path
        self.machineIDPath = machineIDPath
    }

    /// The path of the file.
    package var location: String { path }

    /// True if the file exists.
    package var holdsKey: Bool {
        get throws(DeviceKeyFailure) {
            try DeviceKeyFailure.wrapping(Path.exists(path))
        }
    }

    /// Loads the key if it belongs to this machine or the machine is unknown.
    package func load() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try read(path)
        let device = try device(of: text)
        guard text.machine.match(try currentMachine()) != .different else {
            throw .otherMachine(path: path, device: device.id)
        }
        return device
    }

    /// Creates the key with mode 0600 in a folder with mode 0700, and reads it back before giving the file its name.
    package func create() throws(DeviceKeyFailure) -> DeviceKey {
        let text = try newText()
        let device = try device(of: text)
        try change { () throws(DeviceKeyFailure) in
            try DeviceKeyFailure.wrapping(PrivateFile.create(path, text.encode(device: device.id)))
        }
        return device
    }

    /// Returns which device the key belongs to and whether it was created on this machine, even if `load` refuses the
    /// key.
    package func status() throws(DeviceKeyFailure) -> DeviceKeyStatus {
        let text = try read(path)
        return DeviceKeyStatus(device: try device(of: text).id, machine: text.machine.match(try currentMachine()))
    }

    /// Confirms that this is still the key's device, and records this machine in the file.
    ///
    /// The file is replaced atomically; the key is unchanged.
    package func adopt() throws(DeviceKeyFailure) -> DeviceKey {
        try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            let device = try device(of: old)
            let text = DeviceKeyText(secret: old.secret.copy(), machine: try currentMachine())
            try replace(with: text, device)
            return device
        }
    }

    /// Confirms that this is a new device: it gets a new key, and the old one is renamed.
    ///
    /// The old key is kept, with mode 0600, as `<path>.retired-<its device ID>`. If interrupted at any point, the old
    /// key or both are in place, and a second call completes the renewal.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exists` if the name for the old key belongs to another key,
    ///   `damaged`, `file`, `cryptography`); the old key is then still in place.
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

    /// Returns the text of the key file.
    package func exported() throws(DeviceKeyFailure) -> SecretBytes {
        let text = try read(path)
        return text.encode(device: try device(of: text).id)
    }

    /// Returns the key in an exported text.
    package func key(
        exportedAs text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKey {
        try device(of: parse(exported: text, from: origin))
    }

    /// Installs the key in an exported text as the key of this device; if it is installed already, records this
    /// machine.
    package func install(
        _ text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKey {
        let given = try parse(exported: text, from: origin)
        let device = try device(of: given)
        let new = DeviceKeyText(secret: given.secret.copy(), machine: try currentMachine())
        try change { () throws(DeviceKeyFailure) in
            if try holdsKey {
                guard constantTimeEqual(try read(path).secret, new.secret) else { throw .exists(path: path) }
                try replace(with: new, device)
            } else {
                let encoded = new.encode(device: device.id)
                try DeviceKeyFailure.wrapping(PrivateFile.create(path, encoded))
            }
        }
        return device
    }

    /// Installs the key in an exported text in place of another one, which is kept as by `renew`.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exists` if the name for the old key belongs to another key,
    ///   `exportDamaged`, `damaged`, `file`, `cryptography`); the old key is then still in place.
    package func replace(
        by text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        let given = try parse(exported: text, from: origin)
        let device = try device(of: given)
        let new = DeviceKeyText(secret: given.secret.copy(), machine: try currentMachine())
        return try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            let oldID = try self.device(of: old).id
            let retiredPath = "\(path).retired-\(oldID)"
            try retire(old, oldID, to: retiredPath)
            try replace(with: new, device)
            return DeviceKeyRenewal(device: device, retired: oldID, retiredPath: retiredPath)
        }
    }

    /// Runs `body` under the lock on the key and the files next to it.
    private func change<Result>(_ body: () throws(DeviceKeyFailure) -> Result) throws(DeviceKeyFailure) -> Result {
        let folder = Path.split(path).folder
        try DeviceKeyFailure.wrapping(Path.makeFolder(folder))
        let lock = try DeviceKeyFailure.wrapping(FileLock.ofFolder(folder))
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func replace(with text: borrowing DeviceKeyText, _ device: DeviceKey) throws(DeviceKeyFailure) {
        let encoded = text.encode(device: device.id)
        try DeviceKeyFailure.wrapping(PrivateFile.replace(path, encoded))
    }

    private func retire(
        _ old: borrowing DeviceKeyText, _ id: DeviceID, to retiredPath: String
    ) throws(DeviceKeyFailure) {
        let encoded = old.encode(device: id)
        do throws(FileFailure) {
            try PrivateFile.create(retiredPath, encoded)
        } catch {
            guard error.problem == .exists else { throw DeviceKeyFailure(error) }
            // An earlier renewal was interrupted here and must have left the same key.
            guard constantTimeEqual(try read(retiredPath).secret, old.secret) else { throw .exists(path: retiredPath) }
        }
    }

    private func newText() throws(DeviceKeyFailure) -> DeviceKeyText {
        let secret = try failing(as: DeviceKeyFailure.cryptography, RandomBytes.secret(count: DeviceKey.secretLength))
        return DeviceKeyText(secret: secret, machine: try currentMachine())
    }

    private func read(_ path: String) throws(DeviceKeyFailure) -> DeviceKeyText {
        let bytes = try DeviceKeyFailure.wrapping(PrivateFile.read(path, limit: DeviceKeyText.sizeLimit))
        return try parse(bytes, from: path)
    }

    private func parse(_ bytes: borrowing SecretBytes, from path: String) throws(DeviceKeyFailure) -> DeviceKeyText {
        do throws(DeviceKeyText.Malformed) {
            return try DeviceKeyText(parsing: bytes)
        } catch {
            throw .damaged(path: path, rule: error.rule)
        }
    }

    private func parse(
        exported bytes: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKeyText {
        do throws(DeviceKeyText.Malformed) {
            return try DeviceKeyText(parsing: bytes)
        } catch {
            throw .exportDamaged(path: origin, rule: error.rule)
        }
    }

    private func device(of text: borrowing DeviceKeyText) throws(DeviceKeyFailure) -> DeviceKey {
        try failing(as: DeviceKeyFailure.cryptography, DeviceKey(secret: text.secret))
    }

    private func currentMachine() throws(DeviceKeyFailure) -> MachineIdentity {
        try DeviceKeyFailure.wrapping(MachineIdentity.current(machineIDPath))
    }
}
