import ByteStreams
import KernelKeyring
import Synchronization
import TestSupport

/// Keeps payloads as the kernel does, in memory of the test.
final class MemoryRetention: KeyRetention {
    private let kept = Mutex<[String: [UInt8]]>([:])

    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? {
        guard let payload = kept.withLock({ $0[name] }) else { return nil }
        return SecretBytes(copying: payload)
    }

    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) {
        let bytes = payload.bytesForTest()
        kept.withLock { $0[name] = bytes }
    }

    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        let bytes = payload.bytesForTest()
        return kept.withLock { kept in
            guard kept[name] != nil else { return false }
            kept[name] = bytes
            return true
        }
    }

    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) {}

    func revoke(_ name: String) throws(KeyRetentionFailure) { kept.withLock { $0[name] = nil } }

    func remainingSeconds(_ name: String) -> Int? { nil }

    /// How many payloads there are.
    var count: Int { kept.withLock { $0.count } }

    /// Forgets everything, as the clock of the kernel does.
    func expireAll() { kept.withLock { $0 = [:] } }
}

/// Refuses everything, as the kernel does in many containers.
struct RefusingRetention: KeyRetention {
    // EPERM
    private static let refusal = KeyRetentionFailure.refused(1)

    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? { throw Self.refusal }

    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) {
        throw Self.refusal
    }

    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        throw Self.refusal
    }

    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) { throw Self.refusal }

    func revoke(_ name: String) throws(KeyRetentionFailure) { throw Self.refusal }

    func remainingSeconds(_ name: String) -> Int? { nil }
}
