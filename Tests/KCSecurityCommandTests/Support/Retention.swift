import KCKernelKeyring
import KCTestSupport
import Synchronization

extension MemoryRetention {
    /// Returns a store that refuses everything, as the kernel does in many containers.
    static func refusing() -> MemoryRetention {
        let retention = MemoryRetention()
        // EPERM
        retention.fail("*", .refused(1))
        return retention
    }

    /// The number of payloads.
    var count: Int { contents.withLock { $0.kept.count } }

    /// Removes everything, as the kernel does when keys expire.
    func expireAll() { contents.withLock { $0.kept = [:] } }
}
