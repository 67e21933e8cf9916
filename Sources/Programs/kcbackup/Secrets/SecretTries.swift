internal import KCAgeEncryption
internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainStore
internal import KCReportText

extension Session {
    // The number of attempts, as in other programs that ask for a password.
    private static let tries = 3

    /// Reads an existing secret for `use`, without echo of what is typed meanwhile.
    ///
    /// A typed secret that is wrong may be typed again, three times in total.
    ///
    /// - Parameter wait: returns the seconds until another attempt is allowed, in which case nothing more is asked; nil
    ///   for none.
    /// - Throws: errors of reading secrets, and what `use` throws.
    func trying<Result: ~Copyable>(
        _ wanted: WantedSecret, wait: () throws -> Int? = { nil },
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        try quietly(wanted.source) { try attempts(wanted, wait: wait, use) }
    }

    private func attempts<Result: ~Copyable>(
        _ wanted: WantedSecret, wait: () throws -> Int?, _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        var wanted = wanted
        var left = wanted.isTyped ? Self.tries : 1
        while true {
            left -= 1
            let secret = try secrets.existing(wanted)
            do {
                return try checking { try use(secret) }
            } catch {
                guard Self.isWrongSecret(error) else { throw error }
                let seconds = try wait()
                if left > 0, seconds == nil {
                    wanted.remark = "Wrong \(wanted.kind); \(counted(left, "more try", plural: "more tries")).\n"
                    if let doubt = SecretDoubt(secret) { wanted.remark += "(\(doubt.words(wanted.kind)))\n" }
                    continue
                }
                let doubts = [SecretDoubt(secret), seconds.map { .wait(seconds: $0) }].compactMap { $0 }
                if doubts.isEmpty { throw error }
                throw Failure.wrongSecret(Failure(error, subjects), kind: wanted.kind, doubts)
            }
        }
    }

    /// Reads the passcode of a keychain for `use`; nothing is asked while wrong passcodes delay the next attempt.
    ///
    /// - Throws: as `trying`, `KeychainStoreError` (`tooManyAttempts`, `cryptography` for a chip that counts them).
    func trying<Result: ~Copyable>(
        _ wanted: WantedSecret, of keychain: Keychain, _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        let wait = { try keychain.secondsUntilNextTry(now: self.world.clock()) }
        if wanted.isTyped {
            if let seconds = try wait() { throw KeychainStoreError.tooManyAttempts(retryAfter: seconds) }
            try keychain.requireGuess()
        }
        return try trying(wanted, wait: wait, use)
    }

    private static func isWrongSecret(_ error: any Error) -> Bool {
        switch error {
        case AgeFailure.wrongPassphrase, ArchiveFailure.wrongPassphrase, ArchiveFailure.wrongPasscode,
            KeychainStoreError.wrongPasscode, ForeignFailure.wrongPassword, ForeignFailure.wrongPasswordOrDamaged,
            ForeignFailure.wrongPasswordOrNoKeyFile, ForeignFailure.wrongPasswordOrKeyFile:
            true
        default: false
        }
    }
}

/// Why a secret that looks right may be wrong, or what follows from its being wrong.
enum SecretDoubt: Hashable, Sendable {
    /// It ends with a carriage return, like the first line of a file with Windows line endings.
    case carriageReturn
    /// It has letters that are encoded as a letter and a combining mark (not NFC).
    case decomposed
    /// It has letters that could also be encoded as a letter and a combining mark (NFC).
    case composed
    /// The next attempt is allowed after this many seconds.
    case wait(seconds: Int)

    /// Looks for a reason; nil if there is none, as for any ASCII secret.
    init?(_ secret: borrowing SecretBytes) {
        let found: SecretDoubt? = secret.withBytes { bytes in
            if !bytes.isEmpty, bytes[bytes.count - 1] == UInt8(ascii: "\r") { return .carriageReturn }
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
        case .carriageReturn:
            "the \(kind) ends with a carriage return, as lines of Windows do; was it set without one?"
        case .decomposed:
            "the \(kind) spells accented letters as letter and mark (NFD); was it set with whole letters (NFC)?"
        case .composed:
            "the \(kind) has accented letters (NFC); was it set where they are spelled as letter and mark (NFD)?"
        case .wait(let seconds): "the next try is possible in \(duration(seconds: seconds))"
        }
    }
}
