public import Cryptography
public import KeychainModel
extension ItemDraft {
    public init(certificate: X509Certificate) {
        self.init(itemClass: .certificate)
        attributes[.issr] = .data(certificate.normalizedIssuer)
        attributes[.slnr] = .data(certificate.serialNumber)
        attributes[.ctyp] = .number(Int64(certificate.version))
        attributes[.pkhh] = .data(certificate.publicKeyHash)
    }
}
