package import KCAsking
internal import KCByteStreams
internal import KCItemStores
package import KCStoreTasks

/// The stores to back up, and the keys that open their archives.
///
/// ```swift
/// var request = BackupRequest(of: .named("login"))
/// request.mode = .encrypted(ArchiveKeyRequest(restoring: RecipientRequest(keys: ["age1…"])))
/// ```
package struct BackupRequest: Hashable, Sendable {
    package var stores: Stores
    package var access = StoreAccess()
    package var mode = Mode.encrypted(ArchiveKeyRequest())

    package enum Stores: Hashable, Sendable {
        /// The stores that the folder of backups is used for, or the store that the user has chosen for everything.
        case standard
        /// A store by its name, as `--keychain` takes it.
        case named(String)
        /// Every keychain, one archive each.
        case everyKeychain
        /// The desktop keyring, every keychain and the files of the home, one archive each.
        case home
    }

    package enum Mode: Hashable, Sendable {
        case encrypted(ArchiveKeyRequest)
        /// Secrets stay sealed for this device; names can be read.
        case unencrypted
    }

    package init(of stores: Stores) { self.stores = stores }

    /// True if several stores are backed up in one run.
    package var isOfSeveral: Bool { stores == .everyKeychain || stores == .home }

    package var isUnencrypted: Bool { keys == nil }

    /// The name of the store, if it is a single one that is named.
    package var storeName: String? { if case .named(let name) = stores { name } else { nil } }

    /// The file or folder that is backed up, if it is no keychain; nil for any other store.
    package var storeFile: String? { storeName.flatMap(FileOfItems.path) }

    /// The keys that open the archives; nil for unencrypted ones.
    package var keys: ArchiveKeyRequest? { if case .encrypted(let keys) = mode { keys } else { nil } }

    /// Where the secrets come from.
    package var secretSources: [SecretSource] {
        let ofKeys = keys.map { [$0.passphrase, $0.restoring.passphrase] } ?? []
        return ([access.key.source, access.file.password] + ofKeys).compactMap(\.self)
    }

    /// The files that are named, without the store.
    package var files: [String] {
        let ofSecrets = secretSources.compactMap { if case .file(let path) = $0 { path } else { nil } }
        return ofSecrets + [access.file.keyFile].compactMap(\.self) + (keys?.restoring.files ?? [])
            + access.acceptMissing
    }

    /// The commands of secrets, in the order of `secretSources`.
    package var commands: [String] {
        secretSources.compactMap { if case .command(let command) = $0 { command } else { nil } }
    }

    /// The systemd credentials that are read.
    package var credentials: [String] {
        secretSources.compactMap { if case .credential(let name) = $0 { name } else { nil } }
    }
}

/// The keys that open a new archive.
package struct ArchiveKeyRequest: Hashable, Sendable {
    package var passphrase: SecretSource?
    /// Where a passphrase can be given, for the failure that no key restores.
    package var passphraseField = SecretField.passphrase
    package var restoring: RecipientRequest
    /// Public keys that open the metadata alone.
    package var inspecting: [String]

    package init(
        passphrase: SecretSource? = nil, restoring: RecipientRequest = RecipientRequest(), inspecting: [String] = []
    ) {
        self.passphrase = passphrase
        self.restoring = restoring
        self.inspecting = inspecting
    }
}

/// Public keys to encrypt to.
package struct RecipientRequest: Hashable, Sendable {
    /// Public keys of age, as text.
    package var keys: [String]
    /// Paths of files of public keys.
    package var files: [String]
    /// The passphrase of such a file, if it is encrypted.
    package var passphrase: SecretSource?

    package init(keys: [String] = [], files: [String] = [], passphrase: SecretSource? = nil) {
        self.keys = keys
        self.files = files
        self.passphrase = passphrase
    }
}

/// A backup into a folder with a catalogue.
package struct FolderBackupRequest: Hashable, Sendable {
    package var backup: BackupRequest
    /// The path of the folder, as the user named it.
    package var folder: String
    /// True to keep no new archive if nothing has changed since the last one.
    package var ifChanged = false
    /// How long to wait for another run; nil for the usual time.
    package var wait: Duration?

    /// How long to wait for another run.
    package var waiting: Duration { wait ?? FileLock.defaultWait }

    package init(_ backup: BackupRequest, to folder: String) {
        self.backup = backup
        self.folder = folder
    }
}

/// The exceptions that the user accepts in a single run.
package struct RunExceptions: Hashable, Sendable {
    /// True to keep an archive with far fewer items than the last one.
    package var acceptsShrinkage = false
    /// True to use the folder for something else from now on.
    package var mayChange = false

    package init(acceptsShrinkage: Bool = false, mayChange: Bool = false) {
        self.acceptsShrinkage = acceptsShrinkage
        self.mayChange = mayChange
    }
}
