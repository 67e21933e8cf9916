package import KCByteStreams
internal import KCCryptography

/// A public key of SSH, `ssh-ed25519 …` or `ssh-rsa …` (age's package agessh; the specification leaves these types out).
///
/// A stanza names the key by four bytes of its hash, so anyone who knows the key can see that a file is encrypted to it.
package struct SSHRecipient: Recipient, Hashable, CustomStringConvertible {
    static let ed25519Type = "ssh-ed25519"
    static let rsaType = "ssh-rsa"
    static let types = [ed25519Type, rsaType]
    fileprivate static let ed25519Label = Array("age-encryption.org/v1/ssh-ed25519".utf8)
    fileprivate static let rsaForm = EncryptionForm.oaep(
        .sha256, label: Array("age-encryption.org/v1/ssh-rsa".utf8))
    private static let fingerprintSize = 4
    /// The bytes of the smallest and the largest modulus that is read.
    private static let rsaSizes = 256...2_048

    fileprivate let key: SSHPublicKey

    fileprivate init(_ key: SSHPublicKey) { self.key = key }

    /// Parses a line of `authorized_keys` without options: the type, the key, and perhaps a comment; nil for anything
    /// else.
    package init?(_ text: String) {
        guard let key = Self.encoded(in: text[...]), let type = Self.type(of: text[...]), Self.types.contains(type)
        else { return nil }
        do throws(SSHKeyFailure) {
            self.key = try SSHPublicKey(wire: key)
        } catch {
            return nil
        }
    }

    /// Names the kind of a key of SSH that is well-formed but cannot be encrypted to; nil for anything else.
    package static func unsupportedKind(_ line: Substring) -> String? {
        guard let key = encoded(in: line), let type = type(of: line) else { return nil }
        do throws(SSHKeyFailure) {
            _ = try SSHPublicKey(wire: key)
            return nil
        } catch {
            switch error {
            case .unsupported(let found): return found.exact == type.exact ? type : nil
            case .weak(let bits): return "\(rsaType) of \(bits) bits"
            case .malformed, .encrypted, .cryptography: return nil
            }
        }
    }

    /// The type and the key, without a comment.
    package var description: String { key.type + " " + Base64.encode(key.wire) }

    /// The type that a line begins with; nil unless a key of the same type follows.
    private static func type(of line: Substring) -> String? {
        guard let type = words(line).first, let key = encoded(in: line) else { return nil }
        // The encoding begins with the length of the type, and the type.
        let start = SSHPublicKey.encodedType(String(type))
        return key.starts(with: start) ? String(type) : nil
    }

    private static func encoded(in line: Substring) -> [UInt8]? {
        let words = words(line)
        return words.count > 1 ? Base64.decode(String(words[1])) : nil
    }

    private static func words(_ line: Substring) -> [Substring] {
        line.utf8.split(maxSplits: 2) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { Substring($0) }
    }

    /// Wraps the file key as the type of the key does.
    ///
    /// - Throws: `AgeFailure.cryptography` if there is no randomness.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        switch key.kind {
        case .ed25519(let agreementKey):
            do {
                let ephemeral = try X25519.generatePrivateKey()
                let share = try X25519.publicKey(of: ephemeral)
                let shared = try X25519.sharedSecret(privateKey: ephemeral, publicKey: tweaked(agreementKey))
                let wrapping = try Self.wrapKey(shared, share: share, agreementKey: agreementKey)
                let arguments = [fingerprint, Base64.encode(share, padded: false)]
                return WrappedFileKey([
                    Stanza(
                        type: Self.ed25519Type, arguments: arguments,
                        body: try FileKeyWrap.wrap(fileKey, under: wrapping))
                ])
            } catch {
                throw AgeFailure(error)
            }
        case .rsa(let publicKey):
            do throws(CertificateFailure) {
                let body = try fileKey.withBytes { bytes throws(CertificateFailure) in
                    try publicKey.encrypt(bytes, Self.rsaForm)
                }
                return WrappedFileKey([Stanza(type: Self.rsaType, arguments: [fingerprint], body: body)])
            } catch {
                throw .cryptography(.library("encrypting to an RSA key"))
            }
        }
    }

    /// The four bytes that tell the owner of the key that a stanza is for it.
    fileprivate var fingerprint: String {
        Base64.encode(Array(SHA256.hash(key.wire.span).bytes.prefix(Self.fingerprintSize)), padded: false)
    }

    /// A public key of X25519 times a number that is derived from this key.
    ///
    /// age multiplies the shared secret instead. The order makes no difference, and a public key remains one.
    fileprivate func tweaked(_ publicKey: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        let tweak = try HKDF.derive(
            inputKey: SecretBytes(capacity: 0), salt: key.wire, info: Self.ed25519Label, count: 32)
        return try X25519.sharedSecret(privateKey: tweak, publicKey: publicKey).withBytes { [UInt8](copying: $0) }
    }

    fileprivate static func wrapKey(
        _ shared: borrowing SecretBytes, share: [UInt8], agreementKey: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.derive(inputKey: shared, salt: share + agreementKey, info: ed25519Label, count: 32)
    }

    /// Parses a stanza of an Ed25519 key.
    @discardableResult
    static func parts(ofEd25519 stanza: Stanza) throws(AgeFailure) -> (fingerprint: String, share: [UInt8]) {
        guard stanza.arguments.count == 2 else {
            throw .malformedHeader("an ssh-ed25519 recipient does not have two arguments")
        }
        try requireFingerprint(stanza)
        guard let share = Base64.decode(stanza.arguments[1], padded: false), share.count == 32 else {
            throw .malformedHeader("an ssh-ed25519 share is not 32 bytes of canonical base 64")
        }
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        return (stanza.arguments[0], share)
    }

    /// Checks a stanza of an RSA key.
    static func check(rsa stanza: Stanza) throws(AgeFailure) {
        guard stanza.arguments.count == 1 else {
            throw .malformedHeader("an ssh-rsa recipient does not have one argument")
        }
        try requireFingerprint(stanza)
        guard rsaSizes.contains(stanza.body.count) else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
    }

    private static func requireFingerprint(_ stanza: Stanza) throws(AgeFailure) {
        guard Base64.decode(stanza.arguments[0], padded: false)?.count == fingerprintSize else {
            throw .malformedHeader("the name of an SSH key is not 4 bytes of canonical base 64")
        }
    }
}

/// A private key of SSH, as `ssh-keygen` writes it.
package final class SSHIdentity: HeldIdentity {
    private let key: SSHPrivateKey
    /// The public half.
    package let recipient: SSHRecipient

    private init(_ key: SSHPrivateKey) {
        recipient = SSHRecipient(key.publicKey)
        self.key = key
    }

    /// Reads the file of a key.
    ///
    /// - Throws: `AgeFailure.sshIdentity` if it is encrypted, damaged, or of another type.
    package static func parse(_ text: borrowing Span<UInt8>) throws(AgeFailure) -> SSHIdentity {
        do throws(SSHKeyFailure) {
            return SSHIdentity(try SSHPrivateKey.parse(text))
        } catch {
            throw .sshIdentity(error)
        }
    }

    package var publicKey: String { recipient.description }

    /// Tries each stanza that names the key; an invalid tag means that it is for another one of the same name.
    package func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        for stanza in stanzas {
            let fileKey: SecretBytes?
            switch key.publicKey.kind {
            case .ed25519(let publicKey) where stanza.type == SSHRecipient.ed25519Type:
                fileKey = try unwrap(stanza, agreementKey: publicKey)
            case .rsa(let publicKey) where stanza.type == SSHRecipient.rsaType:
                fileKey = try unwrap(stanza, size: (publicKey.sizeInBits + 7) / 8)
            case .ed25519, .rsa: continue
            }
            if let fileKey { return fileKey }
        }
        return nil
    }

    private func unwrap(_ stanza: Stanza, agreementKey: [UInt8]) throws(AgeFailure) -> SecretBytes? {
        let (fingerprint, share) = try SSHRecipient.parts(ofEd25519: stanza)
        guard fingerprint.exact == recipient.fingerprint.exact else { return nil }
        do {
            let shared = try key.sharedSecret(with: recipient.tweaked(share))
            let key = try SSHRecipient.wrapKey(shared, share: share, agreementKey: agreementKey)
            return try FileKeyWrap.unwrap(stanza.body, under: key)
        } catch .authentication {
            // The exchange rejects shares that lead to an all-zero secret.
            throw .malformedHeader("an ssh-ed25519 share is of low order")
        } catch {
            throw AgeFailure(error)
        }
    }

    private func unwrap(_ stanza: Stanza, size: Int) throws(AgeFailure) -> SecretBytes? {
        try SSHRecipient.check(rsa: stanza)
        guard stanza.arguments[0].exact == recipient.fingerprint.exact else { return nil }
        // libcrypto also takes a number without its leading zeros, which would be another spelling.
        guard stanza.body.count == size else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        do throws(CertificateFailure) {
            return try key.decrypt(stanza.body.span, SSHRecipient.rsaForm)
        } catch {
            guard case .malformed = error else { throw .cryptography(.library("decrypting with an RSA key")) }
            return nil
        }
    }
}
