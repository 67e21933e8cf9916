package import KCByteStreams
package import KCCryptography

/// The private half of an escrow key, which on its device opens what a backup of one keychain contains.
///
/// An escrow key is an X25519 key (RFC 7748). The keychain holds the public half, so that its escrow record can be
/// renewed without the private half.
package final class EscrowKey: Sendable {
    private static let prefix = "kcbackup-escrow-key-"

    private let secret: SecretBytes
    /// The public half, which the keychain keeps.
    package let publicKey: EscrowPublicKey

    private init(_ secret: consuming SecretBytes) throws(CryptographyFailure) {
        publicKey = EscrowPublicKey(bytes: try X25519.publicKey(of: secret))
        self.secret = secret
    }

    /// Generates a new key.
    ///
    /// - Throws: `CryptographyFailure` if there is no randomness.
    package static func generate() throws(CryptographyFailure) -> EscrowKey {
        try EscrowKey(X25519.generatePrivateKey())
    }

    /// Parses `KCBACKUP-ESCROW-KEY-1…`, upper-case Bech32; nil for anything else.
    static func parse(_ text: borrowing Span<UInt8>) throws(CryptographyFailure) -> EscrowKey? {
        var secret = SecretBytes(capacity: EscrowPublicKey.size)
        guard Bech32.decode(text, prefix: prefix, uppercase: true, into: &secret), secret.count == EscrowPublicKey.size
        else { return nil }
        return try EscrowKey(secret)
    }

    /// The secret shared with the public key `share`.
    func sharedSecret(with share: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try X25519.sharedSecret(privateKey: secret, publicKey: share)
    }

    /// The text of an escrow key file.
    ///
    /// - Parameter comments: single lines.
    package func text(comments: [String]) -> SecretBytes {
        var text = SecretBytes(capacity: 1_024)
        for comment in comments { text.append("# \(comment)\n".utf8.span) }
        text.append("# public key: \(publicKey)\n".utf8.span)
        secret.withBytes { Bech32.encode(prefix: Self.prefix, $0, uppercase: true, into: &text) }
        text.append("\n".utf8.span)
        return text
    }
}

/// The public half of an escrow key, `kcbackup-escrow1…`.
package struct EscrowPublicKey: Hashable, Sendable, CustomStringConvertible {
    static let size = 32
    private static let prefix = "kcbackup-escrow"

    let bytes: [UInt8]

    /// The lower-case Bech32 form.
    package var description: String {
        var text: [UInt8] = []
        Bech32.encode(prefix: Self.prefix, bytes.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

/// The keys of an escrow key file, which has comments (`#`), empty lines, and one key per line.
///
/// A file with the keys of several keychains can be used to back up all of them.
package struct EscrowKeys {
    /// The maximum number of keys in a file.
    package static let limit = 256

    private let keys: [EscrowKey]

    /// Parses the text of a file.
    ///
    /// - Throws: `escrow` (`malformedLine`, `noKey`), `limit`, `cryptography`.
    package init(parsing text: borrowing SecretBytes) throws(KeybagFailure) {
        var keys: [EscrowKey] = []
        try text.withBytes { bytes throws(KeybagFailure) in
            try bytes.forEachLine { line, number throws(KeybagFailure) in
                if line.isEmpty || line[0] == UInt8(ascii: "#") { return }
                guard keys.count < Self.limit else {
                    throw .limit("escrow keys of a file", found: keys.count + 1, allowed: Self.limit)
                }
                do throws(CryptographyFailure) {
                    if let key = try EscrowKey.parse(line) { return keys.append(key) }
                } catch {
                    throw .cryptography(error)
                }
                throw .escrow(.malformedLine(number))
            }
        }
        if keys.isEmpty { throw .escrow(.noKey) }
        self.keys = keys
    }

    /// The private half of a public key; nil if it is missing.
    func key(_ publicKey: EscrowPublicKey) -> EscrowKey? { keys.first { $0.publicKey == publicKey } }
}

/// The fault of an escrow key, or of the escrow record of a keychain.
package enum EscrowProblem: Hashable, Sendable {
    /// The keychain has no escrow record.
    case none
    /// The keychain already has an escrow record.
    case exists
    /// A keychain without a passcode needs no escrow record.
    case noPasscode
    /// The escrow record is for another key.
    case otherKey
    /// The record was not made by anyone who had the passcode.
    case forged
    /// This line of the file, counted from 1, is not an escrow key.
    case malformedLine(Int)
    /// The file contains no key.
    case noKey
}
