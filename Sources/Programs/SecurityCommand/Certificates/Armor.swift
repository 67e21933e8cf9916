internal import ByteStreams
internal import Cryptography

extension SecretBytes {
    // The width of RFC 7468.
    private static let lineWidth = 64

    /// Appends a block of PEM.
    mutating func appendArmored(_ bytes: borrowing Span<UInt8>, label: String) {
        appendText("-----BEGIN \(label)-----\n")
        var encoded = SecretBytes(capacity: Base64.encodedCount(bytes.count))
        Base64.encode(bytes, into: &encoded)
        encoded.withBytes { text in
            var start = 0
            while start < text.count {
                let end = min(start + Self.lineWidth, text.count)
                append(text.extracting(start..<end))
                append(UInt8(ascii: "\n"))
                start = end
            }
        }
        appendText("-----END \(label)-----\n")
    }

    /// Appends the two fingerprints of a certificate, a line each.
    mutating func appendFingerprints(of certificate: X509Certificate) {
        appendText("SHA-256 hash: \(Hexadecimal.encode(certificate.sha256).uppercased())\n")
        appendText("SHA-1 hash: \(Hexadecimal.encode(certificate.sha1).uppercased())\n")
    }
}
