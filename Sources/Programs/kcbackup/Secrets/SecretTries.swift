internal import KCAgeEncryption
internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCReportText
internal import KCSecretService

extension Session {
    // The number of attempts, as in other programs that ask for a password.
    private static let tries = 3

    /// Reads an existing secret for `use`, without echo of what is typed meanwhile.
    ///
    /// A typed secret that is wrong may be typed again, three times in total.
    ///
    /// - Parameters:
    ///   - keychain: the keychain of which it is the passcode; nothing is asked while wrong ones delay the next attempt.
    ///   - keep: called with the secret before it is used.
    /// - Throws: errors of reading secrets, what `use` throws, `KeychainStoreError` (`tooManyAttempts`, `cryptography` for a
    ///   chip that counts wrong passcodes).
    func trying<Result: ~Copyable>(
        _ wanted: WantedSecret, of keychain: Keychain? = nil, keep: (SecretReadings) -> Void = { _ in },
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        if wanted.isTyped {
            if let seconds = try keychain?.secondsUntilNextTry(now: world.clock()) {
                throw KeychainStoreError.tooManyAttempts(retryAfter: seconds)
            }
            try keychain?.requireGuess()
        }
        return try quietly(wanted.source) { try attempts(wanted, of: keychain, keep, use) }
    }

    private func attempts<Result: ~Copyable>(
        _ wanted: WantedSecret, of keychain: Keychain?, _ keep: (SecretReadings) -> Void,
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        var wanted = wanted
        var left = wanted.isTyped ? Self.tries : 1
        while true {
            left -= 1
            let secret = try secrets.existing(wanted)
            keep(secret)
            do {
                // A chip may count wrong passcodes of an archive, too.
                let isSpared = wanted.flag == .archivePasscode
                return try checking { try tried(secret, wanted.kind, of: keychain, isSpared: isSpared, use) }
            } catch {
                guard Self.isWrongSecret(error) else { throw error }
                let seconds = try keychain?.secondsUntilNextTry(now: world.clock())
                if left > 0, seconds == nil {
                    wanted.remark = "Wrong \(wanted.kind); \(counted(left, "more try", plural: "more tries")).\n"
                    if let doubt = secret.doubt { wanted.remark += "(\(doubt.words(wanted.kind)))\n" }
                    continue
                }
                let doubts = [secret.doubt, seconds.map { .wait(seconds: $0) }].compactMap { $0 }
                if doubts.isEmpty { throw error }
                throw Failure.wrongSecret(Failure(error, subjects), kind: wanted.kind, doubts)
            }
        }
    }

    /// Uses a secret that was read, in the reading that is right.
    ///
    /// - Throws: what `use` throws.
    func tried<Result: ~Copyable>(
        _ secret: SecretReadings, _ kind: String, of keychain: Keychain? = nil, isSpared: Bool = false,
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        func trying() throws -> Result {
            try secret.tried(
                isSpared: isSpared || keychain?.keybag.counter == .chip, isWrong: Self.isWrongSecret,
                onOther: {
                    note("the \(kind) was set with a carriage return or a byte order mark, as Windows adds them")
                }, use)
        }
        guard let keychain else { return try trying() }
        return try keychain.asOneTry(trying)
    }

    private static func isWrongSecret(_ error: any Error) -> Bool {
        switch error {
        case AgeFailure.wrongPassphrase, ArchiveFailure.wrongPassphrase, ArchiveFailure.wrongPasscode,
            KeychainStoreError.wrongPasscode, ForeignFailure.wrongPassword, ForeignFailure.wrongPasswordOrDamaged,
            ForeignFailure.wrongPasswordOrNoKeyFile, ForeignFailure.wrongPasswordOrKeyFile,
            SecretServiceFailure.wrongPassword:
            true
        default: false
        }
    }
}

/// Why a secret that looks right may be wrong, or what follows from its being wrong.
enum SecretDoubt: Hashable, Sendable {
    /// It has letters that are encoded as a letter and a combining mark (not NFC).
    case decomposed
    /// It has letters that could also be encoded as a letter and a combining mark (NFC).
    case composed
    /// The next attempt is allowed after this many seconds.
    case wait(seconds: Int)

    /// Looks for a reason; nil if there is none, as for any ASCII secret.
    init?(_ secret: borrowing SecretBytes) {
        let found: SecretDoubt? = secret.withBytes { bytes in
            do {
                let text = try UTF8Span(validating: bytes)
                if text.isKnownASCII { return nil }
                var scalars = text.makeUnicodeScalarIterator()
                var isComposed = false
                var last: Unicode.Scalar?
                while let scalar = scalars.next() {
                    if !Self.areComposed(last, scalar) { return .decomposed }
                    isComposed = isComposed || Self.mayBeDecomposed(scalar)
                    last = scalar
                }
                return isComposed ? .composed : nil
            } catch {
                // It is not valid Unicode text, so it has no other encoding.
                return nil
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// True if a scalar and the one before it are in NFC.
    ///
    /// To find that out of the whole secret, the standard library would copy it to the heap, and not wipe the copy.
    private static func areComposed(_ last: Unicode.Scalar?, _ scalar: Unicode.Scalar) -> Bool {
        var pair = ""
        if let last { pair.unicodeScalars.append(last) }
        pair.unicodeScalars.append(scalar)
        var span = pair.utf8Span
        return span.checkForNFC(quickCheck: false)
    }

    /// True for accented letters and Korean syllables; the standard library has no API for decompositions.
    private static func mayBeDecomposed(_ scalar: Unicode.Scalar) -> Bool {
        if (0xac00...0xd7a3).contains(scalar.value) { return true }
        guard scalar.properties.isAlphabetic, let name = scalar.properties.name,
            let mark = name.firstRange(of: " WITH ")
        else { return false }
        return !name[mark.upperBound...].exact.hasPrefix("STROKE")
    }

    /// Returns advice, without showing the secret.
    func words(_ kind: String) -> String {
        switch self {
        case .decomposed:
            "the \(kind) spells accented letters as letter and mark (NFD); was it set with whole letters (NFC)?"
        case .composed:
            "the \(kind) has accented letters (NFC); was it set where they are spelled as letter and mark (NFD)?"
        case .wait(let seconds): "the next try is possible in \(duration(seconds: seconds))"
        }
    }
}
