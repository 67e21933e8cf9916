import KCByteStreams
import KCTestSupport
import Testing

@testable import KCCryptography

@Suite(.waitsForPrograms) struct PrivateKeyTests {
    /// The options for `openssl genpkey`, and the kind and size of the key.
    static let kinds: [(options: String, kind: KeyKind, bits: Int)] = [
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:1024", .rsa, 1024),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", .ec, 256),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", .ec, 384),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-521", .ec, 521), ("-algorithm ED25519", .ed25519, 256),
        ("-algorithm X25519", .x25519, 256), ("-algorithm ED448", .ed448, 456), ("-algorithm X448", .x448, 448),
    ]

    private func key(
        _ bytes: [UInt8], _ passphrase: String? = nil
    ) throws(CertificateFailure) -> PrivateKey {
        let text = passphrase.map { Array($0.utf8) }
        switch (PEM.isPEM(bytes.span), text) {
        case (false, nil): return try PrivateKey(der: bytes.span)
        case (false, let text?): return try PrivateKey(der: bytes.span, passphrase: SecretBytes(text.span))
        case (true, nil): return try PrivateKey(pem: bytes.span)
        case (true, let text?): return try PrivateKey(pem: bytes.span, passphrase: SecretBytes(text.span))
        }
    }

    private func failure(_ bytes: [UInt8], _ passphrase: String? = nil) -> CertificateFailure? {
        do throws(CertificateFailure) {
            _ = try key(bytes, passphrase)
            return nil
        } catch {
            return error
        }
    }

    @Test("Keys of every kind are read and written as openssl does", arguments: kinds)
    func kind(options: String, kind: KeyKind, bits: Int) throws {
        let openssl = try OpenSSLCommand()
        try openssl("genpkey -quiet -out key.pem \(options)")
        let pem = try openssl.read("key.pem")
        let der = try openssl.make("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out")
        let spki = try openssl.make("pkey -in key.pem -pubout -outform DER -out")
        let read = try key(der)
        #expect(try key(pem).publicKey == read.publicKey)
        #expect(read.kind == kind)
        #expect(read.sizeInBits == bits)
        #expect(read.publicKey.subjectPublicKeyInfo == spki)
        #expect(try PublicKey(der: spki) == read.publicKey)
        #expect(try read.pkcs8().bytesForTest() == der)

        let external = try read.externalRepresentation()
        let again = try PrivateKey(externalRepresentation: external, kind: kind)
        #expect(try again.pkcs8().bytesForTest() == der)
        let externalBytes = external.bytesForTest()
        if kind == .ec {
            let point = read.publicKey.externalRepresentation
            #expect(point.first == 4)
            #expect(externalBytes.count == 1 + 3 * ((bits + 7) / 8))
            #expect(externalBytes.starts(with: point))
        }
        if kind == .rsa || kind == .ec {
            let traditional = try openssl.make("pkey -traditional -in key.pem -outform DER -out")
            #expect(try read.traditional().bytesForTest() == traditional)
            #expect(try key(traditional).publicKey == read.publicKey)
            if kind == .rsa { #expect(externalBytes == traditional) }
        } else {
            #expect(externalBytes == der.suffix(externalBytes.count))
            #expect(throws: CertificateFailure.self) { _ = try read.traditional() }
        }
    }

    @Test("The hash of the public key is the key identifier that openssl computes")
    func hash() throws {
        let openssl = try OpenSSLCommand()
        for name in ["authority", "web", "mail"] {
            let text = try openssl("x509 -in \(name).pem -noout -ext subjectKeyIdentifier")
            let digits = text.split(separator: "\n").last?.filter(\.isHexDigit).lowercased()
            #expect(try Hexadecimal.encode(key(openssl.read(name + ".key.der")).publicKeyHash) == digits)
        }
    }

    @Test(
        "An encrypted key opens only with its passphrase",
        arguments: [
            "pkcs8 -topk8 -in key -out made", "pkcs8 -topk8 -in key -outform DER -out made",
            "pkcs8 -topk8 -v2 des3 -in key -out made", "pkcs8 -topk8 -scrypt -in key -outform DER -out made",
            "pkcs8 -topk8 -v2prf hmacWithSHA512 -iter 5000 -in key -out made",
            "pkcs8 -topk8 -v1 PBE-SHA1-3DES -in key -out made",
            "pkcs8 -topk8 -v1 PBE-MD5-DES -provider legacy -provider default -in key -out made",
            "pkcs8 -topk8 -v1 PBE-SHA1-RC2-40 -provider legacy -provider default -in key -out made",
            "ec -aes256 -in key -out made", "ec -des3 -in key -out made",
        ])
    func encrypted(line: String) throws {
        let openssl = try OpenSSLCommand()
        try openssl("pkey -inform DER -in mail.key.der -out key")
        try openssl(line + " -passout pass:right")
        let bytes = try openssl.read("made")
        let original = try key(openssl.read("mail.key.der"))
        #expect(try key(bytes, "right").pkcs8().bytesForTest() == original.pkcs8().bytesForTest())
        #expect(failure(bytes) == .passphraseRequired)
        // Among this many wrong passphrases, some happen to decrypt to valid padding.
        for number in 0..<100 where !line.contains("scrypt") || number < 3 {
            #expect(failure(bytes, "wrong\(number)") == .wrongPassphrase)
        }
        #expect(failure(bytes, "") == .wrongPassphrase)
        #expect(failure(bytes, String(repeating: "x", count: 70_000)) == .tooLarge(limit: .passphraseSize))
    }

    @Test("openssl opens our encrypted key, but only with its passphrase")
    func encryptedByUs() throws {
        let openssl = try OpenSSLCommand()
        let original = try key(openssl.read("web.key.der"))
        let sealed = try original.encryptedPKCS8(
            passphrase: SecretBytes(copying: "pässword".utf8), iterations: 2_000)
        try openssl.folder.write("ours", sealed.bytesForTest())
        let opened = try openssl.make("pkey -inform DER -in ours -passin pass:pässword -outform DER -out")
        #expect(try key(opened).publicKey == original.publicKey)
        #expect(throws: OpenSSLCommand.Failure.self) { try openssl("pkey -inform DER -in ours -passin pass:x -out x") }
        #expect(throws: CertificateFailure.tooLarge(limit: .iterations)) {
            _ = try original.encryptedPKCS8(passphrase: SecretBytes(capacity: 0), iterations: 10_000_001)
        }
        #expect(throws: CertificateFailure.self) {
            _ = try original.encryptedPKCS8(passphrase: SecretBytes(capacity: 0), iterations: 0)
        }
    }

    @Test("Costs stated in a file are checked against limits before any work is done")
    func costs() {
        func sealed(_ derivation: [UInt8], _ parameters: [UInt8]) -> [UInt8] {
            let aes = DER.element(
                DERTag.sequence,
                [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42, 4, 16] + [UInt8](repeating: 0, count: 16))
            let kdf = DER.element(
                DERTag.sequence,
                DER.element(DERTag.objectIdentifier, derivation) + DER.element(DERTag.sequence, parameters))
            let pbes2 = DER.element(
                DERTag.sequence,
                [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13] + DER.element(DERTag.sequence, kdf + aes))
            return DER.element(
                DERTag.sequence, pbes2 + DER.element(DERTag.octetString, [UInt8](repeating: 0, count: 32)))
        }
        let pbkdf2: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 12]
        let scrypt: [UInt8] = [0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11]
        let salt: [UInt8] = [4, 8, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(failure(sealed(pbkdf2, salt + [2, 1, 1]), "x") == .wrongPassphrase)
        #expect(failure(sealed(pbkdf2, salt + [2, 4, 0x7f, 0, 0, 0]), "x") == .tooLarge(limit: .iterations))
        #expect(
            failure(sealed(pbkdf2, salt + [2, 9, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0]), "x")
                == .malformed("a number is out of range"))
        #expect(failure(sealed(pbkdf2, salt + [2, 1, 0]), "x") == .malformed("a number of iterations is not positive"))
        #expect(
            failure(sealed(pbkdf2, salt + [2, 1, 0xff]), "x") == .malformed("a number of iterations is not positive"))
        #expect(failure(sealed(scrypt, salt + [2, 1, 2, 2, 1, 1, 2, 1, 1]), "x") == .wrongPassphrase)
        #expect(
            failure(sealed(scrypt, salt + [2, 3, 4, 0, 0, 2, 1, 8, 2, 1, 8]), "x") == .tooLarge(limit: .scryptWork))
        #expect(
            failure(sealed(scrypt, salt + [2, 3, 4, 0, 0, 2, 1, 8, 2, 1, 1]), "x") == .tooLarge(limit: .scryptMemory))
        #expect(
            failure(sealed(scrypt, salt + [2, 1, 0, 2, 1, 8, 2, 1, 1]), "x")
                == .malformed("a parameter of scrypt is not positive"))
        #expect(failure(sealed([0x2a, 3], salt), "x") == .unsupported("1.2.3"))
    }

    @Test("A missing public half of an elliptic curve key is computed, and a present one must match")
    func halves() throws {
        let number = [UInt8](repeating: 7, count: 32)
        let curve: [UInt8] = [0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]
        let without = DER.element(DERTag.sequence, [2, 1, 1] + DER.element(DERTag.octetString, number) + curve)
        let whole = try key(without)
        #expect(whole.publicKey.externalRepresentation.count == 65)
        var external = try whole.externalRepresentation()
        external.withMutableBytes { $0[96] ^= 1 }
        #expect(throws: CertificateFailure.malformed("the public half does not belong to the private key")) {
            try PrivateKey(externalRepresentation: external, kind: .ec)
        }
        external.withMutableBytes { $0[1] ^= 1 }
        #expect(throws: CertificateFailure.self) { try PrivateKey(externalRepresentation: external, kind: .ec) }
        for kind in [KeyKind.rsa, .ec, .ed25519, .x25519, .ed448, .x448, .other("x")] {
            #expect(throws: CertificateFailure.self) {
                try PrivateKey(externalRepresentation: SecretBytes(copying: [1, 2, 3]), kind: kind)
            }
        }
    }

    @Test("A key on another curve is read and written, except in the form that does not name the curve")
    func otherCurve() throws {
        let openssl = try OpenSSLCommand()
        try openssl("genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP256r1 -out key")
        let read = try key(openssl.read("key"))
        #expect(read.kind == .ec)
        #expect(try key(read.pkcs8().bytesForTest()).publicKey == read.publicKey)
        #expect(throws: CertificateFailure.self) { _ = try read.externalRepresentation() }
    }

    @Test("A key with a compressed point is the same key")
    func compressed() throws {
        let openssl = try OpenSSLCommand()
        try openssl("pkey -inform DER -in mail.key.der -out key")
        let long = try key(openssl.read("mail.key.der"))
        let short = try openssl.make("ec -in key -conv_form compressed -pubout -outform DER -out")
        let shortKey = try PublicKey(der: short)
        #expect(shortKey.externalRepresentation.count == 33)
        #expect(shortKey.hash != long.publicKeyHash)
        #expect(shortKey.identity == long.publicKey.identity)
        let readAgain = try key(openssl.make("ec -in key -conv_form compressed -outform DER -out"))
        #expect(readAgain.publicKey == long.publicKey)
    }

    @Test("Anything but exactly one complete key is refused", arguments: ["mail", "web", "authority"])
    func notOne(name: String) throws {
        let openssl = try OpenSSLCommand()
        let der = try openssl.read(name + ".key.der")
        for length in der.indices { #expect(failure(Array(der[..<length])) != nil, "\(length)") }
        #expect(failure(der + [0]) == .malformed("something follows the end"))
        #expect(failure([]) == .unknownFormat)
        #expect(try failure(openssl.read(name + ".pem")) == .unsupported("CERTIFICATE"))
        #expect(throws: CertificateFailure.self) { try PublicKey(der: der) }
    }

    @Test("2,000 altered keys are refused or are valid keys", arguments: ["mail", "web"])
    func altered(name: String) throws {
        let der = try OpenSSLCommand().read(name + ".key.der")
        var random = SeededRandom(seed: 42)
        var refused = 0
        for _ in 0..<2_000 {
            var changed = der
            changed[Int.random(in: der.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            guard let read = try? key(changed) else {
                refused += 1
                continue
            }
            _ = try read.pkcs8()
        }
        // Changing nearly any bit of an elliptic curve key is detected. A changed bit of an RSA key is often
        // undetectable.
        #expect(refused > (name == "mail" ? 1_500 : 10))
    }
}
