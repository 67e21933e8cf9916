internal import CKCLibCrypto

/// An X.509 certificate (RFC 5280): its bytes, and the fields that a keychain and its tools use.
///
/// The certificate is not validated: signatures and chains are ignored.
package struct X509Certificate: Hashable, Sendable {
    /// The certificate as received.
    package let der: [UInt8]
    /// 1, 2 or 3.
    package let version: Int
    /// The content octets of the serial number's INTEGER: two's complement, big-endian.
    package let serialNumber: [UInt8]
    /// The certified key.
    package let publicKey: PublicKey
    /// The start of its validity, in seconds since 1970-01-01T00:00:00Z.
    package let notBefore: Int64
    /// The end of its validity, in seconds since 1970-01-01T00:00:00Z.
    package let notAfter: Int64
    /// The content of the extension subjectKeyIdentifier (RFC 5280, 4.2.1.2); nil if absent.
    package let subjectKeyID: [UInt8]?
    /// The `rfc822Name`s of the extension subjectAltName, then each emailAddress of the subject.
    package let emailAddresses: [String]
    private let subjectName: DistinguishedName
    private let issuerName: DistinguishedName
    private let firstAlternativeName: String?

    /// Parses a certificate; `der` must contain nothing else.
    package init(der: [UInt8]) throws(CertificateFailure) {
        try CertificateLimit.fileSize.check(der.count)
        defer { ERR_clear_error() }
        let object = unsafe try LibCryptoObject(
            decoding: der.span, freedBy: { unsafe X509_free($0) }, rule: "not an X.509 certificate"
        ) { next, count in unsafe d2i_X509(nil, next, count) }
        let x509 = unsafe object.pointer
        // libcrypto reads BER as well; a certificate must have only one encoding.
        guard unsafe try LibCrypto.encoded({ unsafe i2d_X509(x509, $0) }) == der else {
            throw .malformed("a certificate is not DER")
        }
        let version = unsafe X509_get_version(x509) + 1
        guard (1...3).contains(version) else { throw .malformed("a certificate has an unknown version") }
        let subject = try DistinguishedName(der: unsafe x509.nameDER(X509_get_subject_name(x509)))
        let alternativeNames = GeneralNames(extension: unsafe x509.extensionValue(NID_subject_alt_name))
        self.der = der
        self.version = version
        serialNumber = unsafe try x509.serialNumber()
        publicKey = unsafe try PublicKey(unsafe X509_get_X509_PUBKEY(x509))
        notBefore = unsafe try Self.seconds(X509_get0_notBefore(x509))
        notAfter = unsafe try Self.seconds(X509_get0_notAfter(x509))
        subjectKeyID = unsafe Self.octets(of: x509.extensionValue(NID_subject_key_identifier))
        subjectName = subject
        issuerName = try DistinguishedName(der: unsafe x509.nameDER(X509_get_issuer_name(x509)))
        emailAddresses = alternativeNames.emailAddresses + subject.texts(of: DistinguishedName.emailAddress)
        firstAlternativeName = alternativeNames.emailAddresses.first ?? alternativeNames.hostNames.first
    }

    /// Parses the only certificate of a PEM text; other blocks are not allowed.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat` if there is no block, `malformed`, `tooLarge`).
    package init(pem: borrowing Span<UInt8>) throws(CertificateFailure) {
        let blocks = try PEM.blocks(in: pem)
        guard let block = blocks.first else { throw .unknownFormat }
        guard blocks.count == 1, block.content == .certificate else {
            throw .malformed("the text is not one certificate")
        }
        try self.init(der: block.publicBytes)
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(CertificateFailure) -> Int64 {
        guard let time = unsafe time else { throw .malformed("a validity is missing") }
        let text = unsafe time.octets
        let form: CertificateTime =
            unsafe ASN1_STRING_type(time) == V_ASN1_GENERALIZEDTIME ? .generalizedTime : .utcTime
        guard let seconds = form.secondsSince1970(text) else { throw .malformed("a validity is not a moment") }
        return seconds
    }

    /// The content of an OCTET STRING; nil if `value` is not one.
    private static func octets(of value: [UInt8]?) -> [UInt8]? {
        guard let value else { return nil }
        var reader = DERReader(0..<value.count)
        guard let string = try? reader.expect(DERTag.octetString, in: value.span), string.whole.count == value.count
        else { return nil }
        return Array(value[string.content])
    }
}

extension X509Certificate {
    /// The DER of the subject's Name, as in the certificate.
    package var subject: [UInt8] { subjectName.der }
    /// The DER of the issuer's Name, as in the certificate.
    package var issuer: [UInt8] { issuerName.der }
    /// The value that Apple's keychain stores as `subj`: the content of the Name without tag and length, each
    /// PrintableString in upper case and with single spaces.
    package var normalizedSubject: [UInt8] { subjectName.normalized }
    /// The value that Apple's keychain stores as `issr`, normalized likewise; part of a certificate's unique key.
    package var normalizedIssuer: [UInt8] { issuerName.normalized }
    /// SHA-1 of the public key (the content of its BIT STRING), as in `pkhh`.
    package var publicKeyHash: [UInt8] { publicKey.hash }
    /// The last common name of the subject that is text; nil if there is none.
    package var commonName: String? { subjectName.texts(of: DistinguishedName.commonName).last }
    /// The last organization of the subject that is text; nil if there is none.
    package var organization: String? { subjectName.texts(of: DistinguishedName.organization).last }
    /// A one-line description for lists; nil if nothing in the certificate is text.
    ///
    /// The common name, else the organizational unit, else the organization, else any text of the subject, else an
    /// email address or host name; as in `SecCertificateCopySubjectSummary`.
    package var subjectSummary: String? { subjectName.summary ?? firstAlternativeName }
    /// The 20 bytes of the SHA-1 fingerprint.
    package var sha1: [UInt8] { HashFunction.sha1.digest(of: der.span) }
    /// The 32 bytes of the SHA-256 fingerprint.
    package var sha256: [UInt8] { SHA256.hash(der.span).bytes }

    /// Compares the bytes.
    package static func == (left: X509Certificate, right: X509Certificate) -> Bool { left.der == right.der }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

/// The names taken from the extension subjectAltName (RFC 5280, 4.2.1.6).
struct GeneralNames {
    var emailAddresses: [String] = []
    var hostNames: [String] = []

    /// A missing or malformed extension yields no names: they only help to find a certificate.
    init(extension value: [UInt8]?) {
        guard let value else { return }
        let bytes = value.span
        var outer = DERReader(0..<bytes.count)
        guard let sequence = try? outer.expect(DERTag.sequence, in: bytes) else { return }
        var names = DERReader(sequence.content)
        while let name = try? names.next(in: bytes) {
            let text = DistinguishedName.Attribute.text(tag: DERTag.ia5String, value[name.content])
            switch (name.tag, text) {
            case (0x81, let text?): emailAddresses.append(text)
            case (0x82, let text?): hostNames.append(text)
            default: break
            }
        }
    }
}

extension UnsafePointer<ASN1_STRING> {
    /// The content octets.
    var octets: [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(self), count: Int(ASN1_STRING_length(self))))
    }
}

/// Accessors of an `X509`.
extension OpaquePointer {
    fileprivate func nameDER(_ name: OpaquePointer?) throws(CertificateFailure) -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count = 0
        try LibCrypto.check(unsafe X509_NAME_get0_der(name, &start, &count), else: .malformed("a name is missing"))
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }

    fileprivate func serialNumber() throws(CertificateFailure) -> [UInt8] {
        let number = unsafe X509_get0_serialNumber(self)
        let der = unsafe try LibCrypto.encoded { unsafe i2d_ASN1_INTEGER(number, $0) }
        var reader = DERReader(0..<der.count)
        return Array(der[try reader.expect(DERTag.integer, in: der.span).content])
    }

    /// The value of the first extension of a kind; nil if there is none.
    fileprivate func extensionValue(_ nid: Int32) -> [UInt8]? {
        let index = unsafe X509_get_ext_by_NID(self, nid, -1)
        guard index >= 0, let value = unsafe X509_EXTENSION_get_data(X509_get_ext(self, index)) else { return nil }
        return unsafe UnsafePointer(value).octets
    }
}
