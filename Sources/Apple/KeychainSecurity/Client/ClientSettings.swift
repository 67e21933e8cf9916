internal import Glibc
internal import KCKeychainStore

/// The settings that a client was given, which all its calls use.
struct ClientSettings {
    var configuration: KeychainClient.Configuration
    /// Counts how often a keychain was selected.
    private(set) var selection = 0
    var passcodeSource: KeychainClient.PasscodeSource?
    private var holding: (keys: HeldKeys, number: Int, process: pid_t)?
    private var holdings = 0

    init(_ configuration: KeychainClient.Configuration) {
        self.configuration = configuration
    }

    /// Selects another keychain.
    mutating func select(_ configuration: KeychainClient.Configuration) {
        self.configuration = configuration
        selection += 1
        holding = nil
    }

    /// Keeps class keys, or none, from now on.
    mutating func hold(_ keys: HeldKeys?) {
        holdings += 1
        holding = keys.map { ($0, holdings, getpid()) }
    }

    /// The class keys that this process keeps between calls, because the kernel does not; numbered from 1.
    ///
    /// A child process has not unlocked the keychain itself, and keeps none.
    var heldKeys: (keys: HeldKeys, number: Int)? {
        guard let holding, holding.process == getpid() else { return nil }
        return (holding.keys, holding.number)
    }
}
