package import KCByteStreams

/// X-Wing, which is MLKEM768-X25519 of draft-ietf-hpke-pq: it holds as long as one of ML-KEM-768 and X25519 does.
package enum XWing {
    /// The length of an encapsulated key in bytes: a ciphertext of ML-KEM-768, and a public key of X25519.
    package static let encapsulatedKeyLength = MLKEM768.ciphertextLength + 32
    /// The length of a private key in bytes.
    package static let seedLength = 32
    private static let publicKeyLength = MLKEM768.publicKeyLength + 32
    private static let label = Array(#"\.//^\"#.utf8)

    /// A public key: one of ML-KEM-768, and one of X25519.
    package struct PublicKey: Hashable, Sendable {
        /// The 1,216 bytes.
        package let bytes: [UInt8]

        /// Nil for bytes that are not the encoding of a key.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count == publicKeyLength, MLKEM768.isPublicKey(Array(bytes[..<MLKEM768.publicKeyLength])) else {
                return nil
            }
            self.bytes = bytes
        }

        fileprivate init(lattice: [UInt8], curve: [UInt8]) { bytes = lattice + curve }

        fileprivate var lattice: [UInt8] { Array(bytes[..<MLKEM768.publicKeyLength]) }
        fileprivate var curve: [UInt8] { Array(bytes[MLKEM768.publicKeyLength...]) }
    }

    /// A private key, which is the seed of both.
    package struct PrivateKey: ~Copyable, Sendable {
        /// The 32 bytes.
        package let seed: SecretBytes
        package let publicKey: PublicKey

        /// Makes the key of a seed of 32 bytes.
        package init(seed: consuming SecretBytes) throws(CryptographyFailure) {
            let parts = try Parts(of: seed)
            publicKey = PublicKey(lattice: parts.lattice.publicKey, curve: try X25519.publicKey(of: parts.curve))
            self.seed = seed
        }
    }

    /// The two private keys that a seed stands for.
    private struct Parts: ~Copyable {
        let lattice: MLKEM768.KeyPair
        let curve: SecretBytes

        init(of seed: borrowing SecretBytes) throws(CryptographyFailure) {
            try LibCrypto.require(seed.count, is: XWing.seedLength, "private key length")
            let expanded = try SHA3.shake256(seed, count: MLKEM768.seedLength + 32)
            lattice = try MLKEM768.keyPair(of: expanded.part(..<MLKEM768.seedLength))
            curve = expanded.part(MLKEM768.seedLength...)
        }
    }

    /// Makes a secret for the owner of a key.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` for a key with a point of small order, for which nobody has the
    ///   private half).
    package static func encapsulate(to recipient: PublicKey) throws(CryptographyFailure) -> HPKE.Encapsulation {
        try encapsulate(to: recipient, randomness: RandomBytes.secret(count: MLKEM768.randomnessLength + 32))
    }

    /// Makes a secret from 64 random bytes, which must be used only once.
    static func encapsulate(
        to recipient: PublicKey, randomness: borrowing SecretBytes
    ) throws(CryptographyFailure) -> HPKE.Encapsulation {
        let lattice = try MLKEM768.encapsulate(
            to: recipient.lattice, randomness: randomness.part(..<MLKEM768.randomnessLength))
        let ephemeral = randomness.part(MLKEM768.randomnessLength...)
        let share = try X25519.publicKey(of: ephemeral)
        let curve = try X25519.sharedSecret(privateKey: ephemeral, publicKey: recipient.curve)
        return HPKE.Encapsulation(
            mechanism: .xWing,
            sharedSecret: try combine(lattice.sharedSecret, curve, share + recipient.curve + label),
            encapsulatedKey: lattice.ciphertext + share)
    }

    /// Gets the secret from an encapsulated key; another secret if that is for another key.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if its point is of small order; `unsupportedParameters` for a
    ///   wrong length).
    package static func decapsulate(
        _ encapsulatedKey: [UInt8], with key: borrowing PrivateKey
    ) throws(CryptographyFailure) -> HPKE.Encapsulation {
        try LibCrypto.require(encapsulatedKey.count, is: encapsulatedKeyLength, "encapsulated key length")
        let parts = try Parts(of: key.seed)
        let share = Array(encapsulatedKey[MLKEM768.ciphertextLength...])
        let curve = try X25519.sharedSecret(privateKey: parts.curve, publicKey: share)
        let lattice = try MLKEM768.decapsulate(
            Array(encapsulatedKey[..<MLKEM768.ciphertextLength]), with: parts.lattice.privateKey)
        return HPKE.Encapsulation(
            mechanism: .xWing, sharedSecret: try combine(lattice, curve, share + key.publicKey.curve + label),
            encapsulatedKey: encapsulatedKey)
    }
}

/// MLKEM768-P256 of draft-ietf-hpke-pq, for keys in hardware; decrypting is up to their owner.
package enum HybridP256KEM {
    /// The length of an encapsulated key in bytes: a ciphertext of ML-KEM-768, and a point of P-256.
    package static let encapsulatedKeyLength = MLKEM768.ciphertextLength + pointLength
    private static let pointLength = 65
    private static let label = Array("MLKEM768-P256".utf8)

    /// A public key: one of ML-KEM-768, and an uncompressed point of P-256.
    package struct PublicKey: Hashable, Sendable {
        /// The 1,249 bytes.
        package let bytes: [UInt8]
        fileprivate let curve: KCCryptography.PublicKey

        /// Nil for bytes that are not the encoding of a key.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count == MLKEM768.publicKeyLength + pointLength,
                MLKEM768.isPublicKey(Array(bytes[..<MLKEM768.publicKeyLength]))
            else { return nil }
            do throws(CertificateFailure) {
                curve = try KCCryptography.PublicKey(p256: Array(bytes[MLKEM768.publicKeyLength...]))
            } catch {
                return nil
            }
            self.bytes = bytes
        }

        fileprivate var lattice: [UInt8] { Array(bytes[..<MLKEM768.publicKeyLength]) }
        /// The point, 65 bytes.
        package var point: [UInt8] { Array(bytes[MLKEM768.publicKeyLength...]) }
    }

    /// Makes a secret for the owner of a key.
    ///
    /// - Throws: `CertificateFailure`, `CryptographyFailure`.
    package static func encapsulate(to recipient: PublicKey) throws -> HPKE.Encapsulation {
        try encapsulate(
            to: recipient, randomness: RandomBytes.secret(count: MLKEM768.randomnessLength),
            ephemeral: PrivateKey.generate(.ec, sizeInBits: 256))
    }

    /// Makes a secret from 32 random bytes and an ephemeral key, which must be used only once.
    static func encapsulate(
        to recipient: PublicKey, randomness: borrowing SecretBytes, ephemeral: PrivateKey
    ) throws -> HPKE.Encapsulation {
        let lattice = try MLKEM768.encapsulate(to: recipient.lattice, randomness: randomness)
        let share = ephemeral.publicKey.uncompressedPoint
        let curve = try ephemeral.sharedSecret(with: recipient.curve)
        return HPKE.Encapsulation(
            mechanism: .hybridP256,
            sharedSecret: try combine(lattice.sharedSecret, curve, share + recipient.point + label),
            encapsulatedKey: lattice.ciphertext + share)
    }
}

/// The secret of a hybrid, from those of its halves and what they are about (draft-irtf-cfrg-hybrid-kems, framework CG).
private func combine(
    _ lattice: borrowing SecretBytes, _ curve: borrowing SecretBytes, _ context: [UInt8]
) throws(CryptographyFailure) -> SecretBytes {
    var input = SecretBytes(capacity: lattice.count + curve.count + context.count)
    lattice.withBytes { input.append($0) }
    curve.withBytes { input.append($0) }
    input.append(context.span)
    return try SHA3.hash256(input)
}

extension SecretBytes {
    /// A copy of some of the bytes.
    fileprivate func part(_ range: some RangeExpression<Int>) -> SecretBytes {
        withBytes { SecretBytes($0.extracting(range)) }
    }
}
