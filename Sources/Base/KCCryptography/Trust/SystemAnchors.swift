internal import CKCLibCrypto

/// Where libcrypto finds the certificates that the system trusts.
package enum SystemAnchors {
    /// The path of a file with certificates in PEM: `SSL_CERT_FILE`, or that of this build of libcrypto.
    package static var file: String {
        unsafe value(X509_get_default_cert_file_env(), X509_get_default_cert_file())
    }

    /// The paths of folders with a file for each certificate: those in `SSL_CERT_DIR`, or that of this build of
    /// libcrypto.
    package static var folders: [String] {
        let list = unsafe value(X509_get_default_cert_dir_env(), X509_get_default_cert_dir())
        return list.utf8.split(separator: UInt8(ascii: ":")).map { String(Substring($0)) }
    }

    private static func value(_ variable: UnsafePointer<CChar>?, _ otherwise: UnsafePointer<CChar>?) -> String {
        guard let value = unsafe kcbackup_certificate_variable(variable, otherwise) else { return "" }
        return unsafe String(cString: value)
    }
}

extension X509Certificate {
    /// Parses all certificates of a PEM text, in order; other blocks are skipped.
    package static func all(inPEM text: borrowing Span<UInt8>) throws(CertificateFailure) -> [X509Certificate] {
        var certificates: [X509Certificate] = []
        for block in try PEM.blocks(in: text) where block.content == .certificate {
            certificates.append(try X509Certificate(der: block.publicBytes))
        }
        return certificates
    }
}
