import KCByteStreams
import KCTestSupport
import Testing

@testable import KCCryptography

/// Files that `openssl pkcs12` does not write, assembled by hand and authenticated with the passphrase "x".
@Suite(.waitsForPrograms) struct CraftedPKCS12Tests {
    private static let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1]
    private static let salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    /// The key of a SHA-256 MAC with one iteration and the salt above.
    private let macKey: [UInt8]
    private let openssl: OpenSSLCommand

    init() throws {
        openssl = try OpenSSLCommand()
        try openssl(
            "kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexpass:00780000 -kdfopt hexsalt:0102030405060708"
                + " -kdfopt id:3 -kdfopt iter:1 -binary -out key PKCS12KDF")
        macKey = try openssl.read("key")
    }

    private func bag(_ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
        DER.element(
            DERTag.sequence,
            DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 12, 10, 1, kind])
                + DER.element(0xa0, value))
    }

    private func certificateBag(_ der: [UInt8], kind: UInt8 = 1, tag: UInt8 = DERTag.octetString) -> [UInt8] {
        bag(
            3,
            DER.element(
                DERTag.sequence,
                DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 9, 22, kind])
                    + DER.element(0xa0, DER.element(tag, der))))
    }

    /// A ContentInfo that contains plain data.
    private func content(_ bytes: [UInt8], type: [UInt8] = data) -> [UInt8] {
        DER.element(
            DERTag.sequence,
            DER.element(DERTag.objectIdentifier, type) + DER.element(0xa0, DER.element(DERTag.octetString, bytes)))
    }

    private func file(bags: [UInt8]) throws -> [UInt8] {
        try file(safes: content(DER.element(DERTag.sequence, bags)))
    }

    private func file(safes: [UInt8]) throws -> [UInt8] {
        let safes = DER.element(DERTag.sequence, safes)
        var mac = try HMAC(key: SecretBytes(macKey.span))
        try mac.update(safes.span)
        let tag = try mac.finalize()
        let sha256: [UInt8] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]
        let digest = DER.element(
            DERTag.sequence,
            DER.element(DERTag.sequence, DER.element(DERTag.objectIdentifier, sha256) + [5, 0])
                + DER.element(DERTag.octetString, tag))
        return DER.element(
            DERTag.sequence,
            [2, 1, 3] + content(safes)
                + DER.element(DERTag.sequence, digest + DER.element(DERTag.octetString, Self.salt)))
    }

    private func opened(_ file: [UInt8]) throws(CertificateFailure) -> PKCS12.Contents {
        try PKCS12.open(file.span, passphrase: SecretBytes(copying: [UInt8(ascii: "x")]))
    }

    @Test("Nested bags, plain keys, CRLs and secret bags are read or counted")
    func kinds() throws {
        let pem = try openssl.read("mail.pem")
        let mail = try X509Certificate(pem: pem.span)
        let key = try openssl.read("mail.key.der")
        let other = DER.element(
            DERTag.sequence, DER.element(DERTag.objectIdentifier, [0x2a, 3]) + DER.element(0xa0, [4, 0]))
        let nested = bag(6, DER.element(DERTag.sequence, bag(1, key) + certificateBag(mail.der)))
        let contents = try opened(
            file(bags: nested + bag(4, other) + bag(5, other) + certificateBag([0x31], kind: 2, tag: DERTag.ia5String)))
        #expect(contents.identities.map(\.certificate) == [mail])
        #expect(try contents.identities.first?.key.pkcs8().bytesForTest() == key)
        #expect(contents.otherCount == 3)
    }

    @Test("The nesting of bags is limited")
    func depth() throws {
        var bags: [UInt8] = []
        for depth in 1...CertificateLimit.nesting.value + 1 {
            bags = bag(6, DER.element(DERTag.sequence, bags))
            if depth <= CertificateLimit.nesting.value { _ = try opened(file(bags: bags)) }
        }
        let tooDeep = try file(bags: bags)
        #expect(throws: CertificateFailure.tooLarge(limit: .nesting)) { _ = try opened(tooDeep) }
    }

    @Test("An authenticated file with any malformed part is refused as a whole")
    func broken() throws {
        let pem = try openssl.read("mail.pem")
        let mail = try X509Certificate(pem: pem.span)
        let encrypted: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 6]
        let enveloped: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 3]
        func emptyContent(_ type: [UInt8]) -> [UInt8] {
            DER.element(DERTag.sequence, DER.element(DERTag.objectIdentifier, type))
        }
        let good = certificateBag(mail.der)
        let files = try [
            file(bags: good + certificateBag(Array(mail.der.dropLast()))),
            file(bags: good + bag(1, [0x30, 0])), file(bags: good + bag(2, [0x30, 0])),
            file(bags: good + bag(3, [0x30, 0])),
            file(bags: good + bag(6, [4, 0])), file(bags: good + [0x30]), file(safes: content(good)),
            file(safes: emptyContent(Self.data)), file(safes: emptyContent(encrypted)),
            file(safes: emptyContent(enveloped)),
            file(safes: content([], type: encrypted)), file(safes: [4, 0]),
        ]
        for (number, file) in files.enumerated() {
            #expect(throws: CertificateFailure.self, "\(number)") { _ = try opened(file) }
        }
        #expect(try opened(file(bags: good)).certificates.count == 1)
        #expect(try opened(file(bags: [])).certificates.isEmpty)
    }

    @Test("The number of entries is limited")
    func bounded() throws {
        let secret = bag(
            5,
            DER.element(DERTag.sequence, DER.element(DERTag.objectIdentifier, [0x2a, 3]) + DER.element(0xa0, [4, 0])))
        let many = try file(
            bags: Array(repeatElement(secret, count: CertificateLimit.entryCount.value + 1).joined()))
        #expect(throws: CertificateFailure.tooLarge(limit: .entryCount)) { _ = try opened(many) }
    }
}
