/// When an unlocked keychain locks automatically.
package struct LockSettings: Hashable, Sendable {
    /// The idle timeout in seconds, within `range`; nil for never.
    package let lockAfter: Int?
    /// True if it locks when the machine is suspended; this is detected at the next use.
    package let lockOnSuspend: Bool

    /// The accepted timeouts in seconds: from one second to a year.
    package static let range = 1...31_536_000
    /// The default of a new keychain, as on macOS: 300 seconds, and on suspend.
    package static let `default` = LockSettings()

    /// Creates settings; nil if `lockAfter` is outside `range`.
    package init?(lockAfter: Int?, lockOnSuspend: Bool) {
        guard Self.range.contains(lockAfter ?? Self.range.lowerBound) else { return nil }
        self.lockAfter = lockAfter
        self.lockOnSuspend = lockOnSuspend
    }

    private init() {
        lockAfter = 300
        lockOnSuspend = true
    }

    /// The members of a keybag for these settings: none for the default (docs/keychain-file.md, "Keybag").
    var members: String {
        if self == .default { return "" }
        return (lockAfter.map { ",\"lockAfter\":\($0)" } ?? "") + ",\"lockOnSuspend\":\(lockOnSuspend)"
    }
}
