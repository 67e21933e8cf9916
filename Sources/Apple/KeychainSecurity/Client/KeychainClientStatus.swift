/// What of a keychain can be used now; see `KeychainClient.status()`.
public struct KeychainClientStatus: Hashable, Sendable {
    /// Which items can be read and written.
    public enum State: Hashable, Sendable {
        /// There is no keychain: `KeychainClient.createDefaultKeychain(passcode:)` makes it.
        case missing
        /// All items.
        case unlocked
        /// Items that are accessible after the first unlock or always.
        case locked
        /// Items that are always accessible: the keychain was not unlocked since the machine was started.
        case lockedUntilFirstUnlock
    }

    /// Which items can be read and written.
    public let state: State
    /// True if a passcode was set; a keychain without one is always unlocked.
    public let hasPasscode: Bool
    /// True if an unlocked keychain is so for all programs of the user; false where the kernel refuses its key service,
    /// as in many containers: there `KeychainClient.unlock(passcode:)` is for this process.
    public let isShared: Bool
}
