internal import KCAgeEncryption
package import KCAsking
internal import KCBackupArchive
package import KCByteStreams
internal import KCItemSources
internal import KCKeychainKeys
package import KCKeychainStore
internal import KCSecretService

/// A wrong secret, and what may be the reason.
package struct WrongSecret: Error {
    /// The error that the use of the secret threw.
    package let error: any Error
    package let kind: SecretQuestion.Kind
    /// The reasons; at least one.
    package let doubts: [SecretDoubt]
}

extension TaskContext {
    // The number of attempts, as in other programs that ask for a password.
    private static let tries = 3

    /// Reads an existing secret for `use`, without echo of what is typed meanwhile.
    ///
    /// A typed secret that is wrong may be typed again, three times in total.
    ///
    /// - Parameters:
    ///   - keychain: the keychain of which it is the passcode; nothing is asked while wrong ones delay the next attempt.
    ///   - keep: called with the secret before it is used.
    /// - Throws: errors of reading secrets, what `use` throws, `WrongSecret`, `KeychainStoreError` (`tooManyAttempts`,
    ///   `cryptography` for a chip that counts wrong passcodes).
    package func trying<Result: ~Copyable>(
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
        let kind = wanted.question.kind
        var wrong: WrongAnswer?
        var left = wanted.isTyped ? Self.tries : 1
        while true {
            left -= 1
            let secret = try secrets.existing(wanted, after: wrong)
            keep(secret)
            do {
                // A chip may count wrong passcodes of an archive, too.
                let isSpared = wanted.field == .archivePasscode
                return try asking.checking { try tried(secret, kind, of: keychain, isSpared: isSpared, use) }
            } catch {
                guard isWrongSecret(error) else { throw error }
                let seconds = try keychain?.secondsUntilNextTry(now: machine.clock())
                if left > 0, seconds == nil {
                    wrong = WrongAnswer(kind, triesLeft: left, doubt: secret.doubt)
                    continue
                }
                let doubts = [secret.doubt, seconds.map { .wait(seconds: $0) }].compactMap { $0 }
                throw doubts.isEmpty ? error : WrongSecret(error: error, kind: kind, doubts: doubts)
            }
        }
    }

    /// Uses a secret that was read, in the reading that is right.
    ///
    /// - Throws: what `use` throws.
    fileprivate func tried<Result: ~Copyable>(
        _ secret: SecretReadings, _ kind: SecretQuestion.Kind, of keychain: Keychain? = nil, isSpared: Bool = false,
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        func trying() throws -> Result {
            try secret.tried(
                isSpared: isSpared || keychain?.keybag.counter == .chip, isWrong: isWrongSecret,
                onOther: { tell(SecretEvent.setWithMarks(kind)) }, use)
        }
        guard let keychain else { return try trying() }
        return try keychain.asOneTry(trying)
    }
}

/// True if an error of the layers below means that a secret is wrong.
private func isWrongSecret(_ error: any Error) -> Bool {
    switch error {
    case AgeFailure.wrongPassphrase, ArchiveFailure.wrongPassphrase, ArchiveFailure.wrongPasscode,
        KeychainStoreError.wrongPasscode, ForeignFailure.wrongPassword, ForeignFailure.wrongPasswordOrDamaged,
        ForeignFailure.wrongPasswordOrNoKeyFile, ForeignFailure.wrongPasswordOrKeyFile,
        SecretServiceFailure.wrongPassword:
        true
    default: false
    }
}

/// A secret that is read when first needed and then kept as long as this object; a typed one is kept only if it is
/// right.
package final class KeptSecret {
    private var secret: SecretReadings?

    package init() {}

    /// True if the secret has been read.
    package var isRead: Bool { secret != nil }

    /// Reads the secret, unless it has been read already, and passes it to `body`.
    ///
    /// - Throws: errors of reading secrets, and what `body` throws.
    package func use<Result>(
        _ wanted: WantedSecret, in context: TaskContext, _ body: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        if let secret { return try context.tried(secret, wanted.question.kind, body) }
        var latest: SecretReadings?
        let result = try context.trying(
            wanted,
            keep: {
                latest = $0; if !wanted.isTyped { secret = $0 }
            }, body)
        secret = latest
        return result
    }

    /// Reads the secret, unless it has been read already, to set it.
    ///
    /// - Throws: as `SecretInput.existing` and `SecretInput.chosen`.
    package func chosen(_ wanted: WantedSecret, in context: TaskContext) throws -> SecretBytes {
        let read = try secret ?? context.secrets.existing(wanted)
        secret = read
        return try context.secrets.chosen(read, wanted)
    }
}
