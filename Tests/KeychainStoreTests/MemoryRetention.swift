import ByteStreams
import KernelKeyring
import Synchronization
import TestSupport

/// Keeps payloads as the kernel does, in memory of the test, and fails on demand.
final class MemoryRetention: KeyRetention {
    struct Kept {
        var payload: [UInt8]
        var seconds: Int?
    }

    struct Contents {
        var kept: [String: Kept] = [:]
        /// What was done, in its order: a verb and the end of the name.
        var calls: [String] = []
        /// What every call of a verb fails with.
        var failures: [String: KeyRetentionFailure] = [:]
        /// Runs before a verb, once, as another process would.
        var interruptions: [String: @Sendable () -> Void] = [:]
    }

    let contents = Mutex(Contents())

    private func begin(_ verb: String, _ name: String) throws(KeyRetentionFailure) {
        let interruption = contents.withLock { $0.interruptions.removeValue(forKey: verb) }
        interruption?()
        let failure = contents.withLock { contents -> KeyRetentionFailure? in
            if verb != "read" { contents.calls.append("\(verb) \(name.split(separator: ":").last ?? "")") }
            return contents.failures[verb] ?? contents.failures["*"]
        }
        if let failure { throw failure }
    }

    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? {
        try begin("read", name)
        guard let kept = contents.withLock({ $0.kept[name] }) else { return nil }
        return SecretBytes(copying: kept.payload)
    }

    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) {
        try begin("keep", name)
        let kept = Kept(payload: payload.bytesForTest(), seconds: seconds)
        contents.withLock { $0.kept[name] = kept }
    }

    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        try begin("replace", name)
        let kept = Kept(payload: payload.bytesForTest(), seconds: seconds)
        return contents.withLock { contents in
            guard contents.kept[name] != nil else { return false }
            contents.kept[name] = kept
            return true
        }
    }

    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) {
        try begin("expire", name)
        contents.withLock { $0.kept[name]?.seconds = seconds }
    }

    func revoke(_ name: String) throws(KeyRetentionFailure) {
        try begin("revoke", name)
        contents.withLock { $0.kept[name] = nil }
    }

    func remainingSeconds(_ name: String) -> Int? { contents.withLock { $0.kept[name]?.seconds } }

    /// The names of what is kept, by their ends.
    var parts: Set<String> {
        contents.withLock { Set($0.kept.keys.compactMap { $0.split(separator: ":").last.map(String.init) }) }
    }

    /// Makes every call of a verb (`*` for all) fail.
    func fail(_ verb: String, _ failure: KeyRetentionFailure?) {
        contents.withLock { $0.failures[verb] = failure }
    }

    /// Runs `body` before the next call of a verb.
    func interrupt(_ verb: String, _ body: @escaping @Sendable () -> Void) {
        contents.withLock { $0.interruptions[verb] = body }
    }

    /// Takes the calls that were made since the last time.
    func takeCalls() -> [String] {
        contents.withLock { contents in
            defer { contents.calls = [] }
            return contents.calls
        }
    }
}
