package import KCByteStreams
package import KCCryptography

/// Generates a passphrase for users who do not want to make one up.
///
/// A passphrase has seven groups of four characters from an alphabet of 32 (Crockford's base32, lower case, without i,
/// l, o and u). This gives 140 bits, far too many to search, and is short enough to write down.
package enum GeneratedPassphrase {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let groupSize = 4

    /// Generates a passphrase such as `k3vq-7d2m-…`.
    ///
    /// - Parameter groups: the number of groups of four characters, of 20 bits each.
    /// - Throws: `CryptographyFailure.library` if the generator fails.
    package static func make(groups: Int = 7) throws(CryptographyFailure) -> SecretBytes {
        let random = try RandomBytes.secret(count: groups * groupSize)
        var text = SecretBytes(capacity: groups * (groupSize + 1))
        random.withBytes { bytes in
            for index in bytes.indices {
                if index > 0, index % groupSize == 0 { text.append(UInt8(ascii: "-")) }
                // 32 divides 256, so every character is equally likely.
                text.append(alphabet[Int(bytes[index]) % alphabet.count])
            }
        }
        return text
    }
}
