internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

extension LocalKeychain {
    /// Resolves a keychain name given by the user; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure` (`emptyName`, `invalidName`, `listsDamaged`, `file`), `UsageProblem`
    ///   (`notAKeychain`, `desktopKeyring`).
    init(_ given: String?, in world: World) throws {
        if let given, FileOfItems.path(given) != nil { throw UsageProblem.notAKeychain }
        if DesktopKeyring(given) != nil { throw UsageProblem.desktopKeyring }
        if let root = given.flatMap({ HomeRoot(storeName: $0) }) { throw UsageProblem.areFiles(root) }
        // No name of a keychain has a colon.
        if let given, given.exact.contains(":"), let meant = MeantStore(given) {
            throw UsageProblem.misnamed(given, meant)
        }
        let expanded = given.map { $0.exact.hasPrefix("~/") ? world.resolve($0) : $0 }
        try self.init(expanded, in: world.dataFolder, workingFolder: world.workingFolder)
    }

    /// Opens the file; only keys that need no passcode are available.
    ///
    /// - Throws: as `open(on:minimumCost:)`.
    func open(in session: Session) throws -> Keychain {
        session.subjects.keychain = name
        do {
            return try open(on: LocalDevice(session.world), minimumCost: session.world.costs.lowestPasscode)
        } catch KeychainStoreError.file(let failure)
            where failure.path.exact == path.exact || failure.path.exact == ("./" + path).exact
        {
            // Advice on permissions is of use only for a keychain.
            if failure.problem.isOfAccess, !Keychain.begins(path) {
                throw KeychainStoreError.notAKeychain(.notADatabase)
            }
            // The store puts "./" before a relative path, and the user did not.
            throw KeychainStoreError.file(FileFailure(path, failure.problem))
        } catch KeychainStoreError.otherDevice(let device) {
            session.subjects.retiredKey = try session.world.retiredKey(of: device)
            throw KeychainStoreError.otherDevice(device)
        } catch KeychainStoreError.notFound(let path) {
            session.subjects.gone = GoneKeychain.left(of: self, in: session)
            session.subjects.meantStore = try meantStore(in: session)
            session.subjects.keyringHint = try keyringHint(in: session)
            throw KeychainStoreError.notFound(path)
        }
    }
}

extension World {
    /// The file with the key of a device that another one has replaced; nil if there is none.
    func retiredKey(of device: DeviceID) throws(FileFailure) -> String? {
        let path = "\(dataFolder.deviceKey).retired-\(device)"
        return try Path.exists(path) ? path : nil
    }
}

extension LocalKeychain {
    /// Checks that a keychain that is to be made is not named as the desktop keyring is.
    func requireNoOther() throws(UsageProblem) {
        if let meant = MeantStore(name) { throw UsageProblem.misnamed(name, meant) }
    }

    /// The store that is meant, where this keychain is missing.
    private func meantStore(in session: Session) throws -> MeantStore? {
        let names = try LocalKeychain.names(in: session.world.dataFolder) + [Self.defaultName]
        return MeantStore(name, keychains: names.filter { $0.exact != name.exact })
    }

    /// How to name the desktop keyring, where this keychain is missing; nil if nothing suggests that it is meant.
    private func keyringHint(in session: Session) throws -> KeyringHint? {
        if session.keyringUse == .none { return nil }
        if try !LocalKeychain.names(in: session.world.dataFolder).isEmpty { return nil }
        let presence = try session.world.desktopKeyring()
        if presence == .absent {
            return session.keyringUse == .backedUp && name.exact == Self.defaultName.exact ? .absent : nil
        }
        return presence == .running ? .running : .unreachable
    }
}

extension FileFailure.Problem {
    /// True if the file is refused for its owner or its permissions.
    fileprivate var isOfAccess: Bool {
        switch self {
        case .exposed, .foreignOwner: true
        default: false
        }
    }
}

extension Keychain {
    /// True if the file begins as every keychain does, or cannot be read.
    ///
    /// It must not be open as a keychain, whose locks this would release.
    fileprivate static func begins(_ path: String) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        var start = SecretBytes(capacity: magic.count)
        do {
            let file = try OpenFile.reading(path)
            try start.append(upTo: magic.count) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        } catch {
            // The failure that led here says more.
            return true
        }
        return start.withBytes { bytes in
            bytes.count == magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
    }
}

extension LocalDevice {
    /// Creates an instance for the key in this world's data folder.
    init(_ world: World) {
        self.init(world.dataFolder, machineIDPath: world.machineIDPath, chip: world.chip)
    }

    /// Returns this device and the devices that it trusts; nil if no key was ever created.
    ///
    /// - Throws: `DeviceKeyFailure`, `TrustedDevicesFailure`.
    func identity() throws -> LocalIdentity? {
        guard let key = try keyIfAny() else { return nil }
        return LocalIdentity(device: key, trusted: try trusted(by: key).list())
    }
}
