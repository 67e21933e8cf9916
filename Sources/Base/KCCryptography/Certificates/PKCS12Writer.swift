internal import CKCLibCrypto
package import KCByteStreams

extension PKCS12 {
    /// The default number of iterations of each key derivation.
    package static let defaultIterations = 100_000

    /// Creates a file: AES-256-CBC under PBKDF2 with HMAC-SHA-256 (PBES2) for the certificates and for each key, and an
    /// HMAC-SHA-256 over everything.
    ///
    /// The local ID of each identity's key and certificate is the SHA-1 of the certificate. `friendlyName` names
    /// identities without a name. A key that occurs twice is written once.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if key and certificate do not match; `tooLarge`; `library`).
    package static func make(
        identities: [Identity], certificates: [X509Certificate] = [], passphrase: borrowing SecretBytes,
        friendlyName: String? = nil, iterations: Int = defaultIterations
    ) throws(CertificateFailure) -> SecretBytes {
        try CertificateLimit.entryCount.check(2 * identities.count + certificates.count)
        defer { ERR_clear_error() }
        // Each key needs a derivation, and so do the certificates and the MAC; the reader must accept the total.
        try CertificateLimit.iterations.check(iterations)
        try CertificateLimit.totalIterations.check((identities.count + 2) * iterations)
        var writer = try PKCS12Writer(iterations: iterations)
        for identity in identities {
            guard identity.key.publicKey.identity == identity.certificate.publicKey.identity else {
                throw .malformed("a key stands beside the certificate of another")
            }
            try writer.add(identity, name: identity.friendlyName ?? friendlyName, passphrase)
        }
        for certificate in certificates { try writer.add(certificate, name: nil, id: nil) }
        return try writer.finish(passphrase)
    }
}

/// The two safes of a file that is being written.
struct PKCS12Writer: ~Copyable {
    private let keyBags: LibCryptoObject
    private let certificateBags: LibCryptoObject
    private let iterations: Int32
    private let form: Passphrase
    private var written: Set<PublicKey.Identity> = []

    /// `form` selects how other programs write "no passphrase"; this program writes the given text, even if it is
    /// empty.
    init(iterations: Int, form: Passphrase = .bytes) throws(CertificateFailure) {
        let cost = try CertificateLimit.iterations.checkedCount(iterations)
        let keys = try Self.bags()
        let certificates = try Self.bags()
        keyBags = keys
        certificateBags = certificates
        self.iterations = cost
        self.form = form
    }

    private static func bags() throws(CertificateFailure) -> LibCryptoObject {
        unsafe try LibCryptoObject(
            OPENSSL_sk_new_null(), freedBy: { unsafe kcbackup_free_safe_bags($0) }, else: .library("making a safe"))
    }

    mutating func add(
        _ identity: PKCS12.Identity, name: String?, _ passphrase: borrowing SecretBytes
    ) throws(CertificateFailure) {
        let id = identity.certificate.sha1
        try add(identity.certificate, name: name, id: id)
        guard written.insert(identity.key.publicKey.identity).inserted else { return }
        let info = unsafe try LibCryptoObject(
            EVP_PKEY2PKCS8(identity.key.pointer), freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) },
            else: .library("encoding a key"))
        var salt = try PrivateKey.salt()
        let cost = iterations
        let plain = unsafe info.pointer
        let bag = unsafe try form.with(passphrase) { passphrase, length in
            unsafe PKCS12_SAFEBAG_create_pkcs8_encrypt_ex(
                NID_aes_256_cbc, passphrase, length, &salt, Int32(salt.count), cost, plain, nil, nil)
        }
        unsafe try Self.append(bag, to: keyBags.pointer, name: name, id: id)
    }

    func add(_ certificate: X509Certificate, name: String?, id: [UInt8]?) throws(CertificateFailure) {
        let x509 = unsafe try LibCryptoObject(
            decoding: certificate.der.span, freedBy: { unsafe X509_free($0) }, rule: "not an X.509 certificate"
        ) { next, count in unsafe d2i_X509(nil, next, count) }
        let bag = unsafe PKCS12_SAFEBAG_create_cert(x509.pointer)
        unsafe try Self.append(bag, to: certificateBags.pointer, name: name, id: id)
    }

    /// Appends a bag with its attributes to its safe.
    private static func append(
        _ bag: OpaquePointer?, to bags: OpaquePointer, name: String?, id: [UInt8]?
    ) throws(CertificateFailure) {
        let failure = CertificateFailure.library("making a bag")
        let bag = unsafe try LibCrypto.require(bag, else: failure)
        var isNamed = true
        if var name = name.map({ Array($0.utf8CString) }), name.count > 1 {
            isNamed = unsafe PKCS12_add_friendlyname_utf8(bag, &name, Int32(name.count - 1)) == 1
        }
        if var id { isNamed = unsafe PKCS12_add_localkeyid(bag, &id, Int32(id.count)) == 1 && isNamed }
        guard isNamed, unsafe OPENSSL_sk_push(bags, UnsafeRawPointer(bag)) > 0 else {
            unsafe PKCS12_SAFEBAG_free(bag)
            throw LibCrypto.failing(failure)
        }
    }

    /// Encrypts the certificates, puts both safes into a file and adds the MAC.
    func finish(_ passphrase: borrowing SecretBytes) throws(CertificateFailure) -> SecretBytes {
        let failure = CertificateFailure.library("making a PKCS#12 file")
        let safes = unsafe try LibCryptoObject(
            OPENSSL_sk_new_null(), freedBy: { unsafe kcbackup_free_safes($0) }, else: failure)
        var salt = try PrivateKey.salt()
        let cost = iterations
        let certificates = unsafe certificateBags.pointer
        if unsafe OPENSSL_sk_num(certificates) > 0 {
            let safe = unsafe try form.with(passphrase) { passphrase, length in
                unsafe PKCS12_pack_p7encdata_ex(
                    NID_aes_256_cbc, passphrase, length, &salt, Int32(salt.count), cost, certificates, nil, nil)
            }
            unsafe try Self.append(safe, to: safes.pointer)
        }
        if unsafe OPENSSL_sk_num(keyBags.pointer) > 0 {
            unsafe try Self.append(PKCS12_pack_p7data(keyBags.pointer), to: safes.pointer)
        }
        let file = unsafe try LibCryptoObject(
            PKCS12_init(NID_pkcs7_data), freedBy: { unsafe PKCS12_free($0) }, else: failure)
        let raw = unsafe file.pointer
        try LibCrypto.check(unsafe PKCS12_pack_authsafes(raw, safes.pointer), else: failure)
        salt = try PrivateKey.salt()
        let status = unsafe try form.with(passphrase) { passphrase, length in
            unsafe PKCS12_set_mac(raw, passphrase, length, &salt, Int32(salt.count), cost, EVP_sha256())
        }
        try LibCrypto.check(status, else: failure)
        return unsafe try LibCrypto.encodedSecret { unsafe i2d_PKCS12(raw, $0) }
    }

    private static func append(
        _ safe: UnsafeMutablePointer<PKCS7>?, to safes: OpaquePointer
    ) throws(CertificateFailure) {
        let failure = CertificateFailure.library("making a safe")
        let safe = unsafe try LibCrypto.require(safe, else: failure)
        guard unsafe OPENSSL_sk_push(safes, UnsafeRawPointer(safe)) > 0 else {
            unsafe PKCS7_free(safe)
            throw LibCrypto.failing(failure)
        }
    }
}
