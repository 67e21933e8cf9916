public import ByteStreams
internal import Cryptography

/// A public key of age, written `age1…` (C2SP age, "The X25519 recipient type").
public struct X25519Recipient: Recipient, Hashable, LosslessStringConvertible {
    static let stanzaType = "X25519"
    static let info = Array("age-encryption.org/v1/X25519".utf8)
    private static let prefix = "age"

    let publicKey: [UInt8]

    init(publicKey: [UInt8]) {
        self.publicKey = publicKey
    }

    /// Parses `age1…`; nil for anything else.
    public init?(_ text: String) {
        var bytes = SecretBytes(capacity: 32)
        do throws(Bech32Failure) {
            try Bech32.decode(Array(text.utf8).span, prefix: Self.prefix, into: &bytes)
        } catch {
            return nil
        }
        guard bytes.count == 32 else { return nil }
        publicKey = bytes.withBytes { span in span.indices.map { span[$0] } }
    }

    /// The spelling `age1…`.
    public var description: String {
        var text = SecretBytes(capacity: 80)
        Bech32.encode(publicKey.span, prefix: Self.prefix, into: &text)
        return text.withBytes { $0.text() ?? "" }
    }

    /// Wraps the file key under a key that is agreed on with a fresh one.
    ///
    /// - Throws: `AgeFailure` (`unusableRecipient` for a point of small order, `cryptography`).
    public func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> Stanza {
        do throws(CryptographyFailure) {
            let ephemeral = try X25519.generatePrivateKey()
            let share = try X25519.publicKey(of: ephemeral)
            let shared = try X25519.sharedSecret(privateKey: ephemeral, publicKey: publicKey)
            let key = try wrapKey(shared, share: share)
            let body = try FileKey.wrap(fileKey, with: key)
            return Stanza(type: Self.stanzaType, arguments: [Base64.encode(share, padded: false)], body: body)
        } catch {
            throw error == .authentication ? .unusableRecipient : .cryptography(error)
        }
    }

    func wrapKey(_ shared: borrowing SecretBytes, share: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.derive(inputKey: shared, salt: share + publicKey, info: Self.info, count: 32)
    }
}

/// A private key of age, written `AGE-SECRET-KEY-1…`.
public final class X25519Identity: Identity {
    static let prefix = "AGE-SECRET-KEY-"

    /// The public half.
    public let recipient: X25519Recipient
    private let secret: SecretBytes

    private init(secret: consuming SecretBytes) throws(CryptographyFailure) {
        let publicKey = try X25519.publicKey(of: secret)
        recipient = X25519Recipient(publicKey: publicKey)
        self.secret = secret
    }

    /// Makes a new key.
    ///
    /// - Throws: `AgeFailure.cryptography`.
    public static func generate() throws(AgeFailure) -> X25519Identity {
        do throws(CryptographyFailure) {
            return try X25519Identity(secret: X25519.generatePrivateKey())
        } catch {
            throw .cryptography(error)
        }
    }

    /// Parses `AGE-SECRET-KEY-1…`, in upper case only; nil for anything else.
    ///
    /// - Throws: `AgeFailure.cryptography`.
    public static func parse(_ text: borrowing Span<UInt8>) throws(AgeFailure) -> X25519Identity? {
        var secret = SecretBytes(capacity: 32)
        do throws(Bech32Failure) {
            try Bech32.decode(text, prefix: prefix, into: &secret)
        } catch {
            return nil
        }
        guard secret.count == 32 else { return nil }
        do throws(CryptographyFailure) {
            return try X25519Identity(secret: secret)
        } catch {
            throw .cryptography(error)
        }
    }

    /// Parses `AGE-SECRET-KEY-1…`, in upper case only; nil for anything else.
    ///
    /// - Throws: `AgeFailure.cryptography`.
    public static func parse(_ text: borrowing SecretBytes) throws(AgeFailure) -> X25519Identity? {
        try text.withBytes { span throws(AgeFailure) in try parse(span) }
    }

    /// Appends the spelling `AGE-SECRET-KEY-1…`.
    public func encode(into text: inout SecretBytes) {
        secret.withBytes { Bech32.encode($0, prefix: Self.prefix, into: &text) }
    }

    /// Tries each X25519 stanza.
    ///
    /// - Throws: `AgeFailure` (`malformedHeader`, `cryptography`).
    public func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        for stanza in stanzas where stanza.type == X25519Recipient.stanzaType {
            if let fileKey = try unwrap(stanza) { return fileKey }
        }
        return nil
    }

    private func unwrap(_ stanza: Stanza) throws(AgeFailure) -> SecretBytes? {
        guard stanza.arguments.count == 1, let share = Base64.decode(stanza.arguments[0], padded: false),
            share.count == 32
        else { throw .malformedHeader("an X25519 stanza has one share of 32 bytes") }
        let key: SecretBytes
        do throws(CryptographyFailure) {
            let shared = try X25519.sharedSecret(privateKey: secret, publicKey: share)
            key = try recipient.wrapKey(shared, share: share)
        } catch {
            if error == .authentication { throw .malformedHeader("a share is not of small order") }
            throw .cryptography(error)
        }
        return try FileKey.unwrap(stanza.body, with: key)
    }
}
