package import KCByteStreams
package import KCCryptography

/// Keeps the device key in a file that only its owner can read, or in a chip, with a file that only the chip can use.
///
/// The file is created once and never silently replaced. If the machine ID has changed, `load` refuses the key until
/// the user confirms that this is still the same device (`adopt`) or a new one (`renew`).
package struct FileDeviceKeyProvider: DeviceKeyProvider {
    /// The file with the key.
    package let path: String
    private let machineIDPath: String
    private let chip: DeviceChip

    /// Uses this key file, this file with the machine ID (machine-id(5)) and the chip of this machine.
    package init(path: String, machineIDPath: String = "/etc/machine-id", chip: DeviceChip = DeviceChip(NoChip())) {
        self.path = path
        self.machineIDPath = machineIDPath
        self.chip = chip
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
    ///
    /// A chip that holds it is first used when a key is derived.
    package func load() throws(DeviceKeyFailure) -> DeviceKey {
        try device(of: readOnThisMachine())
    }

    /// Creates the key with mode 0600 in a folder with mode 0700, and reads it back before giving the file its name.
    package func create(in holder: NewKeyHolder) throws(DeviceKeyFailure) -> DeviceKey {
        let new = try newContents(in: holder)
        let device = try device(of: new)
        try change { () throws(DeviceKeyFailure) in
            try DeviceKeyFailure.wrapping(PrivateFile.create(path, new.encode(device.id)))
        }
        return device
    }

    /// Returns which device the key belongs to and whether it was created on this machine, even if `load` refuses the
    /// key.
    package func status() throws(DeviceKeyFailure) -> DeviceKeyStatus {
        let contents = try read(path)
        return DeviceKeyStatus(
            device: try device(of: contents).id, machine: contents.machine.match(try currentMachine()),
            holding: contents.holding)
    }

    /// Has the chip open the key, and checks the file around it.
    package func checkHolder() throws(DeviceKeyFailure) {
        let contents = try read(path)
        guard case .sealed(let text) = contents else { return }
        _ = try failing(as: DeviceKeyFailure.cryptography, chip.open(text))
    }

    /// Returns what the chip says about itself.
    package func chipFacts() throws(CryptographyFailure) -> ChipFacts {
        try failing(as: CryptographyFailure.chip, chip.chip.facts())
    }

    /// Confirms that this is still the key's device, and records this machine in the file.
    ///
    /// The file is replaced atomically; the key is unchanged. A chip that holds it must open it.
    package func adopt() throws(DeviceKeyFailure) -> DeviceKey {
        try change { () throws(DeviceKeyFailure) in try adopt(read(path)) }
    }

    private func adopt(_ old: borrowing DeviceKeyContents) throws(DeviceKeyFailure) -> DeviceKey {
        let new = try moved(old)
        let device = try device(of: new)
        try replace(with: new, device)
        return device
    }

    /// Moves the key from the file to the chip.
    ///
    /// The chip opens what will be in the file, and both keys are compared, before the file is replaced atomically.
    package func seal(on day: KeyDay) throws(DeviceKeyFailure) -> DeviceKey {
        try change { () throws(DeviceKeyFailure) in
            let old = try readOnThisMachine()
            switch old {
            case .sealed(let text): throw .heldByChip(path: path, device: text.device)
            case .plain(let text):
                let new = try sealed(
                    text.secret, SealedKeyHistory(origin: .file, sealed: day), machine: text.machine)
                let device = try device(of: new)
                try replace(with: new, device)
                return device
            }
        }
    }

    /// Moves the key from the chip to the file, which is replaced atomically.
    package func unseal() throws(DeviceKeyFailure) -> DeviceKey {
        try change { () throws(DeviceKeyFailure) in
            let old = try readOnThisMachine()
            let new = DeviceKeyContents.plain(try plainText(of: old, isHeldByFile: .refused))
            let device = try device(of: new)
            try replace(with: new, device)
            return device
        }
    }

    /// Confirms that this is a new device: it gets a new key, and the old one is renamed.
    ///
    /// The old key is kept, with mode 0600, as `<path>.retired-<its device ID>`. If interrupted at any point, the old
    /// key or both are in place, and a second call completes the renewal.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `damaged`, `file`, `cryptography`); the old key is then still in place.
    package func renew(in holder: NewKeyHolder) throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            return try replace(old, by: newContents(in: holder))
        }
    }

    /// Returns the key as the text of a key file; if a chip holds it, its file says from then on that there is a copy.
    package func exported(on day: KeyDay) throws(DeviceKeyFailure) -> SecretBytes {
        try change { () throws(DeviceKeyFailure) in
            let contents = try read(path)
            let text = try plainText(of: contents, isHeldByFile: .allowed)
            let device = try device(of: contents)
            if case .sealed(let sealed) = contents {
                let history = SealedKeyHistory(
                    origin: sealed.history.origin, sealed: sealed.history.sealed, copied: day)
                let marked = try failing(
                    as: DeviceKeyFailure.cryptography,
                    SealedKeyText(
                        sealed: sealed.sealed, history: history, machine: sealed.machine, by: chip.open(sealed)))
                try replace(with: .sealed(marked), device)
            }
            return text.encode(device: device.id)
        }
    }

    /// Returns the key in an exported text.
    package func key(
        exportedAs text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKey {
        try device(of: parse(exported: text, from: origin))
    }

    /// Installs the key in an exported text as the key of this device; if it is installed already, records this
    /// machine.
    ///
    /// A key that this machine's chip holds stays there; one that the chip does not open comes back from the text.
    package func install(
        _ text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKey {
        let given = try parse(exported: text, from: origin)
        let device = try device(of: given)
        return try change { () throws(DeviceKeyFailure) in
            guard try holdsKey else {
                let new = try moved(given)
                try DeviceKeyFailure.wrapping(PrivateFile.create(path, new.encode(device.id)))
                return try self.device(of: new)
            }
            let present = try read(path)
            guard try self.device(of: present).signingPublicKey == device.signingPublicKey else {
                throw .exists(path: path)
            }
            do throws(DeviceKeyFailure) {
                return try adopt(present)
            } catch {
                // The chip will not open it by itself, and the user has the key.
                guard case .cryptography(.chip(let failure)) = error, failure.isLasting, given.holding == .file else {
                    throw error
                }
                return try adopt(given)
            }
        }
    }
}

extension FileDeviceKeyProvider {
    /// Runs `body` under the lock on the key and the files next to it.
    func change<Result: ~Copyable>(
        _ body: () throws(DeviceKeyFailure) -> Result
    ) throws(DeviceKeyFailure) -> Result {
        let folder = Path.split(path).folder
        try DeviceKeyFailure.wrapping(Path.makeFolder(folder))
        let lock = try DeviceKeyFailure.wrapping(FileLock.ofFolder(folder))
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    func replace(with new: borrowing DeviceKeyContents, _ device: DeviceKey) throws(DeviceKeyFailure) {
        let encoded = new.encode(device.id)
        try DeviceKeyFailure.wrapping(PrivateFile.replace(path, encoded))
    }

    /// A new key, which the file does not hold yet.
    private func newContents(in holder: NewKeyHolder) throws(DeviceKeyFailure) -> DeviceKeyContents {
        let secret = try failing(as: DeviceKeyFailure.cryptography, RandomBytes.secret(count: DeviceKey.secretLength))
        let machine = try currentMachine()
        return switch holder {
        case .file: .plain(DeviceKeyText(secret: secret, machine: machine))
        case .chip(let day): try sealed(secret, SealedKeyHistory(origin: .tpm, sealed: day), machine: machine)
        }
    }

    /// Seals a secret; the chip opens the text as it will be read, before anything relies on it.
    private func sealed(
        _ secret: borrowing SecretBytes, _ history: SealedKeyHistory, machine: MachineIdentity
    ) throws(DeviceKeyFailure) -> DeviceKeyContents {
        do throws(CryptographyFailure) {
            let text = try SealedKeyText(
                sealed: chip.seal(secret), history: history, machine: machine, by: SoftwareSecrets(secret))
            let asRead: SealedKeyText
            do throws(DeviceKeyText.Malformed) {
                asRead = try SealedKeyText(parsing: SecretBytes(copying: text.encoded))
            } catch {
                throw CryptographyFailure.chip(.damaged)
            }
            guard asRead == text else { throw CryptographyFailure.chip(.damaged) }
            try chip.check(asRead, holds: secret)
            return .sealed(text)
        } catch {
            throw .cryptography(error)
        }
    }

    private enum HeldByFile { case allowed, refused }

    /// The key itself, wherever it is held.
    private func plainText(
        of contents: borrowing DeviceKeyContents, isHeldByFile: HeldByFile
    ) throws(DeviceKeyFailure) -> DeviceKeyText {
        switch contents {
        case .plain(let text):
            guard isHeldByFile == .allowed else {
                throw .heldByFile(path: path, device: try device(of: contents).id)
            }
            return DeviceKeyText(secret: text.secret.copy(), machine: text.machine)
        case .sealed(let text):
            do throws(CryptographyFailure) {
                // The text must be what this device wrote.
                _ = try chip.open(text)
                return DeviceKeyText(secret: try chip.unsealed(text), machine: text.machine)
            } catch {
                throw .cryptography(error)
            }
        }
    }

    /// The same key, on this machine.
    func moved(_ contents: borrowing DeviceKeyContents) throws(DeviceKeyFailure) -> DeviceKeyContents {
        let machine = try currentMachine()
        return try failing(as: DeviceKeyFailure.cryptography, contents.on(machine, chip))
    }

    func read(_ path: String) throws(DeviceKeyFailure) -> DeviceKeyContents {
        let bytes = try DeviceKeyFailure.wrapping(PrivateFile.read(path, limit: DeviceKeyText.sizeLimit))
        do throws(DeviceKeyText.Malformed) {
            return try DeviceKeyContents(parsing: bytes)
        } catch {
            throw .damaged(path: path, rule: error.rule)
        }
    }

    private func readOnThisMachine() throws(DeviceKeyFailure) -> DeviceKeyContents {
        let contents = try read(path)
        guard contents.machine.match(try currentMachine()) != .different else {
            throw .otherMachine(path: path, device: try device(of: contents).id)
        }
        return contents
    }

    func parse(
        exported bytes: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKeyContents {
        do throws(DeviceKeyText.Malformed) {
            return try DeviceKeyContents(parsing: bytes)
        } catch {
            throw .exportDamaged(path: origin, rule: error.rule)
        }
    }

    func device(of contents: borrowing DeviceKeyContents) throws(DeviceKeyFailure) -> DeviceKey {
        try failing(as: DeviceKeyFailure.cryptography, contents.device(chip))
    }

    private func currentMachine() throws(DeviceKeyFailure) -> MachineIdentity {
        try DeviceKeyFailure.wrapping(MachineIdentity.current(machineIDPath))
    }
}
