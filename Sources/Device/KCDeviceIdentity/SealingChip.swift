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

/// What a chip says about itself.
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

    /// Creates an instance from its parts.
    package init(
        manufacturer: String, wrongGuesses: Int, guessLimit: Int, hasLockoutPassword: Bool, isLockedOut: Bool
    ) {
        self.manufacturer = manufacturer
        self.wrongGuesses = wrongGuesses
        self.guessLimit = guessLimit
        self.hasLockoutPassword = hasLockoutPassword
        self.isLockedOut = isLockedOut
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
    package func facts() throws(ChipFailure) -> ChipFacts { throw Self.failure }

    private static let failure = ChipFailure.absent(path: "/dev/tpmrm0")
}
