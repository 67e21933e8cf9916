/// The format of a file of certificates or keys, guessed from its first bytes.
package enum CertificateFormat: Hashable, Sendable {
    /// Text with at least one BEGIN line (RFC 7468).
    case pem
    /// An X.509 certificate in DER.
    case certificate
    /// A private key as PKCS#8 (RFC 5958).
    case pkcs8
    /// A private key as PKCS#8, encrypted.
    case encryptedPKCS8
    /// A private RSA key as PKCS#1 (RFC 8017).
    case pkcs1
    /// A private key of an elliptic curve as SEC 1 (RFC 5915).
    case sec1
    /// A public key as SubjectPublicKeyInfo (RFC 5280).
    case publicKey
    /// Certificates and keys as PKCS#12 (RFC 7292).
    case pkcs12
    /// PKCS#7 signed data, which carries certificates (RFC 2315).
    case pkcs7

    /// Examines the outermost values; nil for an unknown format.
    ///
    /// This is only what the file appears to be. The reader of the format checks it.
    package init?(of bytes: borrowing Span<UInt8>) {
        guard let shape = Shape(bytes) else {
            guard PEM.isPEM(bytes) else { return nil }
            self = .pem
            return
        }
        switch (shape.first, shape.second) {
        case (DERTag.integer, DERTag.sequence): self = shape.firstValue == 3 ? .pkcs12 : .pkcs8
        case (DERTag.integer, DERTag.integer): self = .pkcs1
        case (DERTag.integer, DERTag.octetString): self = .sec1
        case (DERTag.objectIdentifier, _): self = .pkcs7
        case (DERTag.sequence, DERTag.octetString): self = .encryptedPKCS8
        case (DERTag.sequence, DERTag.bitString): self = .publicKey
        case (DERTag.sequence, DERTag.sequence): self = .certificate
        default: return nil
        }
    }
}

/// The tags of the first two values inside the outermost SEQUENCE, in BER or DER.
private struct Shape {
    let first: UInt8
    /// The only content octet of the first value; nil if it does not have exactly one.
    let firstValue: UInt8?
    let second: UInt8?

    init?(_ bytes: borrowing Span<UInt8>) {
        let end = bytes.count
        guard let outer = DERHeader(in: bytes, at: 0, end: end), outer.tag == DERTag.sequence,
            let inner = DERHeader(in: bytes, at: outer.end, end: end)
        else { return nil }
        first = inner.tag
        firstValue = inner.length == 1 && inner.end < end ? bytes[inner.end] : nil
        guard let length = inner.length, length <= end - inner.end,
            let next = DERHeader(in: bytes, at: inner.end + length, end: end)
        else {
            second = nil
            return
        }
        second = next.tag
    }
}
