internal import CKCSandbox

/// The parts of a sandbox that this system has.
package struct SandboxSupport: Hashable, Sendable {
    /// The version of Landlock's interface (landlock(7)), 1 or more; nil if there is none, or a container refuses it.
    package let landlockVersion: Int32?
    /// True if there are filters of system calls that can say which call was refused (seccomp(2)).
    package let hasFilters: Bool

    /// Asks the kernel, and changes nothing.
    package init() {
        let version = csandbox_landlock_version()
        landlockVersion = version > 0 ? version : nil
        hasFilters = csandbox_has_filters() != 0
    }

    /// True if both are there, so that `Sandbox.enter` can work.
    package var isComplete: Bool { landlockVersion != nil && hasFilters }
}
