package import KCByteStreams
internal import KCCryptography

/// The public half of a post-quantum key, `age1pq1…`.
///
/// The specification calls the type "MLKEM768-X25519 (i.e. X-Wing) hybrid post-quantum" (C2SP `age.md`).
package struct HybridRecipient: Recipient, Hashable, LosslessStringConvertible {
    static let type = "mlkem768x25519"
    fileprivate static let label = Array("age-encryption.org/mlkem768x25519".utf8)
    private static let prefix = "age1pq"

    fileprivate let key: XWing.PublicKey

    fileprivate init(_ key: XWing.PublicKey) { self.key = key }

    /// Parses `age1pq1…` in lower case, 1,959 characters; nil for anything else.
    package init?(_ text: String) {
        var bytes: [UInt8] = []
        guard Bech32.decode(Array(text.utf8).span, prefix: Self.prefix, uppercase: false, into: &bytes),
            let key = XWing.PublicKey(bytes)
        else { return nil }
        self.key = key
    }

    /// The encoding `age1pq1…`.
    package var description: String {
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, key.bytes.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package var isPostQuantum: Bool { true }

    /// Encrypts the file key to the key.
    ///
    /// - Throws: `AgeFailure`: `malformedRecipient` if its point is of low order, so that no identity exists for it;
    ///   `cryptography`.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        do {
            let encapsulation = try XWing.encapsulate(to: key)
            let stanza = Stanza(
                type: Self.type, arguments: [Base64.encode(encapsulation.encapsulatedKey, padded: false)],
                body: try HPKE.seal(fileKey, under: encapsulation, info: Self.label))
            return WrappedFileKey([stanza], labels: [.postQuantum])
        } catch .authentication {
            throw .malformedRecipient
        } catch {
            throw AgeFailure(error)
        }
    }

    /// Parses a stanza of this type.
    @discardableResult
    static func encapsulatedKey(of stanza: Stanza) throws(AgeFailure) -> [UInt8] {
        guard stanza.arguments.count == 1 else {
            throw .malformedHeader("an mlkem768x25519 recipient does not have one argument")
        }
        guard let key = Base64.decode(stanza.arguments[0], padded: false), key.count == XWing.encapsulatedKeyLength
        else { throw .malformedHeader("an mlkem768x25519 share is not 1120 bytes of canonical base 64") }
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        return key
    }
}

/// The private half, `AGE-SECRET-KEY-PQ-1…`.
package final class HybridIdentity: Identity {
    /// The beginning of the encoding, before the `1` and the data.
    package static let prefix = "AGE-SECRET-KEY-PQ-"

    private let privateKey: XWing.PrivateKey
    /// The public half.
    package let recipient: HybridRecipient

    private init(seed: consuming SecretBytes) throws(AgeFailure) {
        do throws(CryptographyFailure) {
            privateKey = try XWing.PrivateKey(seed: seed)
        } catch {
            throw AgeFailure(error)
        }
        recipient = HybridRecipient(privateKey.publicKey)
    }

    /// Generates a new identity.
    ///
    /// - Throws: `AgeFailure.cryptography` if there is no randomness.
    package static func generate() throws(AgeFailure) -> HybridIdentity {
        try HybridIdentity(seed: cryptography(RandomBytes.secret(count: XWing.seedLength)))
    }

    /// Creates the identity with a private key; nil unless that has 32 bytes.
    package static func of(_ key: consuming SecretBytes) throws(AgeFailure) -> HybridIdentity? {
        key.count == XWing.seedLength ? try HybridIdentity(seed: key) : nil
    }

    /// A copy of the private key, 32 bytes.
    package func key() -> SecretBytes { privateKey.seed.copy() }

    /// Parses `AGE-SECRET-KEY-PQ-1…` in upper case; nil for anything else.
    package static func parse(_ text: borrowing Span<UInt8>) throws(AgeFailure) -> HybridIdentity? {
        var key = SecretBytes(capacity: XWing.seedLength)
        guard Bech32.decode(text, prefix: prefix, uppercase: true, into: &key) else { return nil }
        return try of(key)
    }

    /// Appends the encoding `AGE-SECRET-KEY-PQ-1…`.
    package func encode(into text: inout SecretBytes) {
        privateKey.seed.withBytes { bytes in
            Bech32.encode(prefix: Self.prefix, bytes, uppercase: true, into: &text)
        }
    }

    /// Tries each stanza of the type; an invalid tag means that the stanza is for another identity.
    package func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        for stanza in stanzas where stanza.type == HybridRecipient.type {
            let share = try HybridRecipient.encapsulatedKey(of: stanza)
            if let fileKey = try unwrap(stanza.body, share: share) { return fileKey }
        }
        return nil
    }

    private func unwrap(_ body: [UInt8], share: [UInt8]) throws(AgeFailure) -> SecretBytes? {
        let encapsulation: HPKE.Encapsulation
        do throws(CryptographyFailure) {
            encapsulation = try XWing.decapsulate(share, with: privateKey)
        } catch .authentication {
            throw .malformedHeader("an mlkem768x25519 share is of low order")
        } catch {
            throw AgeFailure(error)
        }
        do throws(CryptographyFailure) {
            return try HPKE.open(body, under: encapsulation, info: HybridRecipient.label)
        } catch .authentication {
            // ML-KEM rejects nothing: what is for another key gives another secret.
            return nil
        } catch {
            throw AgeFailure(error)
        }
    }
}

/// The public half of a hybrid key in hardware, `age1tagpq1…` (C2SP age, "The tagged recipient types").
package struct HybridTagRecipient: Recipient, Hashable, LosslessStringConvertible {
    static let type = "mlkem768p256tag"
    private static let label = Array("age-encryption.org/mlkem768p256tag".utf8)
    private static let prefix = "age1tagpq"
    private static let tagSize = 4

    private let key: HybridP256KEM.PublicKey

    /// Parses `age1tagpq1…` in lower case, 2,015 characters; nil for anything else.
    package init?(_ text: String) {
        var bytes: [UInt8] = []
        guard Bech32.decode(Array(text.utf8).span, prefix: Self.prefix, uppercase: false, into: &bytes),
            let key = HybridP256KEM.PublicKey(bytes)
        else { return nil }
        self.key = key
    }

    /// The encoding `age1tagpq1…`.
    package var description: String {
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, key.bytes.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package var isPostQuantum: Bool { true }

    /// Encrypts the file key to the key.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        do {
            let encapsulation = try HybridP256KEM.encapsulate(to: key)
            let share = encapsulation.encapsulatedKey
            let stanza = Stanza(
                type: Self.type, arguments: [try tag(share), share].map { Base64.encode($0, padded: false) },
                body: try HPKE.seal(fileKey, under: encapsulation, info: Self.label))
            return WrappedFileKey([stanza], labels: [.postQuantum])
        } catch let failure as CryptographyFailure {
            throw AgeFailure(failure)
        } catch {
            throw .cryptography(.library("encrypting to a P-256 key"))
        }
    }

    /// The tag that tells the owner of the key that a stanza is for it; the lattice half of the key is no part of it.
    func tag(_ encapsulatedKey: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        let named = encapsulatedKey + SHA256.hash(key.point.span).bytes.prefix(Self.tagSize)
        let tag = try HKDF.extract(salt: Self.label, inputKey: SecretBytes(named.span))
        return tag.withBytes { span in (0..<Self.tagSize).map { span[$0] } }
    }

    /// Checks a stanza of this type.
    static func check(_ stanza: Stanza) throws(AgeFailure) {
        guard stanza.arguments.count == 2 else {
            throw .malformedHeader("an mlkem768p256tag recipient does not have two arguments")
        }
        guard Base64.decode(stanza.arguments[0], padded: false)?.count == tagSize else {
            throw .malformedHeader("an mlkem768p256tag tag is not 4 bytes of canonical base 64")
        }
        guard Base64.decode(stanza.arguments[1], padded: false)?.count == HybridP256KEM.encapsulatedKeyLength else {
            throw .malformedHeader("an mlkem768p256tag share is not 1153 bytes of canonical base 64")
        }
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
    }
}

extension ExactText {
    /// The label of recipients that a quantum computer does not break: a file that another key opens too is no safer than
    /// that key.
    static let postQuantum: ExactText = "postquantum"
}
