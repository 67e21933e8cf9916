internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// The name that the owner of a keychain gives to a security token.
package struct TokenName: Hashable, Sendable {
    package let text: String

    /// In bytes: longer ones do not fit beside others.
    package static let limit = 64

    /// Takes 1 to 64 bytes of letters, digits, dots, hyphens, underscores and blanks, which do not begin with a dot, a
    /// hyphen or a blank; nil for anything else.
    package init?(_ text: String) {
        guard let first = text.utf8.first, text.utf8.count <= Self.limit,
            ![UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: " ")].contains(first),
            text.unicodeScalars.allSatisfy({ scalar in
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "._- ".unicodeScalars.contains(scalar)
            })
        else { return nil }
        self.text = text
    }

    package static func == (left: TokenName, right: TokenName) -> Bool { left.text.exact == right.text.exact }

    package func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// The data with which a security token is asked for its secret; nothing of it is secret.
package struct TokenHandle: Hashable, Sendable {
    /// The ID by which the token finds its key.
    package let credential: [UInt8]
    /// The key that its answers are verified with, a point on P-256.
    package let publicKey: [UInt8]
    /// The salt of the secret; the token has another secret for each salt.
    package let salt: [UInt8]

    /// In bytes.
    package static let credentialLimit = 1_024
    /// In bytes.
    package static let publicKeySize = 64
    /// In bytes.
    package static let saltSize = 32

    /// Returns nil for sizes that no token has.
    package init?(credential: [UInt8], publicKey: [UInt8], salt: [UInt8]) {
        guard (1...Self.credentialLimit).contains(credential.count), publicKey.count == Self.publicKeySize,
            salt.count == Self.saltSize
        else { return nil }
        self.credential = credential
        self.publicKey = publicKey
        self.salt = salt
    }
}

/// The public half of a `TokenKey`.
struct TokenPublicKey: Hashable, Sendable {
    static let size = 32

    let bytes: [UInt8]
}

/// The X25519 key (RFC 7748) that the secret of a token makes for one keychain.
///
/// The device has no part in it, so that the keychain can renew a record for another device key without the token.
final class TokenKey {
    let secret: SecretBytes
    let publicKey: TokenPublicKey

    private static let label = Array("kcbackup/v1/token-key".utf8)

    /// - Parameter tokenSecret: what the token gives for the salt of `handle`, 32 bytes.
    init(
        _ tokenSecret: borrowing SecretBytes, of handle: TokenHandle, for keybag: ItemUUID
    ) throws(CryptographyFailure) {
        guard tokenSecret.count == 32 else { throw .unsupportedParameters("secret of a security token") }
        let secret = try HKDF.derive(
            inputKey: tokenSecret, salt: Self.label, info: Self.label + keybag.bytes + handle.salt, count: 32)
        publicKey = TokenPublicKey(bytes: try X25519.publicKey(of: secret))
        self.secret = secret
    }
}

/// Why a security token cannot be enrolled, or opens nothing.
package enum TokenProblem: Hashable, Sendable {
    /// No token of this name is enrolled.
    case none(TokenName)
    /// Another token of this name is enrolled.
    case exists(TokenName)
    /// In a keychain without a passcode, no item asks for anything.
    case noPasscode
    /// As many tokens are enrolled as can be.
    case full
    /// The secret of the token is not the one that it had when it was enrolled.
    case otherSecret(TokenName)
    /// The record was not made by anyone who had the passcode.
    case forged(TokenName)
}
