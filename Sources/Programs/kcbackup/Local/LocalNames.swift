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
internal import KCStoreTasks

extension LocalKeychain {
    /// Resolves a keychain name given by the user; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure` (`emptyName`, `invalidName`, `listsDamaged`, `file`), `UsageProblem`
    ///   (`notAKeychain`, `desktopKeyring`).
    init(_ given: String?, in machine: Machine) throws {
        if let given, FileOfItems.path(given) != nil { throw UsageProblem.notAKeychain }
        if DesktopKeyring(given) != nil { throw UsageProblem.desktopKeyring }
        if let root = given.flatMap({ HomeRoot(storeName: $0) }) { throw UsageProblem.areFiles(root) }
        // No name of a keychain has a colon.
        if let given, given.exact.contains(":"), let meant = MeantStore(given) {
            throw UsageProblem.misnamed(given, meant)
        }
        let expanded = given.map { $0.exact.hasPrefix("~/") ? machine.resolve($0) : $0 }
        try self.init(expanded, in: machine.dataFolder, workingFolder: machine.workingFolder)
    }

    /// Opens the file; only keys that need no passcode are available.
    ///
    /// - Throws: as `open(on:minimumCost:)`.
    func open(in session: Session) throws -> Keychain {
        session.subject.store = name
        do {
            return try open(on: LocalDevice(session.machine), minimumCost: session.machine.costs.lowestPasscode)
        } catch KeychainStoreError.file(let failure)
            where failure.path.exact == path.exact || failure.path.exact == ("./" + path).exact
        {
            // Advice on permissions is of use only for a keychain.
            if failure.problem.isOfAccess, !Keychain.begins(path) {
                throw KeychainStoreError.notAKeychain(.notADatabase)
            }
            // The store puts "./" before a relative path, and the user did not.
            throw KeychainStoreError.file(FileFailure(path, failure.problem))
        }
    }
}

extension LocalKeychain {
    /// Checks that a keychain that is to be made is not named as the desktop keyring is.
    func requireNoOther() throws(UsageProblem) {
        if let meant = MeantStore(name) { throw UsageProblem.misnamed(name, meant) }
    }

    /// The store that is meant, where this keychain is missing.
    func meantStore(in session: Session) throws -> MeantStore? {
        let names = try LocalKeychain.names(in: session.machine.dataFolder) + [Self.defaultName]
        return MeantStore(name, keychains: names.filter { $0.exact != name.exact })
    }

    /// How to name the desktop keyring, where this keychain is missing; nil if nothing suggests that it is meant.
    func keyringHint(in session: Session) throws -> KeyringHint? {
        if session.keyringUse == .none { return nil }
        if try !LocalKeychain.names(in: session.machine.dataFolder).isEmpty { return nil }
        let presence = try session.machine.desktopKeyring()
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
