internal import CKCLibCrypto
internal import KCByteStreams

/// Reads an opened PKCS#12 file: MAC first, then safe by safe, bag by bag.
struct PKCS12Reader {
    private var keys: [PKCS12.Entry<PrivateKey>] = []
    private var certificates: [PKCS12.Entry<X509Certificate>] = []
    private var otherCount = 0
    private var budget = DerivationBudget()

    var contents: PKCS12.Contents {
        PKCS12.Contents(keys: keys, certificates: certificates, otherCount: otherCount)
    }

    /// Reads all of `der`; an empty `passphrase` means none, and `isGiven` says whether the caller gave one.
    mutating func read(
        _ der: borrowing Span<UInt8>, _ passphrase: borrowing SecretBytes, isGiven: Bool
    ) throws(CertificateFailure) {
        let file = unsafe try LibCryptoObject(
            decoding: der, freedBy: { unsafe PKCS12_free($0) }, rule: "not a PKCS#12 file"
        ) { next, count in unsafe d2i_PKCS12(nil, next, count) }
        let form = unsafe try authenticate(file.pointer, passphrase, isGiven: isGiven)
        let safes = unsafe try LibCryptoObject(
            PKCS12_unpack_authsafes(file.pointer), freedBy: { unsafe kcbackup_free_safes($0) },
            else: .malformed("the content of a PKCS#12 file is not safes"))
        for safe in unsafe LibCrypto.elements(of: safes.pointer) {
            unsafe try readSafe(UnsafeMutablePointer<PKCS7>(safe.pointer), form, passphrase)
        }
    }

    /// Finds the form of the passphrase for which the MAC is valid.
    private mutating func authenticate(
        _ file: OpaquePointer, _ passphrase: borrowing SecretBytes, isGiven: Bool
    ) throws(CertificateFailure) -> Passphrase {
        guard unsafe PKCS12_mac_present(file) == 1 else {
            throw LibCrypto.failing(.unsupported("a PKCS#12 file without a MAC"))
        }
        var algorithm: UnsafePointer<X509_ALGOR>?
        var iterations: UnsafePointer<ASN1_INTEGER>?
        unsafe PKCS12_get0_mac(nil, &algorithm, nil, &iterations, file)
        guard let digest = unsafe algorithm?.pointee.algorithm else { throw .malformed("a MAC has no algorithm") }
        let digests = [
            NID_sha1, NID_sha224, NID_sha256, NID_sha384, NID_sha512, NID_sha512_224, NID_sha512_256, NID_md5,
        ]
        guard unsafe digests.contains(OBJ_obj2nid(digest)) else {
            throw unsafe .unsupported("a MAC with " + LibCrypto.name(of: digest))
        }
        for form in passphrase.isEmpty ? [Passphrase.empty, .null] : [.bytes] {
            unsafe try budget.spend(number: iterations)
            ERR_clear_error()
            let status = unsafe try form.with(passphrase) { unsafe PKCS12_verify_mac(file, $0, $1) }
            if status == 1 { return form }
            guard ERR_GET_REASON(ERR_peek_last_error()) != PKCS12_R_MAC_GENERATION_ERROR else {
                throw LibCrypto.failing(.malformed("a MAC cannot be computed"))
            }
        }
        throw isGiven ? .wrongPassphrase : .passphraseRequired
    }

    private mutating func readSafe(
        _ safe: UnsafeMutablePointer<PKCS7>, _ form: Passphrase, _ passphrase: borrowing SecretBytes
    ) throws(CertificateFailure) {
        let bags: OpaquePointer?
        switch unsafe OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data: unsafe bags = PKCS12_unpack_p7data(safe)
        case NID_pkcs7_encrypted: unsafe bags = try decrypted(safe, form, passphrase)
        case NID_pkcs7_enveloped: throw .unsupported("a PKCS#12 file for the holder of a private key")
        default: throw .malformed("a safe of a PKCS#12 file is of an unknown kind")
        }
        let object = unsafe try LibCryptoObject(
            bags, freedBy: { unsafe kcbackup_free_safe_bags($0) }, else: .malformed("a safe does not hold bags"))
        for bag in unsafe LibCrypto.elements(of: object.pointer) {
            unsafe try readBag(bag.pointer, form, passphrase, depth: 1)
        }
    }

    private mutating func decrypted(
        _ safe: UnsafeMutablePointer<PKCS7>, _ form: Passphrase, _ passphrase: borrowing SecretBytes
    ) throws(CertificateFailure) -> OpaquePointer? {
        guard let content = unsafe safe.pointee.d.encrypted?.pointee.enc_data?.pointee,
            let sealed = unsafe content.enc_data
        else { throw .malformed("an encrypted safe has no content") }
        let encryption = unsafe try PasswordBasedEncryption(content.algorithm, budget: &budget)
        // The third argument from the end makes libcrypto wipe the plaintext after decoding.
        let bags = unsafe try form.with(passphrase) { passphrase, length in
            unsafe PKCS12_item_decrypt_d2i_ex(
                content.algorithm, kcbackup_safe_bags_item(), passphrase, length, sealed, 1, encryption.context, nil)
        }
        return OpaquePointer(bags)
    }

    private mutating func readBag(
        _ bag: OpaquePointer, _ form: Passphrase, _ passphrase: borrowing SecretBytes, depth: Int
    ) throws(CertificateFailure) {
        switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
        case NID_keyBag:
            let info = unsafe try LibCrypto.require(PKCS12_SAFEBAG_get0_p8inf(bag), else: .malformed("a bag is empty"))
            unsafe try add(PrivateKey(adopting: PrivateKey.loaded(info)), bag)
        case NID_pkcs8ShroudedKeyBag:
            let sealed = unsafe try LibCrypto.require(
                PKCS12_SAFEBAG_get0_pkcs8(bag), else: .malformed("a bag is empty"))
            unsafe try add(openedKey(sealed, form, passphrase), bag)
        case NID_certBag: unsafe try addCertificate(bag)
        case NID_safeContentsBag:
            try CertificateLimit.nesting.check(depth)
            for inner in unsafe LibCrypto.elements(of: PKCS12_SAFEBAG_get0_safes(bag)) {
                unsafe try readBag(inner.pointer, form, passphrase, depth: depth + 1)
            }
        default: try countOther()
        }
    }

    private mutating func openedKey(
        _ sealed: OpaquePointer, _ form: Passphrase, _ passphrase: borrowing SecretBytes
    ) throws(CertificateFailure) -> PrivateKey {
        do throws(CertificateFailure) {
            return unsafe try PrivateKey(adopting: PrivateKey.opened(sealed, form, passphrase, &budget))
        } catch .wrongPassphrase {
            // The MAC was valid, so the passphrase is right.
            throw .malformed("an encrypted key does not open with the passphrase of its file")
        }
    }

    private mutating func addCertificate(_ bag: OpaquePointer) throws(CertificateFailure) {
        guard unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { return try countOther() }
        // libcrypto gives no access to the bytes of the bag, so trailing bytes after the certificate are not detected.
        let x509 = unsafe try LibCryptoObject(
            PKCS12_SAFEBAG_get1_cert(bag), freedBy: { unsafe X509_free($0) },
            else: .malformed("a bag does not hold an X.509 certificate"))
        let raw = unsafe x509.pointer
        unsafe try add(X509Certificate(der: LibCrypto.encoded { unsafe i2d_X509(raw, $0) }), bag)
    }

    private mutating func add(_ key: PrivateKey, _ bag: OpaquePointer) throws(CertificateFailure) {
        try checkCount()
        unsafe keys.append(PKCS12.Entry(value: key, friendlyName: bag.friendlyName, localKeyID: bag.localKeyID))
    }

    private mutating func add(_ certificate: X509Certificate, _ bag: OpaquePointer) throws(CertificateFailure) {
        try checkCount()
        unsafe certificates.append(
            PKCS12.Entry(value: certificate, friendlyName: bag.friendlyName, localKeyID: bag.localKeyID))
    }

    private mutating func countOther() throws(CertificateFailure) {
        try checkCount()
        otherCount += 1
    }

    private func checkCount() throws(CertificateFailure) {
        try CertificateLimit.entryCount.check(keys.count + certificates.count + otherCount + 1)
    }
}

/// Accessors of a `PKCS12_SAFEBAG`.
extension OpaquePointer {
    fileprivate var friendlyName: String? {
        guard let name = unsafe PKCS12_get_friendlyname(self) else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe CRYPTO_free(name, nil, 0) }
        return unsafe String(validatingCString: name)
    }

    fileprivate var localKeyID: [UInt8]? {
        guard let value = unsafe PKCS12_SAFEBAG_get0_attr(self, NID_localKeyID),
            unsafe value.pointee.type == V_ASN1_OCTET_STRING, let octets = unsafe value.pointee.value.octet_string
        else { return nil }
        return unsafe UnsafePointer(octets).octets
    }
}
