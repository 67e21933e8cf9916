internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import ItemSources
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// What is to be backed up, as the user names it.
enum BackupSubject {
    case keychain(LocalKeychain)
    /// `file:PATH`: a file of items, which need be in no keychain.
    case items(path: String)

    /// Finds out what a name means; nil is the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure`, `UsageProblem` (`empty`).
    init(_ given: String?, in world: World) throws {
        if let path = given.flatMap(FileOfItems.path) {
            if path.isEmpty { throw UsageProblem.empty(.keychain) }
            self = .items(path: path)
        } else {
            self = .keychain(try LocalKeychain(given, in: world))
        }
    }

    /// The name of the subject: a keychain's as its user typed it, a file's path.
    var name: String {
        switch self {
        case .keychain(let local): local.name
        case .items(let path): path
        }
    }

    /// What its archives say that they were made of.
    ///
    /// - Throws: `ArchiveFailure.limit`.
    func archiveSource() throws(ArchiveFailure) -> ArchiveSource {
        switch self {
        case .keychain(let local) where local.isNamed:
            try ArchiveSource(kind: ArchiveSource.keychain, name: local.name)
        case .keychain: try ArchiveSource(kind: ArchiveSource.keychainFile, name: stem)
        case .items(let path): try ArchiveSource(kind: ArchiveSource.items, name: Path.split(path).name)
        }
    }

    /// The first part of the name of its archives.
    var stem: String {
        let name = Path.split(name).name
        let ending = [".keychain", ".jsonl"].first { name.hasSuffix($0) && name != $0 }
        return String(name.dropLast(ending?.count ?? 0))
    }

    /// Opens it; only what needs no passcode can be read.
    func open(_ options: KeychainOptions, in session: Session) throws -> BackupSource {
        switch self {
        case .keychain: return .keychain(try options.open(in: session))
        case .items(let path):
            if options.passcode != nil { throw UsageProblem.needsKeychain(.passcode) }
            return .items(try FileOfItems.open(path, in: session).collected())
        }
    }
}

/// What is backed up, open.
enum BackupSource {
    case keychain(Keychain)
    case items(CollectedItems)

    /// How many items there are.
    func itemCount() throws -> Int {
        switch self {
        case .keychain(let keychain): try keychain.itemCount()
        case .items(let items): items.count
        }
    }

    /// Makes an encrypted archive of it.
    func encrypted(_ backup: CreateBackup, with keys: ArchiveKeys, step: @escaping () -> Void) throws -> CreateReport {
        switch self {
        case .keychain(let keychain): try backup.encrypted(keychain, with: keys, step: step)
        case .items(let items): try backup.encrypted(items, with: keys, step: step)
        }
    }
}
