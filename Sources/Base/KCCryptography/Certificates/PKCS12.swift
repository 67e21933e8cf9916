internal import CKCLibCrypto
package import KCByteStreams

/// Files of certificates and private keys under one passphrase (PKCS#12, RFC 7292), as `.p12` and `.pfx`.
package enum PKCS12 {
    /// A private key and a matching certificate.
    package struct Identity: Sendable {
        /// The key.
        package let key: PrivateKey
        /// A certificate of its public key.
        package let certificate: X509Certificate
        /// The name that the file gives the key or, if it gives none, the certificate.
        package let friendlyName: String?
        /// The ID that links the two inside the file, taken from the key or, if it has none, from the certificate.
        package let localKeyID: [UInt8]?

        /// Pairs a key with a certificate.
        package init(
            key: PrivateKey, certificate: X509Certificate, friendlyName: String? = nil, localKeyID: [UInt8]? = nil
        ) {
            self.key = key
            self.certificate = certificate
            self.friendlyName = friendlyName
            self.localKeyID = localKeyID
        }
    }

    /// An entry of a file, with the two attributes that a file can give an entry.
    package struct Entry<Value: Sendable>: Sendable {
        /// The certificate or the key.
        package let value: Value
        /// The name that the file gives it.
        package let friendlyName: String?
        /// The ID that links a key to its certificate inside the file.
        package let localKeyID: [UInt8]?
    }

    /// The contents of a file.
    package struct Contents: Sendable {
        /// Each key with each certificate of its public key; the one with the key's local ID first.
        package let identities: [Identity]
        /// Certificates without a key in the file.
        package let certificates: [Entry<X509Certificate>]
        /// Keys without a certificate in the file.
        package let keys: [Entry<PrivateKey>]
        /// The number of other entries: revocation lists, and secrets of other programs.
        package let otherCount: Int
    }

    /// Opens a file after checking its MAC, which verifies the passphrase and the contents.
    ///
    /// Without a passphrase, or with an empty one, both forms of "no password" are tried: the empty one and the absent
    /// one. The ciphers of old files (RC2, RC4) need OpenSSL's `legacy` module.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat` if the file is not PKCS#12; `malformed`; `passphraseRequired`;
    ///   `wrongPassphrase`, also if an authenticated part was altered; `unsupported`; `tooLarge`).
    package static func open(
        _ der: borrowing Span<UInt8>, passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) -> Contents {
        try CertificateLimit.fileSize.check(der.count)
        guard CertificateFormat(of: der) == .pkcs12 else { throw .unknownFormat }
        defer { ERR_clear_error() }
        var reader = PKCS12Reader()
        switch passphrase {
        case .some(let passphrase): try reader.read(der, passphrase, isGiven: true)
        case .none: try reader.read(der, SecretBytes(capacity: 0), isGiven: false)
        }
        return reader.contents
    }
}

extension PKCS12.Contents {
    /// Pairs keys with certificates by their public keys.
    init(keys: [PKCS12.Entry<PrivateKey>], certificates: [PKCS12.Entry<X509Certificate>], otherCount: Int) {
        let pairs = IdentityPair.all(
            keys: keys.map(\.value.publicKey), certificates: certificates.map(\.value.publicKey)
        ) { keys[$0].localKeyID != nil && keys[$0].localKeyID == certificates[$1].localKeyID }
        let pairedKeys = Set(pairs.map(\.key))
        let pairedCertificates = Set(pairs.map(\.certificate))
        identities = pairs.map { pair in
            let key = keys[pair.key]
            let certificate = certificates[pair.certificate]
            return PKCS12.Identity(
                key: key.value, certificate: certificate.value,
                friendlyName: key.friendlyName ?? certificate.friendlyName,
                localKeyID: key.localKeyID ?? certificate.localKeyID)
        }
        self.certificates = certificates.indices.filter { !pairedCertificates.contains($0) }.map { certificates[$0] }
        self.keys = keys.indices.filter { !pairedKeys.contains($0) }.map { keys[$0] }
        self.otherCount = otherCount
    }
}
