package import KCByteStreams

/// Hybrid public key encryption (RFC 9180) in base mode with HKDF-SHA256 and ChaCha20Poly1305.
///
/// A key encapsulation mechanism makes the `Encapsulation` of a message: `DHKEM` for P-256, `XWing` and `HybridP256KEM`
/// for keys that a quantum computer does not break either.
///
/// ```swift
/// let encapsulation = try DHKEM.encapsulate(to: publicKey)
/// let sealed = try HPKE.seal(fileKey, under: encapsulation, info: label)
/// let opened = try HPKE.open(sealed, under: DHKEM.decapsulate(encapsulation.encapsulatedKey, with: key), info: label)
/// ```
package enum HPKE {
    /// How the two sides of a message agree on a secret, with its number in the registry of RFC 9180.
    enum Mechanism: UInt16 {
        /// DHKEM(P-256, HKDF-SHA256).
        case p256 = 0x0010
        /// MLKEM768-P256 (draft-ietf-hpke-pq).
        case hybridP256 = 0x0050
        /// MLKEM768-X25519, also called X-Wing (draft-ietf-hpke-pq).
        case xWing = 0x647a
    }

    /// A secret that only the two sides of one message know.
    package struct Encapsulation: ~Copyable {
        let mechanism: Mechanism
        let sharedSecret: SecretBytes
        /// The data that the owner of the private key needs to get the secret.
        package let encapsulatedKey: [UInt8]
    }

    /// Encrypts the one message of an encapsulation (SealBase).
    ///
    /// - Parameters:
    ///   - info: what the message is for.
    ///   - associatedData: what is authenticated with it.
    /// - Returns: the ciphertext and its tag of 16 bytes.
    package static func seal(
        _ message: borrowing SecretBytes, under encapsulation: borrowing Encapsulation, info: [UInt8],
        associatedData: [UInt8] = []
    ) throws(CryptographyFailure) -> [UInt8] {
        let keys = try Keys(encapsulation, info)
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: keys.key)
        var sealed = SecretBytes(capacity: message.count + authenticationTagLength)
        try message.withBytes { bytes throws(CryptographyFailure) in
            try cipher.seal(bytes, nonce: keys.nonce, associatedData: associatedData.span, into: &sealed)
        }
        return sealed.withBytes { span in span.indices.map { span[$0] } }
    }

    /// Decrypts a message (OpenBase).
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if the message was encrypted to another key, or changed).
    package static func open(
        _ ciphertext: [UInt8], under encapsulation: borrowing Encapsulation, info: [UInt8],
        associatedData: [UInt8] = []
    ) throws(CryptographyFailure) -> SecretBytes {
        let keys = try Keys(encapsulation, info)
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: keys.key)
        var message = SecretBytes(capacity: ciphertext.count)
        try cipher.open(ciphertext.span, nonce: keys.nonce, associatedData: associatedData.span, into: &message)
        return message
    }

    /// The keys of one message (RFC 9180, section 5.1).
    private struct Keys: ~Copyable {
        let key: SecretBytes
        let nonce: Nonce

        init(_ encapsulation: borrowing Encapsulation, _ info: [UInt8]) throws(CryptographyFailure) {
            let none = SecretBytes(capacity: 0)
            // The numbers of the algorithms: KDF 0x0001, AEAD 0x0003.
            let suite = Array("HPKE".utf8) + encapsulation.mechanism.bytes + [0x00, 0x01, 0x00, 0x03]
            let name = try extract(suite, salt: none, "psk_id_hash", none)
            let purpose = try extract(suite, salt: none, "info_hash", SecretBytes(info.span))
            let base: [UInt8] = [0]
            let schedule =
                base + name.withBytes { span in span.indices.map { span[$0] } }
                + purpose.withBytes { span in span.indices.map { span[$0] } }
            let root = try extract(suite, salt: encapsulation.sharedSecret, "secret", none)
            let key = try expand(suite, root, "key", schedule, 32)
            let bytes = try expand(suite, root, "base_nonce", schedule, 12)
            guard let nonce = Nonce(bytes: bytes.withBytes { span in span.indices.map { span[$0] } }) else {
                throw .unsupportedParameters("nonce length")
            }
            self.key = key
            self.nonce = nonce
        }
    }

    /// LabeledExtract.
    fileprivate static func extract(
        _ suite: [UInt8], salt: borrowing SecretBytes, _ label: String, _ key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        var hmac = try HMAC(key: salt)
        try hmac.update((version + suite + Array(label.utf8)).span)
        try hmac.update(key)
        var extracted = SecretBytes(capacity: 32)
        try hmac.finalize(into: &extracted)
        return extracted
    }

    /// LabeledExpand.
    fileprivate static func expand(
        _ suite: [UInt8], _ key: borrowing SecretBytes, _ label: String, _ info: [UInt8], _ count: UInt8
    ) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.expand(
            pseudoRandomKey: key, info: [0, count] + version + suite + Array(label.utf8) + info, count: Int(count))
    }

    private static let version = Array("HPKE-v1".utf8)
}

extension HPKE.Mechanism {
    /// The number, big-endian.
    fileprivate var bytes: [UInt8] { [UInt8(rawValue >> 8), UInt8(rawValue & 0xff)] }
}

/// DHKEM(P-256, HKDF-SHA256) (RFC 9180, section 4.1).
package enum DHKEM {
    /// Makes a secret for the owner of a P-256 key; the encapsulated key is an uncompressed point, 65 bytes.
    ///
    /// - Throws: `CertificateFailure` (`unsupported` for a key that is not of P-256), `CryptographyFailure`.
    package static func encapsulate(to recipient: PublicKey) throws -> HPKE.Encapsulation {
        try encapsulate(to: recipient, ephemeral: PrivateKey.generate(.ec, sizeInBits: 256))
    }

    /// Makes a secret with the given ephemeral key, which must be used only once.
    static func encapsulate(to recipient: PublicKey, ephemeral: PrivateKey) throws -> HPKE.Encapsulation {
        let share = ephemeral.publicKey.uncompressedPoint
        return try encapsulation(
            ephemeral.sharedSecret(with: recipient), share: share, of: recipient.uncompressedPoint)
    }

    /// Gets the secret from an encapsulated key.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the encapsulated key is not a point of P-256), `CryptographyFailure`.
    package static func decapsulate(
        _ encapsulatedKey: [UInt8], with key: PrivateKey
    ) throws -> HPKE.Encapsulation {
        let ephemeral = try PublicKey(p256: encapsulatedKey)
        return try encapsulation(
            key.sharedSecret(with: ephemeral), share: encapsulatedKey, of: key.publicKey.uncompressedPoint)
    }

    /// - Parameter agreed: the x coordinate of the shared point.
    private static func encapsulation(
        _ agreed: borrowing SecretBytes, share: [UInt8], of recipient: [UInt8]
    ) throws(CryptographyFailure) -> HPKE.Encapsulation {
        let suite = Array("KEM".utf8) + HPKE.Mechanism.p256.bytes
        let secret = try HPKE.extract(suite, salt: SecretBytes(capacity: 0), "eae_prk", agreed)
        return HPKE.Encapsulation(
            mechanism: .p256, sharedSecret: try HPKE.expand(suite, secret, "shared_secret", share + recipient, 32),
            encapsulatedKey: share)
    }
}

extension PublicKey {
    /// Reads a point of P-256 in compressed (33 bytes) or uncompressed form (65 bytes) (SEC 1, section 2.3.4).
    ///
    /// - Throws: `CertificateFailure` (`malformed` if it is not a point of the curve).
    package init(p256 point: [UInt8]) throws(CertificateFailure) {
        let isCompressed = point.count == 33 && (point[0] == 2 || point[0] == 3)
        let form = CertificateFailure.malformed("not a point of P-256")
        guard isCompressed || point.count == 65 && point[0] == 4 else { throw form }
        let algorithm = DER.element(
            DERTag.sequence,
            DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
                + DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]))
        let key = try PublicKey(
            der: DER.element(DERTag.sequence, algorithm + DER.element(DERTag.bitString, [0] + point)))
        // libcrypto reads what is no point as a key of an unknown kind.
        guard key.kind == .ec, key.sizeInBits == 256 else { throw form }
        self = key
    }
}
