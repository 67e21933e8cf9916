internal import KCByteStreams
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// Opens a keychain, which the run is about from then on; only keys that need no passcode are available.
    ///
    /// - Throws: as `LocalKeychain.open(in:)`.
    func open(_ local: LocalKeychain) throws -> Keychain {
        subject.store = local.name
        return try local.open(in: machine)
    }
}
