package import KCByteStreams
package import KCCryptography

/// A security chip that seals secrets: what it seals opens on the same chip only.
package protocol SealingChip: Sendable {
    /// Seals a secret of at most 128 bytes.
    func seal(_ secret: borrowing SecretBytes) throws(ChipFailure) -> SealedSecret

    /// Opens what `seal` has returned.
    ///
    /// - Throws: `ChipFailure`; `otherChip` if another chip sealed it, or this one was cleared since.
    func unseal(_ sealed: SealedSecret) throws(ChipFailure) -> SecretBytes

    /// Seals a secret of at most 128 bytes behind a password, and counts wrong guesses at it.
    ///
    /// - Parameter password: at most 32 bytes, of which the last is not zero: a TPM ignores zeros at the end.
    func seal(
        _ secret: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(ChipFailure) -> GuardedSecret

    /// Opens what `seal(_:behind:)` has returned, unless a wrong guess could lock what the chip guards for others
    /// (`ChipFacts.requireGuess`).
    ///
    /// - Throws: `ChipFailure`; `wrongPassword` if the chip has counted a wrong guess, `lockedOut` after too many,
    ///   `otherChip` if another chip sealed it, or this one was cleared since, which is found out before.
    func unseal(_ guarded: GuardedSecret, with password: borrowing SecretBytes) throws(ChipFailure) -> SecretBytes

    /// True if this chip sealed it, and was not cleared since.
    func owns(_ sealed: SealedSecret) throws(ChipFailure) -> Bool

    /// Returns what the chip says about itself; it is not authenticated.
    func facts() throws(ChipFailure) -> ChipFacts
}

/// A secret that only one chip opens; not itself a secret.
package struct SealedSecret: Hashable, Sendable {
    /// The name of the key that it is sealed under: a hash of that key's public part.
    ///
    /// Nothing is sent to a chip whose key has another name.
    package let parent: [UInt8]
    /// Its public part, in the chip's format.
    package let publicPart: [UInt8]
    /// Its encrypted part, in the chip's format.
    package let privatePart: [UInt8]

    /// Creates an instance from its parts.
    package init(parent: [UInt8], publicPart: [UInt8], privatePart: [UInt8]) {
        self.parent = parent
        self.publicPart = publicPart
        self.privatePart = privatePart
    }
}

/// A secret that only one chip opens, and only with a password; not itself a secret.
package struct GuardedSecret: Hashable, Sendable {
    /// The secret, as the chip has sealed it.
    package let sealed: SealedSecret

    /// Creates an instance from its parts.
    package init(_ sealed: SealedSecret) {
        self.sealed = sealed
    }
}

/// The facts that a chip states about itself.
package struct ChipFacts: Hashable, Sendable {
    /// The manufacturer's short name, such as `INTC`.
    package let manufacturer: String
    /// How many wrong guesses at guarded keys the chip counts at present, for all programs together.
    package let wrongGuesses: Int
    /// At how many the chip refuses guarded keys.
    package let guessLimit: Int
    /// True if it takes a password to reset the count.
    package let hasLockoutPassword: Bool
    /// True while the chip refuses guarded keys.
    package let isLockedOut: Bool
    /// After how many seconds the chip forgives one wrong guess; 0 if it counts none.
    package let secondsPerGuess: Int

    /// Creates an instance from its parts.
    package init(
        manufacturer: String, wrongGuesses: Int, guessLimit: Int, hasLockoutPassword: Bool, isLockedOut: Bool,
        secondsPerGuess: Int
    ) {
        self.manufacturer = manufacturer
        self.wrongGuesses = wrongGuesses
        self.guessLimit = guessLimit
        self.hasLockoutPassword = hasLockoutPassword
        self.isLockedOut = isLockedOut
        self.secondsPerGuess = secondsPerGuess
    }
}

/// The count of wrong guesses is one for all that a chip guards: what is wrong here locks the others too.
extension ChipFacts {
    /// How many guesses must be left where a passcode is tried; so others are left to other programs, such as those that
    /// open disks.
    package static let reserve = 5
    /// The lowest limit of a chip that should count passcodes: with less, two typing errors lock a keychain for hours.
    package static let leastLimit = 2 * reserve

    /// Checks that wrong guesses are counted, and that a few of them do no harm.
    ///
    /// - Throws: `ChipFailure` (`countsTooFew` if they are not counted, or if less than `leastLimit` lock the chip).
    package func requireCounting() throws(ChipFailure) {
        guard guessLimit >= Self.leastLimit, secondsPerGuess > 0 else { throw .countsTooFew(limit: guessLimit) }
    }

    /// Checks that a passcode may be tried now.
    ///
    /// - Throws: `ChipFailure` (`lockedOut` with the longest time until it may, `countsTooFew` if it never may).
    package func requireGuess() throws(ChipFailure) {
        guard guessLimit >= Self.reserve else { throw .countsTooFew(limit: guessLimit) }
        let left = isLockedOut ? 0 : max(0, guessLimit - wrongGuesses)
        guard left < Self.reserve else { return }
        let (seconds, overflows) = (Self.reserve - left).multipliedReportingOverflow(by: secondsPerGuess)
        throw .lockedOut(seconds: overflows ? .max : seconds)
    }
}

/// The chip of a machine that is given none.
package struct NoChip: SealingChip {
    /// Creates an instance.
    package init() {}

    /// Throws `absent`.
    package func seal(_ secret: borrowing SecretBytes) throws(ChipFailure) -> SealedSecret { throw Self.failure }
    /// Throws `absent`.
    package func unseal(_ sealed: SealedSecret) throws(ChipFailure) -> SecretBytes { throw Self.failure }
    /// Throws `absent`.
    package func seal(
        _ secret: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(ChipFailure) -> GuardedSecret { throw Self.failure }
    /// Throws `absent`.
    package func unseal(
        _ guarded: GuardedSecret, with password: borrowing SecretBytes
    ) throws(ChipFailure) -> SecretBytes { throw Self.failure }
    /// Throws `absent`.
    package func owns(_ sealed: SealedSecret) throws(ChipFailure) -> Bool { throw Self.failure }
    /// Throws `absent`.
    package func facts() throws(ChipFailure) -> ChipFacts { throw Self.failure }

    private static let failure = ChipFailure.absent(path: "/dev/tpmrm0")
}
