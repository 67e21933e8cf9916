package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
internal import Synchronization

/// A security chip in the memory of the test: it opens what it has sealed, until it is cleared, and fails on demand.
package final class FakeChip: SealingChip {
    private struct State {
        var secrets: [[UInt8]: [UInt8]] = [:]
        var passwords: [[UInt8]: [UInt8]] = [:]
        var lastPassword: [UInt8] = []
        var wrongGuesses = 0
        var guessLimit = 32
        var secondsPerGuess = 600
        var parent: UInt8 = 1
        var failures: [String: ChipFailure] = [:]
        var altersSecrets = false
        var openings = 0
        var isAbsent: Bool
    }

    private let state: Mutex<State>

    /// Creates a chip.
    ///
    /// - Parameter isAbsent: true for a machine that has none.
    package init(isAbsent: Bool = false) {
        state = Mutex(State(isAbsent: isAbsent))
    }

    /// Makes a call (`seal`, `unseal`, which stand for those with a password too, or `facts`) fail, or, with nil, succeed again.
    package func fail(_ call: String, _ failure: ChipFailure?) { state.withLock { $0.failures[call] = failure } }

    /// Clears the chip, as another one would be.
    package func clear() {
        state.withLock { state in
            state.secrets = [:]
            state.parent += 1
        }
    }

    /// Puts the chip into the machine, or takes it out.
    package func set(absent isAbsent: Bool) { state.withLock { $0.isAbsent = isAbsent } }

    /// Makes it return another secret than it was given.
    package func set(altersSecrets: Bool) { state.withLock { $0.altersSecrets = altersSecrets } }

    /// How many wrong guesses at passwords it has counted.
    package var wrongGuesses: Int { state.withLock { $0.wrongGuesses } }

    /// The password that something was last sealed behind.
    package var lastPassword: [UInt8] { state.withLock { $0.lastPassword } }

    /// Sets how many wrong guesses it has counted, and how it counts.
    package func set(wrongGuesses: Int, of guessLimit: Int = 32, secondsPerGuess: Int = 600) {
        state.withLock { state in
            state.wrongGuesses = wrongGuesses
            state.guessLimit = guessLimit
            state.secondsPerGuess = secondsPerGuess
        }
    }

    /// How many secrets it has opened.
    package var openings: Int { state.withLock { $0.openings } }

    private func begin(_ call: String) throws(ChipFailure) {
        let failure = state.withLock { state in
            state.isAbsent ? ChipFailure.absent(path: "/dev/tpmrm0") : state.failures[call]
        }
        if let failure { throw failure }
    }

    /// See `SealingChip`.
    package func seal(_ secret: borrowing SecretBytes) throws(ChipFailure) -> SealedSecret {
        try begin("seal")
        let bytes = secret.bytesForTest()
        return state.withLock { state in
            let label = Array("sealed \(state.secrets.count) under \(state.parent)".utf8)
            state.secrets[label] = bytes
            return SealedSecret(
                parent: [state.parent] + [UInt8](repeating: 7, count: 33), publicPart: [1, 2, 3], privatePart: label)
        }
    }

    /// See `SealingChip`.
    package func unseal(_ sealed: SealedSecret) throws(ChipFailure) -> SecretBytes {
        try begin("unseal")
        let (isOwn, bytes) = state.withLock { state in
            state.openings += 1
            return (sealed.parent.first == state.parent, state.secrets[sealed.privatePart])
        }
        guard isOwn else { throw .otherChip }
        guard var bytes, sealed.publicPart == [1, 2, 3] else { throw .damaged }
        if state.withLock({ $0.altersSecrets }) { bytes[0] ^= 1 }
        return SecretBytes(copying: bytes)
    }

    /// See `SealingChip`.
    package func seal(
        _ secret: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(ChipFailure) -> GuardedSecret {
        let sealed = try seal(secret)
        let password = password.bytesForTest()
        state.withLock { state in
            state.passwords[sealed.privatePart] = password
            state.lastPassword = password
        }
        return GuardedSecret(sealed)
    }

    /// See `SealingChip`.
    package func unseal(
        _ guarded: GuardedSecret, with password: borrowing SecretBytes
    ) throws(ChipFailure) -> SecretBytes {
        let given = password.bytesForTest()
        try begin("unseal")
        guard state.withLock({ guarded.sealed.parent.first == $0.parent }) else { throw .otherChip }
        try facts().requireGuess()
        let isRight = state.withLock { state in
            let isRight = state.passwords[guarded.sealed.privatePart] == given
            if !isRight { state.wrongGuesses += 1 }
            return isRight
        }
        guard isRight else { throw .wrongPassword }
        return try unseal(guarded.sealed)
    }

    /// See `SealingChip`.
    package func owns(_ sealed: SealedSecret) throws(ChipFailure) -> Bool {
        try begin("facts")
        return state.withLock { sealed.parent.first == $0.parent }
    }

    /// See `SealingChip`.
    package func facts() throws(ChipFailure) -> ChipFacts {
        try begin("facts")
        return state.withLock { state in
            ChipFacts(
                manufacturer: "FAKE", wrongGuesses: state.wrongGuesses, guessLimit: state.guessLimit,
                hasLockoutPassword: false, isLockedOut: state.wrongGuesses >= state.guessLimit,
                secondsPerGuess: state.secondsPerGuess)
        }
    }
}
