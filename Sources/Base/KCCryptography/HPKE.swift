package import KCByteStreams

/// Hybrid public key encryption (RFC 9180) in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305.
///
/// ```swift
/// let sealed = try HPKE.seal(fileKey, to: publicKey, info: label)
/// let opened = try HPKE.open(sealed, with: privateKey, info: label)
/// ```
package enum HPKE {
    /// What the owner of the private key needs to decrypt.
    package struct Sealed: Hashable, Sendable {
        /// The ephemeral public key: 65 bytes, a point of P-256 in uncompressed form.
        package let encapsulatedKey: [UInt8]
        /// The ciphertext and its tag of 16 bytes.
        package let ciphertext: [UInt8]

        package init(encapsulatedKey: [UInt8], ciphertext: [UInt8]) {
            self.encapsulatedKey = encapsulatedKey
            self.ciphertext = ciphertext
        }
    }

    /// Encrypts a message to the owner of a P-256 key (SealBase).
    ///
    /// - Parameters:
    ///   - info: what the message is for.
    ///   - associatedData: what is authenticated with it.
    /// - Throws: `CertificateFailure` (`unsupported` for a key that is not of P-256), `CryptographyFailure`.
    package static func seal(
        _ message: borrowing SecretBytes, to recipient: PublicKey, info: [UInt8], associatedData: [UInt8] = []
    ) throws -> Sealed {
        try seal(
            message, to: recipient, info: info, associatedData: associatedData,
            ephemeral: PrivateKey.generate(.ec, sizeInBits: 256))
    }

    /// Encrypts with the given ephemeral key, which must be used only once.
    static func seal(
        _ message: borrowing SecretBytes, to recipient: PublicKey, info: [UInt8], associatedData: [UInt8],
        ephemeral: PrivateKey
    ) throws -> Sealed {
        let encapsulated = ephemeral.publicKey.uncompressedPoint
        let shared = try ephemeral.sharedSecret(with: recipient)
        let keys = try Keys(shared, encapsulated + recipient.uncompressedPoint, info)
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: keys.key)
        var sealed = SecretBytes(capacity: message.count + authenticationTagLength)
        try message.withBytes { bytes in
            try cipher.seal(bytes, nonce: keys.nonce, associatedData: associatedData.span, into: &sealed)
        }
        return Sealed(
            encapsulatedKey: encapsulated, ciphertext: sealed.withBytes { span in span.indices.map { span[$0] } })
    }

    /// Decrypts a message (OpenBase).
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the encapsulated key is not a point of P-256), `CryptographyFailure`
    ///   (`authentication` if the message was encrypted to another key, or changed).
    package static func open(
        _ sealed: Sealed, with key: PrivateKey, info: [UInt8], associatedData: [UInt8] = []
    ) throws -> SecretBytes {
        let ephemeral = try PublicKey(p256: sealed.encapsulatedKey)
        let keys = try Keys(
            key.sharedSecret(with: ephemeral), sealed.encapsulatedKey + key.publicKey.uncompressedPoint, info)
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: keys.key)
        var message = SecretBytes(capacity: sealed.ciphertext.count)
        try cipher.open(
            sealed.ciphertext.span, nonce: keys.nonce, associatedData: associatedData.span, into: &message)
        return message
    }

    /// The keys of one message (RFC 9180, sections 4.1 and 5.1).
    private struct Keys: ~Copyable {
        let key: SecretBytes
        let nonce: Nonce

        // The numbers of the algorithms: KEM 0x0010, KDF 0x0001, AEAD 0x0003.
        private static let kem = Array("KEM".utf8) + [0x00, 0x10]
        private static let suite = Array("HPKE".utf8) + [0x00, 0x10, 0x00, 0x01, 0x00, 0x03]

        /// - Parameters:
        ///   - agreed: the x coordinate of the shared point.
        ///   - context: the encapsulated key and the key of the recipient.
        init(_ agreed: borrowing SecretBytes, _ context: [UInt8], _ info: [UInt8]) throws(CryptographyFailure) {
            let none = SecretBytes(capacity: 0)
            let secret = try Self.extract(Self.kem, salt: none, "eae_prk", agreed)
            let shared = try Self.expand(Self.kem, secret, "shared_secret", context, 32)
            let name = try Self.extract(Self.suite, salt: none, "psk_id_hash", none)
            let purpose = try Self.extract(Self.suite, salt: none, "info_hash", SecretBytes(info.span))
            let base: [UInt8] = [0]
            let schedule =
                base + name.withBytes { span in span.indices.map { span[$0] } }
                + purpose.withBytes { span in span.indices.map { span[$0] } }
            let root = try Self.extract(Self.suite, salt: shared, "secret", none)
            let key = try Self.expand(Self.suite, root, "key", schedule, 32)
            let bytes = try Self.expand(Self.suite, root, "base_nonce", schedule, 12)
            guard let nonce = Nonce(bytes: bytes.withBytes { span in span.indices.map { span[$0] } }) else {
                throw .unsupportedParameters("nonce length")
            }
            self.key = key
            self.nonce = nonce
        }

        /// LabeledExtract.
        private static func extract(
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
        private static func expand(
            _ suite: [UInt8], _ key: borrowing SecretBytes, _ label: String, _ info: [UInt8], _ count: UInt8
        ) throws(CryptographyFailure) -> SecretBytes {
            try HKDF.expand(
                pseudoRandomKey: key, info: [0, count] + version + suite + Array(label.utf8) + info, count: Int(count))
        }

        private static let version = Array("HPKE-v1".utf8)
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
