/// Why a key of SSH cannot be used to encrypt.
package enum SSHKeyFailure: Error, Hashable, Sendable {
    /// The key breaks the rules of its format.
    case malformed
    /// The key is of another type; the text is its name, as in `ecdsa-sha2-nistp256`.
    case unsupported(String)
    /// An RSA key has only this many bits.
    case weak(bits: Int)
    /// The private key is encrypted with a passphrase.
    case encrypted
    /// libcrypto failed for a reason other than the key.
    case cryptography(CryptographyFailure)

    init(_ failure: CertificateFailure) {
        switch failure {
        case .library(let what): self = .cryptography(.library(what))
        case .passphraseRequired: self = .encrypted
        default: self = .malformed
        }
    }
}
