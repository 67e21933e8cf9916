import KCByteStreams
import KCCertificateItems
import KCCryptography
import KCKeychainModel
import KCTestSupport
import Testing

@Suite(.waitsForPrograms) struct ImportedItemsTests {
    private let openssl: OpenSSLCommand

    init() throws {
        openssl = try OpenSSLCommand()
    }

    private func read(_ bytes: [UInt8], _ passphrase: String? = nil) throws(CertificateFailure) -> ImportedItems {
        guard let passphrase else { return try ImportedItems(reading: bytes.span, passphrase: nil) }
        return try ImportedItems(reading: bytes.span, passphrase: SecretBytes(copying: passphrase.utf8))
    }

    private func failure(_ bytes: [UInt8], _ passphrase: String? = nil) -> CertificateFailure? {
        do throws(CertificateFailure) {
            _ = try read(bytes, passphrase)
            return nil
        } catch {
            return error
        }
    }

    /// The classes of `items`, such as `keys cert`.
    private func classes(_ items: ImportedItems) -> String {
        items.items.map(\.draft.itemClass.rawValue).joined(separator: " ")
    }

    /// A sample key in PEM form.
    private func pem(key name: String, _ options: String = "") throws -> [UInt8] {
        try openssl.make("pkey -inform DER -in \(name).key.der \(options) -out")
    }

    @Test("Every format yields the same items")
    func formats() throws {
        let certificateDER = try openssl.make("x509 -in mail.pem -outform DER -out")
        let certificates = try [
            certificateDER, openssl.read("mail.pem"), openssl.make("crl2pkcs7 -nocrl -certfile mail.pem -out"),
            openssl.make("crl2pkcs7 -nocrl -certfile mail.pem -outform DER -out"),
            openssl.make("pkcs12 -export -nokeys -in mail.pem -passout pass: -out"),
        ]
        for file in certificates {
            let items = try read(file)
            #expect(classes(items) == "cert")
            #expect(items.items.first?.secret.bytesForTest() == certificateDER)
            #expect(try items.items.first?.draft == ItemDraft(certificate: X509Certificate(der: certificateDER)))
            #expect((items.keyCount, items.certificateCount, items.identityCount) == (0, 1, 0))
            #expect(items.skipped.isEmpty)
        }
        let der = try openssl.read("mail.key.der")
        let external = try PrivateKey(der: der.span).externalRepresentation().bytesForTest()
        let keys = try [
            der, pem(key: "mail"), pem(key: "mail", "-traditional"), pem(key: "mail", "-traditional -outform DER"),
            openssl.make("pkcs8 -topk8 -inform DER -in mail.key.der -passout pass:p -out"),
            openssl.make("pkcs8 -topk8 -inform DER -in mail.key.der -passout pass:p -outform DER -out"),
        ]
        for file in keys {
            let items = try read(file, "p")
            #expect(classes(items) == "keys")
            #expect(items.items.first?.secret.bytesForTest() == external)
            #expect(items.items.first?.draft.attributes.text(.labl) == "Imported Private Key")
            #expect((items.keyCount, items.certificateCount, items.identityCount) == (1, 0, 0))
        }
        for form in ["PEM", "DER"] {
            let items = try read(pem(key: "mail", "-pubout -outform \(form)"))
            #expect(items.items.first?.draft.attributes.number(.kcls) == 0)
            #expect(items.items.first?.secret.bytesForTest() == Array(external.prefix(65)))
            #expect(items.identityCount == 0)
        }
    }

    @Test("A PKCS#12 identity becomes a key and a certificate linked by the hash of the public key")
    func identity() throws {
        try openssl.folder.write("key", pem(key: "web"))
        let line = "pkcs12 -export -inkey key -in web.pem -certfile authority.pem -name site -passout pass:p -out"
        let items = try read(openssl.make(line), "p")
        #expect(classes(items) == "keys cert cert")
        let pair = try #require(items.identities.first)
        #expect(items.identities == [IdentityPair(key: 0, certificate: 1)])
        let key = items.items[pair.key].draft.attributes
        let certificate = items.items[pair.certificate].draft.attributes
        #expect(key[.klbl] == certificate[.pkhh])
        #expect(key.text(.labl) == "site")
        #expect(certificate.text(.labl) == "www.example.com")
        #expect(items.items[2].draft.attributes.text(.labl) == "kcbackup Sample Root (do not trust)")
        #expect(items.items[pair.key].secret.bytesForTest() == (try openssl.read("web.key.der")))
    }

    @Test("A PEM bundle yields each key, certificate and pair once, and reports what it skips")
    func bundle() throws {
        let parameters = try openssl.make("ecparam -name prime256v1 -out")
        let bundle =
            try openssl.read("authority.pem") + openssl.read("mail.pem") + pem(key: "mail") + parameters
            + pem(key: "web", "-pubout") + openssl.read("mail.pem") + pem(key: "mail", "-traditional")
        let items = try read(bundle)
        #expect(classes(items) == "keys keys cert cert")
        #expect(items.items.map { $0.draft.attributes.number(.kcls) } == [1, 0, nil, nil])
        #expect((items.keyCount, items.certificateCount) == (2, 2))
        #expect(items.identities == [IdentityPair(key: 0, certificate: 3)])
        #expect(items.items[0].draft.attributes.text(.labl) == "mail.example.org")
        #expect(items.skipped == ["EC PARAMETERS"])
    }

    @Test("A certificate with a compressed public key is still paired with its key")
    func compressed() throws {
        try openssl.folder.write("long", pem(key: "mail"))
        try openssl("ec -in long -conv_form compressed -out short")
        try openssl("req -new -x509 -key short -subj /CN=short -out short.pem")
        let items = try read(openssl.read("short.pem") + pem(key: "mail"))
        #expect(items.identityCount == 1)
        #expect(items.items[0].draft.attributes[.klbl] == items.items[1].draft.attributes[.pkhh])
        let der = try openssl.read("mail.key.der")
        let hash = try PrivateKey(der: der.span).publicKeyHash
        #expect(items.items[0].draft.attributes[.klbl] != .data(hash))
    }

    @Test("Unreadable input is refused with the reason, and nothing of it is imported")
    func refused() throws {
        #expect(failure([]) == .unknownFormat)
        #expect(failure(Array("hello\n".utf8)) == .unknownFormat)
        #expect(failure([0x30, 0]) == .unknownFormat)
        #expect(try failure(openssl.read("symmetric-2025.key")) == .unknownFormat)
        #expect(try failure(openssl.make("ecparam -name prime256v1 -out")) == .unsupported("EC PARAMETERS"))
        let sealed = try openssl.make("pkcs8 -topk8 -inform DER -in mail.key.der -passout pass:p -out")
        #expect(failure(sealed) == .passphraseRequired)
        #expect(failure(sealed, "q") == .wrongPassphrase)
        #expect(try failure(openssl.read("mail.pem") + sealed) == .passphraseRequired)
        #expect(try failure(openssl.read("mail.pem") + Array("-----BEGIN".utf8)) != nil)
        let certificate = try openssl.make("x509 -in mail.pem -outform DER -out")
        for length in certificate.indices { #expect(failure(Array(certificate[..<length])) != nil) }
        let bundle = try openssl.make("crl2pkcs7 -nocrl -certfile mail.pem -certfile web.pem -outform DER -out")
        #expect(try read(bundle).certificateCount == 2)
        for length in bundle.indices { #expect(failure(Array(bundle[..<length])) != nil) }
        for options in ["", " -pubout"] {
            let curve = "genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -out"
            try openssl.folder.write("other", openssl.make(curve))
            let key = try openssl.make("pkey -in other\(options) -out")
            #expect(failure(key) == .unsupported("a key on a curve that a keychain cannot name"))
        }
        let other = try openssl.make("genpkey -quiet -algorithm SM2 -out")
        #expect(failure(other) == .unsupported("a kind of key that a keychain has no number for"))
    }

    @Test("2,000 altered bundles are refused or yield complete items")
    func altered() throws {
        let bundle = try openssl.read("mail.pem") + pem(key: "mail")
        var random = SeededRandom(seed: 9)
        for _ in 0..<2_000 {
            var changed = bundle
            changed[Int.random(in: bundle.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            guard let items = try? read(changed) else { continue }
            #expect(items.items.count == items.keyCount + items.certificateCount)
            #expect(items.items.allSatisfy { !$0.secret.isEmpty })
        }
    }
}

extension ImportedItems {
    fileprivate var keyCount: Int { items.count { $0.draft.itemClass == .key } }
    fileprivate var certificateCount: Int { items.count { $0.draft.itemClass == .certificate } }
    fileprivate var identityCount: Int { identities.count }
}
