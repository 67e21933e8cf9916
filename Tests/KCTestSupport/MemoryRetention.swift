package import KCByteStreams
package import KCKernelKeyring
package import Synchronization

/// Keeps payloads as the kernel does, but in the memory of the test, and fails on demand.
package final class MemoryRetention: KeyRetention {
    /// A payload and how long it is kept.
    package struct Kept: Sendable {
        /// Its bytes.
        package var payload: [UInt8]
        /// How long it is kept, in seconds; nil for no limit.
        package var seconds: Int?
    }

    /// The kept payloads, the calls made, and the planned failures and interruptions.
    package struct Contents: Sendable {
        /// The payloads by name.
        package var kept: [String: Kept] = [:]
        /// All calls but `read`, in order: a verb and the last part of the name.
        package var calls: [String] = []
        /// The error that every call of a verb throws.
        package var failures: [String: KeyRetentionFailure] = [:]
        /// Runs once, before a verb or after a `replace` that changed something (`after replace`), as another process
        /// could.
        package var interruptions: [String: @Sendable () -> Void] = [:]
    }

    /// The kept payloads, the calls made, and the planned failures and interruptions.
    package let contents = Mutex(Contents())

    /// Creates an empty store.
    package init() {}

    private func begin(_ verb: String, _ name: String) throws(KeyRetentionFailure) {
        let interruption = contents.withLock { $0.interruptions.removeValue(forKey: verb) }
        interruption?()
        let failure = contents.withLock { contents -> KeyRetentionFailure? in
            if verb != "read" { contents.calls.append("\(verb) \(name.split(separator: ":").last ?? "")") }
            return contents.failures[verb] ?? contents.failures["*"]
        }
        if let failure { throw failure }
    }

    /// See `KeyRetention`.
    package func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? {
        try begin("read", name)
        guard let kept = contents.withLock({ $0.kept[name] }) else { return nil }
        return SecretBytes(copying: kept.payload)
    }

    /// See `KeyRetention`.
    package func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) {
        try begin("keep", name)
        let kept = Kept(payload: payload.bytesForTest(), seconds: seconds)
        contents.withLock { $0.kept[name] = kept }
    }

    /// See `KeyRetention`.
    package func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        try begin("replace", name)
        let kept = Kept(payload: payload.bytesForTest(), seconds: seconds)
        let (isThere, interruption) = contents.withLock { contents in
            guard contents.kept[name] != nil else { return (false, nil as (@Sendable () -> Void)?) }
            contents.kept[name] = kept
            return (true, contents.interruptions.removeValue(forKey: "after replace"))
        }
        interruption?()
        return isThere
    }

    /// See `KeyRetention`.
    package func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) {
        try begin("expire", name)
        contents.withLock { $0.kept[name]?.seconds = seconds }
    }

    /// See `KeyRetention`.
    package func revoke(_ name: String) throws(KeyRetentionFailure) {
        try begin("revoke", name)
        contents.withLock { $0.kept[name] = nil }
    }

    /// See `KeyRetention`.
    package func remainingSeconds(_ name: String) -> Int? { contents.withLock { $0.kept[name]?.seconds } }

    /// The last parts of the names of the kept payloads.
    package var parts: Set<String> {
        contents.withLock { Set($0.kept.keys.compactMap { $0.split(separator: ":").last.map(String.init) }) }
    }

    /// Makes every call of a verb (`*` for all) fail, or, with nil, succeed again.
    package func fail(_ verb: String, _ failure: KeyRetentionFailure?) {
        contents.withLock { $0.failures[verb] = failure }
    }

    /// Runs `body` before the next call of a verb, or after the next `replace` that changes something (`after
    /// replace`).
    package func interrupt(_ verb: String, _ body: @escaping @Sendable () -> Void) {
        contents.withLock { $0.interruptions[verb] = body }
    }

    /// Returns the calls made since the last time.
    package func takeCalls() -> [String] {
        contents.withLock { contents in
            defer { contents.calls = [] }
            return contents.calls
        }
    }
}
