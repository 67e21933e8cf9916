internal import ByteStreams
internal import Cryptography

// A line of RFC 7468 has 64 characters, which are 48 bytes.
private let lineBytes = 48

extension ByteBuffer where Self: ~Copyable {
    /// Appends a block of PEM.
    mutating func appendArmored(_ bytes: borrowing Span<UInt8>, label: String) {
        append(utf8: "-----BEGIN \(label)-----\n")
        for start in stride(from: 0, to: bytes.count, by: lineBytes) {
            Base64.encode(bytes.extracting(start..<min(start + lineBytes, bytes.count)), into: &self)
            append(UInt8(ascii: "\n"))
        }
        append(utf8: "-----END \(label)-----\n")
    }

    /// Appends the two fingerprints of a certificate, a line each.
    mutating func appendFingerprints(of certificate: X509Certificate) {
        append(utf8: "SHA-256 hash: \(Hexadecimal.encode(certificate.sha256).uppercased())\n")
        append(utf8: "SHA-1 hash: \(Hexadecimal.encode(certificate.sha1).uppercased())\n")
    }
}
