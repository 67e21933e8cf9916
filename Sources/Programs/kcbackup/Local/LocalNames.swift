internal import KCByteStreams
internal import KCItemStores
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecretService
internal import KCStoreTasks

extension Session {
    /// Opens a keychain, which the run is about from then on; only keys that need no passcode are available.
    ///
    /// - Throws: as `LocalKeychain.open(in:)`.
    func open(_ local: LocalKeychain) throws -> Keychain {
        subject.store = local.name
        return try local.open(in: machine)
    }
}

extension LocalKeychain {
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
