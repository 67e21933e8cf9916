import Synchronization
import KernelKeyring
import TestSupport

extension MemoryRetention {
    /// One that refuses everything, as the kernel does in many containers.
    static func refusing() -> MemoryRetention {
        let retention = MemoryRetention()
        // EPERM
        retention.fail("*", .refused(1))
        return retention
    }

    /// How many payloads there are.
    var count: Int { contents.withLock { $0.kept.count } }

    /// Forgets everything, as the clock of the kernel does.
    func expireAll() { contents.withLock { $0.kept = [:] } }
}
