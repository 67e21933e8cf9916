internal import CKCLibCrypto

/// The certificates in PKCS#7 signed data (RFC 2315, `.p7b`); signatures are not checked.
package enum PKCS7Certificates {
    /// The contents of signed data.
    package struct Contents: Hashable, Sendable {
        /// The certificates, in order.
        package let certificates: [X509Certificate]
        /// The number of revocation lists.
        package let otherCount: Int
    }

    /// Reads DER, or the BER that other programs write.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat` if the file is not PKCS#7, `malformed`, `unsupported` for PKCS#7
    ///   other than signed data, `tooLarge`).
    package static func read(_ der: borrowing Span<UInt8>) throws(CertificateFailure) -> Contents {
        try CertificateLimit.fileSize.check(der.count)
        guard CertificateFormat(of: der) == .pkcs7 else { throw .unknownFormat }
        defer { ERR_clear_error() }
        let object = unsafe try LibCryptoObject(
            decoding: der, freedBy: { unsafe PKCS7_free(UnsafeMutablePointer<PKCS7>($0)) }, rule: "not PKCS#7"
        ) { next, count in unsafe OpaquePointer(d2i_PKCS7(nil, next, count)) }
        let message = unsafe UnsafeMutablePointer<PKCS7>(object.pointer)
        guard unsafe OBJ_obj2nid(message.pointee.type) == NID_pkcs7_signed else {
            throw .unsupported("PKCS#7 that is not signed data")
        }
        guard let signed = unsafe message.pointee.d.sign?.pointee else { throw .malformed("PKCS#7 has no content") }
        let found = unsafe LibCrypto.elements(of: signed.cert)
        let lists = unsafe LibCrypto.elements(of: signed.crl)
        try CertificateLimit.entryCount.check(found.count + lists.count)
        var certificates: [X509Certificate] = []
        for certificate in found {
            unsafe certificates.append(
                try X509Certificate(der: LibCrypto.encoded { unsafe i2d_X509(certificate.pointer, $0) }))
        }
        return Contents(certificates: certificates, otherCount: lists.count)
    }
}
