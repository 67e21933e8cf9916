package import KCByteStreams
package import KCCryptography

/// Generates the secret of a new item, with characters that password fields accept and a double click selects.
package enum GeneratedPassword {
    /// 24 characters of 6 bits each: 144 bits.
    package static let defaultLength = 24
    /// Shorter ones could be guessed; longer ones do not fit into password fields.
    package static let lengths = 12...256

    // Base64url (RFC 4648).
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Generates a secret of `length` characters.
    package static func make(length: Int) throws(CryptographyFailure) -> SecretBytes {
        let random = try RandomBytes.secret(count: length)
        var text = SecretBytes(capacity: length)
        random.withBytes { bytes in
            // 64 divides 256, so every character is equally likely.
            for index in bytes.indices { text.append(alphabet[Int(bytes[index]) % alphabet.count]) }
        }
        return text
    }
}
