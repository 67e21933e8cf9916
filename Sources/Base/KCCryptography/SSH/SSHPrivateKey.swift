internal import CKCLibCrypto
package import KCByteStreams

/// A private key of SSH that decrypts: the private half of an `SSHPublicKey`.
package final class SSHPrivateKey: Sendable {
    /// The public half.
    package let publicKey: SSHPublicKey
    /// The private key of X25519 for the point of an Ed25519 key; empty for RSA.
    private let agreementKey: SecretBytes
    /// The key, if it is one of RSA.
    private let rsa: PrivateKey?

    private init(agreementKey: consuming SecretBytes, _ publicKey: SSHPublicKey) {
        self.agreementKey = agreementKey
        self.publicKey = publicKey
        rsa = nil
    }

    private init(_ key: PrivateKey, _ publicKey: SSHPublicKey) {
        agreementKey = SecretBytes(capacity: 0)
        self.publicKey = publicKey
        rsa = key
    }

    /// The secret that an Ed25519 key shares with a key of X25519.
    ///
    /// - Throws: `CryptographyFailure`: as `X25519.sharedSecret`; `unsupportedParameters` for an RSA key.
    package func sharedSecret(with other: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try X25519.sharedSecret(privateKey: agreementKey, publicKey: other)
    }

    /// Decrypts with an RSA key.
    ///
    /// - Throws: `CertificateFailure`: as `PrivateKey.decrypt`; `unsupported` for an Ed25519 key.
    package func decrypt(
        _ bytes: borrowing Span<UInt8>, _ form: EncryptionForm
    ) throws(CertificateFailure) -> SecretBytes {
        guard let rsa else { throw .unsupported("decrypting with a key that is not RSA") }
        return try rsa.decrypt(bytes, form)
    }

    /// Reads the file of a key: one block of PEM, in OpenSSH's own format, PKCS#8 or PKCS#1.
    ///
    /// - Throws: `SSHKeyFailure`: `malformed` also for a key whose halves differ, and for several keys.
    package static func parse(_ text: borrowing Span<UInt8>) throws(SSHKeyFailure) -> SSHPrivateKey {
        let block: PEM.Block
        do throws(CertificateFailure) {
            let blocks = try PEM.blocks(in: text)
            guard blocks.count == 1 else { throw .malformed("the text is not one private key") }
            block = blocks[0]
        } catch {
            throw SSHKeyFailure(error)
        }
        if block.label == "OPENSSH PRIVATE KEY", block.headers.isEmpty { return try openSSH(block.bytes) }
        let key: PrivateKey
        do throws(CertificateFailure) {
            key = try PrivateKey(pem: text)
        } catch {
            throw SSHKeyFailure(error)
        }
        switch key.kind {
        case .rsa: return try tested(key, SSHPublicKey(key.publicKey))
        case .ed25519:
            let seed: SecretBytes
            do throws(CertificateFailure) {
                seed = try key.externalRepresentation()
            } catch {
                throw SSHKeyFailure(error)
            }
            return try pair(of: seed)
        case .ec: throw .unsupported("EC")
        default: throw .unsupported("PEM")
        }
    }

    private static func pair(of seed: borrowing SecretBytes) throws(SSHKeyFailure) -> SSHPrivateKey {
        let point: [UInt8]
        let agreementKey: SecretBytes
        do throws(CryptographyFailure) {
            point = try Ed25519.publicKey(seed: seed)
            agreementKey = try Ed25519.agreementKey(ofSeed: seed)
        } catch {
            throw .cryptography(error)
        }
        return SSHPrivateKey(agreementKey: agreementKey, try SSHPublicKey(point: point))
    }

    /// Reads OpenSSH's own format (`PROTOCOL.key`): public halves, and private ones that may be encrypted.
    private static func openSSH(_ file: borrowing SecretBytes) throws(SSHKeyFailure) -> SSHPrivateKey {
        let magic = Array("openssh-key-v1\0".utf8)
        return try file.withBytes { bytes throws(SSHKeyFailure) in
            guard bytes.count >= magic.count, magic.indices.allSatisfy({ bytes[$0] == magic[$0] }) else {
                throw .malformed
            }
            var fields = SSHFields(magic.count..<bytes.count)
            let cipher = try fields.name(in: bytes)
            let derivation = try fields.name(in: bytes)
            let salt = try fields.next(in: bytes)
            guard try fields.count(in: bytes) == 1 else { throw .malformed }
            // The public half is in plain text, so a type that is not supported is told before a passphrase is.
            let publicKey = try SSHPublicKey(wire: fields.field(in: bytes))
            guard cipher.exact == "none" else { throw .encrypted }
            guard derivation.exact == "none", salt.isEmpty else { throw .malformed }
            var secret = SSHFields(try fields.next(in: bytes))
            try fields.expectEnd()
            // Two equal numbers show that the right passphrase has decrypted what follows.
            guard try secret.count(in: bytes) == secret.count(in: bytes) else { throw .malformed }
            guard try secret.name(in: bytes) == publicKey.type else { throw .malformed }
            let key =
                switch publicKey.kind {
                case .ed25519: try readEd25519(&secret, in: bytes)
                case .rsa(let half): try tested(readRSA(&secret, in: bytes, half), publicKey)
                }
            guard key.publicKey == publicKey else { throw .malformed }
            _ = try secret.next(in: bytes)
            let padding = secret.rest
            guard padding.count < 8, padding.allSatisfy({ Int(bytes[$0]) == $0 - padding.lowerBound + 1 }) else {
                throw .malformed
            }
            return key
        }
    }

    /// Reads the point, and the seed with the point behind it.
    private static func readEd25519(
        _ fields: inout SSHFields, in bytes: borrowing Span<UInt8>
    ) throws(SSHKeyFailure) -> SSHPrivateKey {
        let point = try fields.field(in: bytes)
        let both = try fields.next(in: bytes)
        guard both.count == 64, point.count == 32,
            point.indices.allSatisfy({ bytes[both.lowerBound + 32 + $0] == point[$0] })
        else { throw .malformed }
        let key = try pair(of: SecretBytes(bytes.extracting(both.lowerBound..<both.lowerBound + 32)))
        guard try key.publicKey == SSHPublicKey(point: point) else { throw .malformed }
        return key
    }

    /// Reads the six numbers of an RSA key: n, e, d, 1/q mod p, p and q.
    private static func readRSA(
        _ fields: inout SSHFields, in bytes: borrowing Span<UInt8>, _ half: PublicKey
    ) throws(SSHKeyFailure) -> PrivateKey {
        var bounds: [Int32] = []
        for _ in 0..<6 {
            let range = try fields.number(in: bytes)
            bounds += [Int32(range.lowerBound), Int32(range.upperBound)]
        }
        do throws(CertificateFailure) {
            let made: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe kcbackup_rsa(buffer.baseAddress, bounds)
            }
            let key = unsafe try PrivateKey(
                adopting: LibCrypto.require(made, else: .malformed("the numbers of a private key are not one")))
            guard key.publicKey == half else { throw .malformed("the two halves of a key differ") }
            return key
        } catch {
            throw SSHKeyFailure(error)
        }
    }

    /// Checks that a key opens what its public half encrypts: libcrypto does not compare its numbers with each other, and
    /// a damaged key must not look like one that fits nothing.
    private static func tested(_ key: PrivateKey, _ half: SSHPublicKey) throws(SSHKeyFailure) -> SSHPrivateKey {
        let sample: [UInt8] = [1, 2, 3]
        do throws(CertificateFailure) {
            let encrypted = try key.publicKey.encrypt(sample.span, .oaep(.sha256))
            let opened = try key.decrypt(encrypted.span, .oaep(.sha256))
            guard opened.withBytes({ [UInt8](copying: $0) == sample }) else {
                throw .malformed("the two halves of a key differ")
            }
        } catch {
            throw SSHKeyFailure(error)
        }
        return SSHPrivateKey(key, half)
    }
}
