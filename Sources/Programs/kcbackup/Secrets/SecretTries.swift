internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks

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
            if let seconds = try keychain?.secondsUntilNextTry(now: machine.clock()) {
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
        var wrong: WrongAnswer?
        var left = wanted.isTyped ? Self.tries : 1
        while true {
            left -= 1
            let secret = try secrets.existing(wanted, after: wrong)
            keep(secret)
            do {
                // A chip may count wrong passcodes of an archive, too.
                let isSpared = wanted.field == .archivePasscode
                return try checking { try tried(secret, wanted.question.kind, of: keychain, isSpared: isSpared, use) }
            } catch {
                guard Self.isWrongSecret(error) else { throw error }
                let seconds = try keychain?.secondsUntilNextTry(now: machine.clock())
                if left > 0, seconds == nil {
                    wrong = WrongAnswer(wanted.question.kind, triesLeft: left, doubt: secret.doubt)
                    continue
                }
                let doubts = [secret.doubt, seconds.map { .wait(seconds: $0) }].compactMap { $0 }
                if doubts.isEmpty { throw error }
                throw Failure.wrongSecret(failure(of: error), kind: wanted.question.kind, doubts)
            }
        }
    }

    /// Uses a secret that was read, in the reading that is right.
    ///
    /// - Throws: what `use` throws.
    func tried<Result: ~Copyable>(
        _ secret: SecretReadings, _ kind: SecretQuestion.Kind, of keychain: Keychain? = nil, isSpared: Bool = false,
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        func trying() throws -> Result {
            try secret.tried(
                isSpared: isSpared || keychain?.keybag.counter == .chip, isWrong: Self.isWrongSecret,
                onOther: {
                    note("the \(kind.words) was set with a carriage return or a byte order mark, as Windows adds them")
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
