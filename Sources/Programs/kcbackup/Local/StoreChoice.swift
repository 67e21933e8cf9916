internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCStoreTasks

extension StoreChoice {
    /// Returns the store that an archive was made from; nil if it was made from a file.
    ///
    /// - Throws: `Refusal` for a keychain that was named by its path.
    static func archived(_ source: ArchiveSource, in machine: Machine) throws -> (any NamedStore)? {
        if let keyring = DesktopKeyring(archived: source) { return keyring }
        if let root = HomeRoot(archived: source) { return NamedHome(root: root) }
        return try ArchiveSource.keychainName(source).map { try LocalKeychain($0, in: machine) }
    }
}
