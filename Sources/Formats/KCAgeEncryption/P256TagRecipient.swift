package import KCByteStreams
internal import KCCryptography

/// The public half of a P-256 key in a hardware token or a TPM, `age1tag1…` (C2SP age, "The tagged recipient types").
///
/// Encrypting needs neither the token nor its plugin; only the owner of the token decrypts.
package struct P256TagRecipient: Recipient, Hashable, LosslessStringConvertible {
    static let type = "p256tag"
    private static let prefix = "age1tag"
    private static let label = Array("age-encryption.org/p256tag".utf8)
    private static let tagSize = 4
    private static let shareSize = 65

    /// The point in compressed form, 33 bytes.
    private let point: [UInt8]
    private let key: PublicKey

    /// Parses `age1tag1…` in lower case; nil for anything else, and for what is no point of the curve.
    package init?(_ text: String) {
        var point: [UInt8] = []
        guard Bech32.decode(Array(text.utf8).span, prefix: Self.prefix, uppercase: false, into: &point),
            point.count == 33
        else { return nil }
        do throws(CertificateFailure) {
            key = try PublicKey(p256: point)
        } catch {
            return nil
        }
        self.point = point
    }

    /// The encoding `age1tag1…`.
    package var description: String {
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, point.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Encrypts the file key to the point.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        do {
            let encapsulation = try DHKEM.encapsulate(to: key)
            let share = encapsulation.encapsulatedKey
            return WrappedFileKey([
                Stanza(
                    type: Self.type, arguments: [try tag(share), share].map { Base64.encode($0, padded: false) },
                    body: try HPKE.seal(fileKey, under: encapsulation, info: Self.label))
            ])
        } catch let failure as CryptographyFailure {
            throw AgeFailure(failure)
        } catch {
            throw .cryptography(.library("encrypting to a P-256 key"))
        }
    }

    /// The tag that tells the owner of the key that a stanza is for it.
    func tag(_ encapsulatedKey: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        let hash = SHA256.hash(point.span).bytes.prefix(Self.tagSize)
        let named = encapsulatedKey + hash
        let tag = try HKDF.extract(salt: Self.label, inputKey: SecretBytes(named.span))
        return tag.withBytes { span in (0..<Self.tagSize).map { span[$0] } }
    }

    /// Decrypts a file key with the private half, which a token does in use.
    ///
    /// - Returns: nil if the stanza is for another key.
    func unwrap(_ stanza: Stanza, with privateKey: PrivateKey) throws -> SecretBytes? {
        let (tag, share) = try Self.parts(of: stanza)
        guard try tag == self.tag(share) else { return nil }
        return try HPKE.open(stanza.body, under: DHKEM.decapsulate(share, with: privateKey), info: Self.label)
    }

    /// Parses a stanza of this type.
    @discardableResult
    static func parts(of stanza: Stanza) throws(AgeFailure) -> (tag: [UInt8], share: [UInt8]) {
        guard stanza.arguments.count == 2 else {
            throw .malformedHeader("a p256tag recipient does not have two arguments")
        }
        guard let tag = Base64.decode(stanza.arguments[0], padded: false), tag.count == tagSize else {
            throw .malformedHeader("a p256tag tag is not 4 bytes of canonical base 64")
        }
        guard let share = Base64.decode(stanza.arguments[1], padded: false), share.count == shareSize else {
            throw .malformedHeader("a p256tag share is not 65 bytes of canonical base 64")
        }
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        return (tag, share)
    }
}

/// A public key that age itself encrypts to, without a plugin.
package enum NativeRecipient: Recipient, Hashable, LosslessStringConvertible {
    case x25519(X25519Recipient)
    case hybrid(HybridRecipient)
    case p256tag(P256TagRecipient)
    case hybridTag(HybridTagRecipient)

    /// Parses `age1…`, `age1pq1…`, `age1tag1…` or `age1tagpq1…`; nil for anything else.
    package init?(_ text: String) {
        if let recipient = X25519Recipient(text) {
            self = .x25519(recipient)
        } else if let recipient = HybridRecipient(text) {
            self = .hybrid(recipient)
        } else if let recipient = P256TagRecipient(text) {
            self = .p256tag(recipient)
        } else if let recipient = HybridTagRecipient(text) {
            self = .hybridTag(recipient)
        } else {
            return nil
        }
    }

    /// The encoding of the key.
    package var description: String {
        switch self {
        case .x25519(let recipient): recipient.description
        case .hybrid(let recipient): recipient.description
        case .p256tag(let recipient): recipient.description
        case .hybridTag(let recipient): recipient.description
        }
    }

    /// The encoding, or its beginning if it is longer than a line.
    package var abbreviation: String { isPostQuantum ? description.prefix(20) + "…" : description }

    /// True if only a token opens what is encrypted to the key.
    package var isOnToken: Bool {
        switch self {
        case .x25519, .hybrid: false
        case .p256tag, .hybridTag: true
        }
    }

    package var isPostQuantum: Bool {
        switch self {
        case .x25519, .p256tag: false
        case .hybrid, .hybridTag: true
        }
    }

    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        switch self {
        case .x25519(let recipient): try recipient.wrap(fileKey: fileKey)
        case .hybrid(let recipient): try recipient.wrap(fileKey: fileKey)
        case .p256tag(let recipient): try recipient.wrap(fileKey: fileKey)
        case .hybridTag(let recipient): try recipient.wrap(fileKey: fileKey)
        }
    }
}
