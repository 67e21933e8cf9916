/// The proof that a person is at the token.
package enum TokenPresence: Hashable, Sendable, CaseIterable {
    /// A touch.
    case touch
    /// A touch, and the PIN of the token each time.
    case pin
}

/// A key pair that a token has made for secrets, and that only this token can use.
///
/// The credential is no secret, and the token does not store it: without it, the secrets are lost.
package struct TokenCredential: Hashable, Sendable {
    /// The ID by which the token finds its key.
    package let id: [UInt8]
    /// The point on P-256, x before y, which its signatures are verified with.
    package let publicKey: [UInt8]
    /// The proof of presence that is asked for each time; the token has a secret for each.
    package let presence: TokenPresence

    /// In bytes; most have 48 to 128, and what a token wraps into one is not much larger.
    package static let idLimit = 1_024
    /// In bytes.
    package static let publicKeySize = 64

    /// Returns nil for an ID or a public key that no token can have made.
    package init?(id: [UInt8], publicKey: [UInt8], presence: TokenPresence) {
        guard (1...Self.idLimit).contains(id.count), publicKey.count == Self.publicKeySize else { return nil }
        self.id = id
        self.publicKey = publicKey
        self.presence = presence
    }
}
