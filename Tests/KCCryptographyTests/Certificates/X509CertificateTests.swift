import Foundation
import KCTestSupport
import Testing

@testable import KCCryptography

@Suite(.waitsForPrograms) struct X509CertificateTests {
    private func certificate(_ openssl: OpenSSLCommand, _ name: String) throws -> X509Certificate {
        try X509Certificate(der: openssl.make("x509 -in \(name) -outform DER -out"))
    }

    /// The hexadecimal digits in text such as `name=01:23`.
    private func hexAfterEquals(_ text: String) -> String {
        text.drop { $0 != "=" }.dropFirst().filter { $0 != ":" }.lowercased()
    }

    @Test("Sample certificates are read as openssl reads them", arguments: ["authority", "web", "mail"])
    func samples(name: String) throws {
        let openssl = try OpenSSLCommand()
        let file = name + ".pem"
        let certificate = try certificate(openssl, file)
        let pem = try openssl.read(file)
        let fromPEM = try X509Certificate(pem: pem.span)
        #expect(fromPEM == certificate)

        let said = { (options: String) in
            try openssl("x509 -in \(file) -noout \(options)").trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #expect(try hexAfterEquals(said("-serial")) == Hexadecimal.encode(certificate.serialNumber))
        #expect(try hexAfterEquals(said("-fingerprint -sha1")) == Hexadecimal.encode(certificate.sha1))
        #expect(try hexAfterEquals(said("-fingerprint -sha256")) == Hexadecimal.encode(certificate.sha256))
        #expect(try said("-email").split(separator: "\n").map(String.init) == certificate.emailAddresses)
        let id = try said("-ext subjectKeyIdentifier").split(separator: "\n").last ?? ""
        let digits = id.filter(\.isHexDigit).lowercased()
        #expect(digits == certificate.subjectKeyID.map(Hexadecimal.encode))
        #expect(digits == Hexadecimal.encode(certificate.publicKeyHash))
        #expect(certificate.notBefore == 1_767_225_600)
        #expect(certificate.notAfter == 2_398_377_600)
        #expect(try said("-dates").contains("notBefore=Jan  1 00:00:00 2026 GMT"))
        #expect(certificate.version == 3)
        #expect(try said("-issuer -nameopt RFC2253").contains("CN=kcbackup Sample Root"))
        #expect(certificate.issuer.count > certificate.normalizedIssuer.count)
    }

    @Test("The samples have the expected key kind, key size and names")
    func samplesInWords() throws {
        let openssl = try OpenSSLCommand()
        let authority = try certificate(openssl, "authority.pem")
        let web = try certificate(openssl, "web.pem")
        let mail = try certificate(openssl, "mail.pem")
        #expect([authority, web, mail].map(\.publicKey.kind) == [.ed25519, .rsa, .ec])
        #expect([authority, web, mail].map(\.publicKey.sizeInBits) == [256, 2048, 256])
        #expect(authority.commonName == "kcbackup Sample Root (do not trust)")
        #expect(authority.subject == authority.issuer)
        #expect(web.issuer == authority.subject)
        #expect(web.subjectSummary == "www.example.com")
        #expect(mail.emailAddresses == ["grace@example.org"])
    }

    @Test("Version 1, a PrintableString subject and a negative serial number are supported")
    func unusual() throws {
        let openssl = try OpenSSLCommand()
        try openssl.folder.write("conf", Array("[req]\nstring_mask = pkix\ndistinguished_name = n\n[n]\n".utf8))
        try openssl("pkey -inform DER -in mail.key.der -out key")
        try openssl(
            "req -new -config conf -key key -out request -subj",
            "/C=ch/O=Acme  Widgets ltd /OU=one/emailAddress=a@b.example")
        try openssl("x509 -req -in request -key key -days 40000 -set_serial -129 -out first.pem")
        let first = try certificate(openssl, "first.pem")
        #expect(first.version == 1)
        #expect(first.serialNumber == [0xff, 0x7f])
        #expect(first.subjectKeyID == nil)
        #expect(first.commonName == nil)
        #expect(first.subjectSummary == "one")
        #expect(first.emailAddresses == ["a@b.example"])
        #expect(String(decoding: first.normalizedSubject, as: UTF8.self).contains("ACME WIDGETS LTD"))
        #expect(String(decoding: first.normalizedSubject, as: UTF8.self).contains("a@b.example"))
        #expect(first.notAfter - first.notBefore == 40_000 * 86_400)
    }

    @Test("A certificate without a subject is summarized by its alternative names")
    func withoutSubject() throws {
        let openssl = try OpenSSLCommand()
        try openssl("pkey -inform DER -in mail.key.der -out key")
        for (names, summary) in [
            ("DNS:www.example.net,email:x@example.net", "x@example.net"),
            ("IP:127.0.0.1,DNS:www.example.net", "www.example.net"),
        ] {
            try openssl("req -new -x509 -key key -subj / -out bare.pem -addext subjectAltName=" + names)
            #expect(try certificate(openssl, "bare.pem").subjectSummary == summary)
        }
        try openssl("req -new -x509 -key key -subj / -out bare.pem")
        #expect(try certificate(openssl, "bare.pem").subjectSummary == nil)
    }

    @Test("Anything but exactly one complete DER certificate is refused")
    func notOne() throws {
        let openssl = try OpenSSLCommand()
        let der = try certificate(openssl, "mail.pem").der
        for length in der.indices {
            #expect(throws: CertificateFailure.self) { try X509Certificate(der: Array(der[..<length])) }
        }
        #expect(throws: CertificateFailure.malformed("something follows the end")) {
            try X509Certificate(der: der + [0])
        }
        #expect(throws: CertificateFailure.self) { try X509Certificate(der: der + der) }
        // The same certificate with an indefinite BER length, which libcrypto accepts.
        let berCopy = [0x30, 0x80] + der[4...] + [0, 0]
        #expect(throws: CertificateFailure.malformed("a certificate is not DER")) { try X509Certificate(der: berCopy) }
        #expect(throws: CertificateFailure.tooLarge(limit: .fileSize)) {
            try X509Certificate(der: [UInt8](repeating: 0x30, count: CertificateLimit.fileSize.value + 1))
        }
        #expect(throws: CertificateFailure.self) { try X509Certificate(der: openssl.read("mail.key.der")) }
        let two = try openssl.read("mail.pem") + openssl.read("web.pem")
        #expect(throws: CertificateFailure.malformed("the text is not one certificate")) {
            try X509Certificate(pem: two.span)
        }
        #expect(throws: CertificateFailure.unknownFormat) { try X509Certificate(pem: der.span) }
    }

    @Test("2,000 altered certificates are refused, or differ from the original", arguments: ["mail.pem", "web.pem"])
    func altered(name: String) throws {
        let openssl = try OpenSSLCommand()
        let original = try certificate(openssl, name)
        var random = SeededRandom(seed: 20_260_101)
        var readable = 0
        for _ in 0..<2_000 {
            var der = original.der
            let place = Int.random(in: der.indices, using: &random)
            der[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            guard let read = try? X509Certificate(der: der) else { continue }
            readable += 1
            #expect(read.der == der)
            #expect(read != original)
            #expect(read.sha256 != original.sha256)
        }
        // The signature, a large part of a certificate, is not verified.
        #expect((100..<2_000).contains(readable))
    }
}
