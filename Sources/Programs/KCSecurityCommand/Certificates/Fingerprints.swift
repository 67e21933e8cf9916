internal import KCByteStreams
internal import KCCryptography

extension ByteBuffer where Self: ~Copyable {
    /// Appends the two fingerprints of a certificate, one per line.
    mutating func appendFingerprints(of certificate: X509Certificate) {
        append(utf8: "SHA-256 hash: \(Hexadecimal.encode(certificate.sha256).uppercased())\n")
        append(utf8: "SHA-1 hash: \(Hexadecimal.encode(certificate.sha1).uppercased())\n")
    }
}
