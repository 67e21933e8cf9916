package import KCByteStreams

/// An identity whose private key is in a file or on paper: `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`.
package enum NativeIdentity: HeldIdentity {
    case x25519(X25519Identity)
    case hybrid(HybridIdentity)

    /// The kind of key.
    package enum Kind: Hashable, Sendable, CaseIterable {
        case x25519
        case hybrid

        /// The beginning of the encoding, before the `1` and the data.
        package var prefix: String {
            switch self {
            case .x25519: X25519Identity.prefix
            case .hybrid: HybridIdentity.prefix
            }
        }
    }

    /// Generates a new identity.
    ///
    /// - Throws: `AgeFailure.cryptography` if there is no randomness.
    package static func generate(_ kind: Kind) throws(AgeFailure) -> NativeIdentity {
        switch kind {
        case .x25519: .x25519(try X25519Identity.generate())
        case .hybrid: .hybrid(try HybridIdentity.generate())
        }
    }

    /// Creates the identity with a private key; nil unless that has 32 bytes.
    package static func of(_ key: consuming SecretBytes, _ kind: Kind) throws(AgeFailure) -> NativeIdentity? {
        switch kind {
        case .x25519: try X25519Identity.of(key).map { .x25519($0) }
        case .hybrid: try HybridIdentity.of(key).map { .hybrid($0) }
        }
    }

    /// Parses the encoding in upper case; nil for anything else.
    package static func parse(_ text: borrowing Span<UInt8>) throws(AgeFailure) -> NativeIdentity? {
        if let identity = try X25519Identity.parse(text) { return .x25519(identity) }
        return try HybridIdentity.parse(text).map { .hybrid($0) }
    }

    package var kind: Kind {
        switch self {
        case .x25519: .x25519
        case .hybrid: .hybrid
        }
    }

    /// The public half.
    package var recipient: NativeRecipient {
        switch self {
        case .x25519(let identity): .x25519(identity.recipient)
        case .hybrid(let identity): .hybrid(identity.recipient)
        }
    }

    package var publicKey: String { recipient.description }

    /// A copy of the private key, 32 bytes.
    package func key() -> SecretBytes {
        switch self {
        case .x25519(let identity): identity.key()
        case .hybrid(let identity): identity.key()
        }
    }

    /// Appends the encoding.
    package func encode(into text: inout SecretBytes) {
        switch self {
        case .x25519(let identity): identity.encode(into: &text)
        case .hybrid(let identity): identity.encode(into: &text)
        }
    }

    package func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        switch self {
        case .x25519(let identity): try identity.unwrap(stanzas)
        case .hybrid(let identity): try identity.unwrap(stanzas)
        }
    }
}
