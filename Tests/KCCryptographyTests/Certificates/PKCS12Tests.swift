import KCByteStreams
import KCTestSupport
import Testing

@testable import KCCryptography

@Suite(.waitsForPrograms) struct PKCS12Tests {
    /// The `openssl` command, with PEM copies of the sample keys.
    static func prepared() throws -> OpenSSLCommand {
        let openssl = try OpenSSLCommand()
        for name in ["mail", "web", "authority"] {
            try openssl("pkey -inform DER -in \(name).key.der -out \(name).key")
        }
        return openssl
    }

    /// The encryption options for `openssl pkcs12 -export`.
    static let encryptions = [
        "", "-legacy", "-descert -keypbe PBE-SHA1-3DES -macalg sha1", "-certpbe NONE -keypbe NONE",
        "-macalg sha512 -iter 5000",
        "-certpbe AES-128-CBC -keypbe CAMELLIA-256-CBC", "-noiter -macalg sha384", "-legacy -certpbe PBE-SHA1-RC4-128",
    ]

    @Test("Files from openssl open with every supported encryption", arguments: encryptions)
    func theirs(options: String) throws {
        let openssl = try Self.prepared()
        let line =
            "pkcs12 -export -inkey mail.key -in mail.pem -certfile authority.pem -name Mäil -passout pass:pässwörd"
        let file = try openssl.make("\(line) \(options) -out")
        let contents = try opened(file, "pässwörd")
        let identity = try #require(contents.identities.first)
        #expect(contents.identities.count == 1)
        #expect(try identity.certificate == certificate("mail", openssl))
        #expect(try identity.key.pkcs8().bytesForTest() == openssl.read("mail.key.der"))
        #expect(identity.friendlyName == "Mäil")
        #expect(identity.localKeyID == identity.certificate.sha1)
        #expect(try contents.certificates.map(\.value) == [certificate("authority", openssl)])
        #expect(contents.keys.isEmpty)
        #expect(contents.otherCount == 0)
        #expect(failure(file, nil) == .passphraseRequired)
        for wrong in ["", "passwort", "pässwörd ", "Pässwörd", "p\u{61}\u{308}sswörd"] {
            #expect(failure(file, wrong) == .wrongPassphrase, "\(wrong)")
        }
    }

    @Test("openssl opens our files, but only with the passphrase")
    func ours() throws {
        let openssl = try Self.prepared()
        let file = try PKCS12.make(
            identities: [identity("web", openssl, name: "Wéb"), identity("mail", openssl)],
            certificates: [certificate("authority", openssl)], passphrase: secret("pässwörd"), friendlyName: "other",
            iterations: 2_000)
        try openssl.folder.write("ours.p12", file.bytesForTest())
        let text = try openssl("pkcs12 -in ours.p12 -passin pass:pässwörd -noenc")
        let info = try ExternalProgram.run(
            "openssl", ["pkcs12", "-in", "ours.p12", "-passin", "pass:pässwörd", "-noout", "-info"],
            in: openssl.folder.path)
        #expect(info.errorText.contains("MAC: sha256, Iteration 2000"))
        #expect(info.errorText.components(of: "PBES2, PBKDF2, AES-256-CBC, Iteration 2000, PRF hmacWithSHA256") == 3)
        let blocks = try PEM.blocks(in: Array(text.utf8).span)
        let certificates = try blocks.filter { $0.content == .certificate }.map {
            try X509Certificate(der: $0.publicBytes)
        }
        let keys = blocks.filter { $0.content == .privateKey }.map { $0.bytes.bytesForTest() }
        #expect(try certificates == ["web", "mail", "authority"].map { try certificate($0, openssl) })
        let expectedKeys = try ["web", "mail"].map { try identity($0, openssl).key.pkcs8().bytesForTest() }
        #expect(keys == expectedKeys)
        #expect(text.components(of: "friendlyName: W") == 2)
        #expect(text.components(of: "friendlyName: other") == 2)
        #expect(throws: OpenSSLCommand.Failure.self) { try openssl("pkcs12 -in ours.p12 -passin pass:x -noout") }

        let read = try opened(file.bytesForTest(), "pässwörd")
        #expect(read.identities.map(\.friendlyName) == ["Wéb", "other"])
        #expect(read.identities.map(\.certificate) == Array(certificates.prefix(2)))
        #expect(read.certificates.map(\.value) == Array(certificates.suffix(1)))
    }

    @Test("Both encodings of an empty password open with no passphrase and with an empty one")
    func none() throws {
        let openssl = try Self.prepared()
        let theirs = try openssl.make("pkcs12 -export -inkey mail.key -in mail.pem -passout pass: -out")
        let empty = try PKCS12.make(identities: [identity("mail", openssl)], passphrase: secret(""), iterations: 1)
        var writer = try PKCS12Writer(iterations: 1, form: .null)
        try writer.add(identity("mail", openssl), name: nil, secret(""))
        let null = try writer.finish(secret(""))
        for file in [theirs, empty.bytesForTest(), null.bytesForTest()] {
            #expect(try opened(file, nil).identities.count == 1)
            #expect(try opened(file, "").identities.count == 1)
            #expect(failure(file, "x") == .wrongPassphrase)
        }
    }

    @Test("A key is paired with every certificate that has its public key, and with no other")
    func pairs() throws {
        let openssl = try Self.prepared()
        let authority = try certificate("authority", openssl)
        try openssl("req -new -x509 -key mail.key -out renewed.pem -subj /CN=renewed")
        let renewed = try certificate("renewed", openssl)
        let mail = try identity("mail", openssl)
        let file = try PKCS12.make(
            identities: [PKCS12.Identity(key: mail.key, certificate: renewed, friendlyName: "new"), mail],
            certificates: [authority], passphrase: secret("x"), iterations: 1)
        let contents = try opened(file.bytesForTest(), "x")
        #expect(contents.identities.map(\.certificate) == [renewed, mail.certificate])
        #expect(contents.identities.map(\.friendlyName) == ["new", "new"])
        #expect(contents.certificates.map(\.value) == [authority])

        try openssl("pkcs12 -export -nocerts -inkey web.key -passout pass:x -out keys.p12")
        let keys = try opened(openssl.read("keys.p12"), "x")
        #expect(keys.identities.isEmpty)
        #expect(try keys.keys.map(\.value.publicKey) == [identity("web", openssl).key.publicKey])
        try openssl("pkcs12 -export -nokeys -in web.pem -passout pass:x -out certificates.p12")
        #expect(
            try opened(openssl.read("certificates.p12"), "x").certificates.map(\.value) == [certificate("web", openssl)]
        )
        #expect(throws: CertificateFailure.malformed("a key stands beside the certificate of another")) {
            _ = try PKCS12.make(
                identities: [PKCS12.Identity(key: mail.key, certificate: authority)], passphrase: secret("x"))
        }
    }

    @Test("A file that cannot be authenticated or is not PKCS#12 is refused with the reason")
    func refused() throws {
        let openssl = try Self.prepared()
        let line = "pkcs12 -export -inkey mail.key -in mail.pem -passout pass:x"
        #expect(try failure(openssl.make("\(line) -nomac -out"), "x") == .unsupported("a PKCS#12 file without a MAC"))
        #expect(try failure(openssl.read("mail.pem"), "x") == .unknownFormat)
        #expect(try failure(openssl.read("mail.key.der"), "x") == .unknownFormat)
        #expect(failure([], "x") == .unknownFormat)
        let file = try openssl.make("\(line) -out")
        #expect(failure(file + [0], "x") == .malformed("something follows the end"))
        #expect(failure(file, String(repeating: "x", count: 70_000)) == .tooLarge(limit: .passphraseSize))
        #expect(failure(try remade(file, iterations: [2, 4, 0x7f, 0, 0, 0]), "x") == .tooLarge(limit: .iterations))
        #expect(
            failure(try remade(file, iterations: [2, 1, 0]), "x")
                == .malformed("a number of iterations is not positive"))
        #expect(failure(try remade(file, iterations: []), "x") == .wrongPassphrase)
    }

    @Test("A file that would be refused for its cost is not written")
    func costs() throws {
        let openssl = try Self.prepared()
        let mail = try identity("mail", openssl)
        for (count, iterations, limit) in [
            (1, 10_000_001, CertificateLimit.iterations), (19, 10_000_000, .totalIterations), (5_001, 1, .entryCount),
        ] {
            #expect(throws: CertificateFailure.tooLarge(limit: limit)) {
                _ = try PKCS12.make(
                    identities: Array(repeating: mail, count: count), passphrase: secret("x"), iterations: iterations)
            }
        }
    }

    @Test("A file truncated at any byte is refused")
    func truncated() throws {
        let openssl = try Self.prepared()
        let file = try PKCS12.make(identities: [identity("mail", openssl)], passphrase: secret("x"), iterations: 1)
            .bytesForTest()
        for length in file.indices {
            let reason = failure(Array(file[..<length]), "x")
            #expect(reason == .malformed("not a PKCS#12 file") || length < 11 && reason == .unknownFormat, "\(length)")
        }
    }

    @Test("2,000 altered files are refused or have the original contents")
    func altered() throws {
        let openssl = try Self.prepared()
        let original = try identity("mail", openssl)
        let file = try PKCS12.make(identities: [original], passphrase: secret("x"), iterations: 1).bytesForTest()
        let key = try original.key.pkcs8().bytesForTest()
        #expect(try opened(file, "x").identities.count == 1)
        var random = SeededRandom(seed: 7)
        var same = 0
        for _ in 0..<2_000 {
            var changed = file
            changed[Int.random(in: file.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            guard let contents = try? opened(changed, "x") else { continue }
            same += 1
            #expect(contents.identities.map(\.certificate) == [original.certificate])
            #expect(contents.identities.first?.friendlyName == nil)
            #expect(try contents.identities.first?.key.pkcs8().bytesForTest() == key)
            #expect(contents.certificates.isEmpty && contents.keys.isEmpty && contents.otherCount == 0)
        }
        #expect(same < 20)
    }

    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

    private func opened(_ file: [UInt8], _ passphrase: String?) throws(CertificateFailure) -> PKCS12.Contents {
        guard let passphrase else { return try PKCS12.open(file.span, passphrase: nil) }
        return try PKCS12.open(file.span, passphrase: secret(passphrase))
    }

    private func failure(_ file: [UInt8], _ passphrase: String?) -> CertificateFailure? {
        do throws(CertificateFailure) {
            _ = try opened(file, passphrase)
            return nil
        } catch {
            return error
        }
    }

    private func certificate(_ name: String, _ openssl: OpenSSLCommand) throws -> X509Certificate {
        let pem = try openssl.read(name + ".pem")
        return try X509Certificate(pem: pem.span)
    }

    private func identity(_ name: String, _ openssl: OpenSSLCommand, name friendly: String? = nil) throws
        -> PKCS12.Identity
    {
        let der = try openssl.read(name + ".key.der")
        return PKCS12.Identity(
            key: try PrivateKey(der: der.span), certificate: try certificate(name, openssl), friendlyName: friendly)
    }

    /// The file with a different iteration count in its MAC.
    private func remade(_ file: [UInt8], iterations: [UInt8]) throws -> [UInt8] {
        var outer = DERReader(0..<file.count)
        var parts = DERReader(try outer.expect(DERTag.sequence, in: file.span).content)
        let version = try parts.expect(DERTag.integer, in: file.span)
        let content = try parts.expect(DERTag.sequence, in: file.span)
        var mac = DERReader(try parts.expect(DERTag.sequence, in: file.span).content)
        let digest = try mac.expect(DERTag.sequence, in: file.span)
        let salt = try mac.expect(DERTag.octetString, in: file.span)
        return DER.element(
            DERTag.sequence,
            file[version.whole] + file[content.whole]
                + DER.element(DERTag.sequence, file[digest.whole] + file[salt.whole] + iterations))
    }
}

extension String {
    /// The number of occurrences of `part`.
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
