import Foundation
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

/// The certificates and keys in `Samples/certificates`, which are public.
enum SampleCertificates {
    private static let folder = URL(filePath: OpenSSLCommand.samples)

    /// The DER of a certificate: `authority`, `web` (RSA) or `mail` (EC, with an email address).
    static func der(_ name: String) throws -> Data {
        let text = try String(contentsOf: folder.appending(path: name + ".pem"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Data(base64Encoded: lines.joined()) ?? Data()
    }

    /// A certificate as an object of the API.
    static func object(_ name: String) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(kCFAllocatorDefault, try der(name) as CFData))
    }

    /// The private key of a certificate.
    static func key(_ name: String) throws -> PrivateKey {
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name + ".key.der")))
        return try PrivateKey(der: bytes.span, passphrase: nil)
    }
}
