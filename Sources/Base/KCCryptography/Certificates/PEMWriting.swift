package import KCByteStreams

// A line of RFC 7468 has 64 characters, which are 48 bytes.
private let lineBytes = 48

extension ByteBuffer where Self: ~Copyable {
    /// Appends a PEM block with a label such as `CERTIFICATE`.
    package mutating func appendPEM(_ bytes: borrowing Span<UInt8>, label: String) {
        append(utf8: "-----BEGIN \(label)-----\n")
        for start in stride(from: 0, to: bytes.count, by: lineBytes) {
            Base64.encode(bytes.extracting(start..<min(start + lineBytes, bytes.count)), into: &self)
            append(UInt8(ascii: "\n"))
        }
        append(utf8: "-----END \(label)-----\n")
    }
}

extension PrivateKey {
    /// Appends the key as a PEM block: encrypted if there is a passphrase, else plain PKCS#8.
    ///
    /// - Parameter isTraditional: true to write PKCS#1 or SEC 1 instead of PKCS#8, for kinds of keys that have such a
    ///   form.
    package func appendPEM(
        to text: inout SecretBytes, passphrase: borrowing SecretBytes?, isTraditional: Bool = false
    ) throws(CertificateFailure) {
        switch passphrase {
        case .some(let passphrase):
            let sealed = try encryptedPKCS8(passphrase: passphrase)
            sealed.withBytes { text.appendPEM($0, label: "ENCRYPTED PRIVATE KEY") }
        case .none:
            switch kind {
            case .rsa where isTraditional:
                let der = try traditional()
                der.withBytes { text.appendPEM($0, label: "RSA PRIVATE KEY") }
            case .ec where isTraditional:
                let der = try traditional()
                der.withBytes { text.appendPEM($0, label: "EC PRIVATE KEY") }
            case .rsa, .ec, .ed25519, .x25519, .ed448, .x448, .other:
                let der = try pkcs8()
                der.withBytes { text.appendPEM($0, label: "PRIVATE KEY") }
            }
        }
    }
}
