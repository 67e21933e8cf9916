/// When an unlocked keychain locks by itself.
package struct LockSettings: Hashable, Sendable {
    /// Seconds without use after which it locks, of `range`; nil for never.
    package let lockAfter: Int?
    /// True when it locks as the machine is suspended, which takes effect at the next use.
    package let lockOnSuspend: Bool

    /// From one second to a year, in seconds.
    package static let range = 1...31_536_000
    /// What a new keychain has: 300 seconds, and with the machine's sleep, as a new keychain of macOS.
    package static let `default` = LockSettings()

    /// Takes settings; nil when `lockAfter` is outside `range`.
    package init?(lockAfter: Int?, lockOnSuspend: Bool) {
        guard Self.range.contains(lockAfter ?? Self.range.lowerBound) else { return nil }
        self.lockAfter = lockAfter
        self.lockOnSuspend = lockOnSuspend
    }

    private init() {
        lockAfter = 300
        lockOnSuspend = true
    }

    /// The members of a keybag that say so: none for the default (docs/keychain-file.md, "Keybag").
    var members: String {
        if self == .default { return "" }
        return (lockAfter.map { ",\"lockAfter\":\($0)" } ?? "") + ",\"lockOnSuspend\":\(lockOnSuspend)"
    }
}
