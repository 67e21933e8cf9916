/// The state of a keychain; see `KeychainClient.status()`.
public struct KeychainClientStatus: Hashable, Sendable {
    /// Which items can be read and written.
    public enum State: Hashable, Sendable {
        /// There is no keychain; `KeychainClient.createDefaultKeychain(passcode:)` creates one.
        case missing
        /// All items.
        case unlocked
        /// Only items that are accessible after the first unlock or always.
        case locked
        /// Only items that are always accessible: the keychain has not been unlocked since the machine started.
        case lockedUntilFirstUnlock
    }

    /// Which items can be read and written.
    public let state: State
    /// True if a passcode is set; a keychain without one is always unlocked.
    public let hasPasscode: Bool
    /// True if unlocking applies to all programs of the user; false if the kernel refuses its key service, as in many
    /// containers, and `KeychainClient.unlock(passcode:)` applies to this process only.
    public let isShared: Bool
}
