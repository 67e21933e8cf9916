package import KCByteStreams
internal import KCCryptography

/// The public half of an age key, `age1…` (C2SP age, "The X25519 recipient type").
package struct X25519Recipient: Recipient, Hashable, LosslessStringConvertible {
    /// The type of its stanzas.
    package static let type = "X25519"
    private static let prefix = "age"
    private static let label = Array("age-encryption.org/v1/X25519".utf8)

    /// The 32-byte public key.
    package let publicKey: [UInt8]

    /// Uses a public key of 32 bytes.
    package init(publicKey: [UInt8]) {
        precondition(publicKey.count == 32, "an X25519 public key has 32 bytes")
        self.publicKey = publicKey
    }

    /// Parses `age1…` in lower case; nil for anything else.
    package init?(_ text: String) {
        var key: [UInt8] = []
        guard Bech32.decode(Array(text.utf8).span, prefix: Self.prefix, uppercase: false, into: &key), key.count == 32
        else { return nil }
        publicKey = key
    }

    /// The encoding `age1…`.
    package var description: String {
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, publicKey.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Wraps the file key under a key agreed on with an ephemeral key.
    ///
    /// - Throws: `AgeFailure`: `malformedRecipient` for a point of low order, for which no identity exists;
    ///   `cryptography`.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        do {
            let ephemeral = try X25519.generatePrivateKey()
            let share = try X25519.publicKey(of: ephemeral)
            let shared = try X25519.sharedSecret(privateKey: ephemeral, publicKey: publicKey)
            let key = try Self.wrapKey(shared, share: share, publicKey: publicKey)
            let stanza = Stanza(
                type: Self.type, arguments: [Base64.encode(share, padded: false)],
                body: try FileKeyWrap.wrap(fileKey, under: key))
            return WrappedFileKey([stanza])
        } catch .authentication {
            throw .malformedRecipient
        } catch {
            throw AgeFailure(error)
        }
    }

    static func wrapKey(
        _ shared: borrowing SecretBytes, share: [UInt8], publicKey: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.derive(inputKey: shared, salt: share + publicKey, info: label, count: 32)
    }
}

/// The private half of an age key, `AGE-SECRET-KEY-1…`.
package final class X25519Identity: Identity {
    /// The beginning of the encoding, before the `1` and the data.
    package static let prefix = "AGE-SECRET-KEY-"

    private let privateKey: SecretBytes
    /// The public half.
    package let recipient: X25519Recipient

    private init(privateKey: consuming SecretBytes) throws(AgeFailure) {
        recipient = X25519Recipient(publicKey: try cryptography(X25519.publicKey(of: privateKey)))
        self.privateKey = privateKey
    }

    /// Generates a new identity.
    ///
    /// - Throws: `AgeFailure.cryptography` if there is no randomness.
    package static func generate() throws(AgeFailure) -> X25519Identity {
        let key = try cryptography(X25519.generatePrivateKey())
        return try X25519Identity(privateKey: key)
    }

    /// Creates the identity with a private key; nil unless that has 32 bytes.
    package static func of(_ key: consuming SecretBytes) throws(AgeFailure) -> X25519Identity? {
        key.count == 32 ? try X25519Identity(privateKey: key) : nil
    }

    /// A copy of the private key, 32 bytes.
    package func key() -> SecretBytes { privateKey.copy() }

    /// Parses `AGE-SECRET-KEY-1…` in upper case; nil for anything else.
    package static func parse(_ text: borrowing Span<UInt8>) throws(AgeFailure) -> X25519Identity? {
        var key = SecretBytes(capacity: 32)
        guard Bech32.decode(text, prefix: prefix, uppercase: true, into: &key), key.count == 32 else { return nil }
        return try X25519Identity(privateKey: key)
    }

    /// Appends the encoding `AGE-SECRET-KEY-1…`.
    package func encode(into text: inout SecretBytes) {
        privateKey.withBytes { bytes in
            Bech32.encode(prefix: Self.prefix, bytes, uppercase: true, into: &text)
        }
    }

    /// Tries each X25519 stanza; an invalid tag means that the stanza is for another identity.
    package func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        for stanza in stanzas where stanza.type == X25519Recipient.type {
            let share = try X25519Recipient.share(of: stanza)
            if let fileKey = try unwrap(stanza.body, share: share) { return fileKey }
        }
        return nil
    }

    private func unwrap(_ body: [UInt8], share: [UInt8]) throws(AgeFailure) -> SecretBytes? {
        do {
            let shared = try X25519.sharedSecret(privateKey: privateKey, publicKey: share)
            let key = try X25519Recipient.wrapKey(shared, share: share, publicKey: recipient.publicKey)
            return try FileKeyWrap.unwrap(body, under: key)
        } catch .authentication {
            // The exchange rejects shares that lead to an all-zero secret.
            throw .malformedHeader("an X25519 share is of low order")
        } catch {
            throw AgeFailure(error)
        }
    }
}

extension X25519Recipient {
    /// Parses a stanza of this type.
    static func share(of stanza: Stanza) throws(AgeFailure) -> [UInt8] {
        guard stanza.arguments.count == 1 else {
            throw .malformedHeader("an X25519 recipient does not have one argument")
        }
        guard let share = Base64.decode(stanza.arguments[0], padded: false), share.count == 32 else {
            throw .malformedHeader("an X25519 share is not 32 bytes of canonical base 64")
        }
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        return share
    }
}
