internal import KCByteStreams
internal import KCCryptography

/// The private half of a presence key, which opens the secrets of items with one kind of `AccessConstraint`.
///
/// A presence key is an X25519 key (RFC 7748). The private half is in memory only after the passcode, or the secret of
/// a security token, was given, and never part of a session.
package final class PresenceKey: Sendable {
    static let size = 32

    let secret: SecretBytes
    let publicKey: PresencePublicKey

    /// Takes a private half.
    init(_ secret: consuming SecretBytes) throws(CryptographyFailure) {
        publicKey = PresencePublicKey(bytes: try X25519.publicKey(of: secret))
        self.secret = secret
    }

    /// Generates a key.
    static func generate() throws(CryptographyFailure) -> PresenceKey { try PresenceKey(X25519.generatePrivateKey()) }
}

/// The public half of a presence key, which seals secrets.
struct PresencePublicKey: Hashable, Sendable {
    static let size = 32

    let bytes: [UInt8]
}

/// A presence key in a keybag: the public half, and the private one wrapped with AES-KW (RFC 3394).
struct WrappedPresenceKey: Hashable, Sendable {
    static let wrappedSize = PresenceKey.size + AESKeyWrap.overhead

    let publicKey: PresencePublicKey
    let wrapped: [UInt8]

    init(publicKey: PresencePublicKey, wrapped: [UInt8]) {
        self.publicKey = publicKey
        self.wrapped = wrapped
    }

    /// Wraps a key.
    init(_ key: PresenceKey, with wrapping: borrowing SecretBytes) throws(CryptographyFailure) {
        publicKey = key.publicKey
        wrapped = try AESKeyWrap.wrap(key.secret, with: wrapping)
    }

    /// Opens the private half.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if it was not wrapped in this way).
    func unwrap(_ wrapping: borrowing SecretBytes) throws(CryptographyFailure) -> PresenceKey {
        let key = try PresenceKey(AESKeyWrap.unwrap(wrapped, with: wrapping))
        guard key.publicKey == publicKey else { throw .authentication }
        return key
    }
}

/// The keys that seal the secret of an item.
package struct SealingKey {
    let classKey: ClassKey
    /// The presence key that it is sealed to as well; nil for none.
    let presence: PresencePublicKey?
}

/// The keys that open the secret of an item.
package struct OpeningKey {
    let classKey: ClassKey
    /// The presence key that is needed as well; nil for none.
    let presence: PresenceKey?
}
