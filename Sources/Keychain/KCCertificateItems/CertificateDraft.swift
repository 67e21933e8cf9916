package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

extension ItemDraft {
    /// Creates the item of a certificate, with the attributes that Apple's keychain sets.
    ///
    /// The item gets `ctyp` (the X.509 version), `cenc` 3 (DER), `subj` and `issr` (normalized names), `slnr`, `skid`
    /// and `pkhh`. `labl` is `label`, or else the summary of the subject. `alis` is the first email address, by which
    /// the macOS tool finds a certificate. The item's secret is `keychainSecret` of the certificate. Source:
    /// `SecCertificateCopyAttributeDictionary`, which does not set label and alias.
    package init(certificate: X509Certificate, label: String? = nil) {
        var attributes = Attributes()
        attributes[.ctyp] = .number(Int64(certificate.version))
        attributes[.cenc] = .number(3)
        attributes[.subj] = .data(certificate.normalizedSubject)
        attributes[.issr] = .data(certificate.normalizedIssuer)
        attributes[.slnr] = .data(certificate.serialNumber)
        attributes[.skid] = certificate.subjectKeyID.map { .data($0) }
        attributes[.pkhh] = .data(certificate.publicKeyHash)
        attributes[.labl] = (label ?? certificate.subjectSummary).map { .text($0) }
        attributes[.alis] = certificate.emailAddresses.first.map { .text($0) }
        self.init(itemClass: .certificate, attributes: attributes)
    }
}

extension X509Certificate {
    /// The secret of a certificate's item: the DER, which is public.
    package var keychainSecret: SecretBytes { SecretBytes(der.span) }
}
