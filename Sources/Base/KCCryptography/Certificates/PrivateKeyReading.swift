internal import CKCLibCrypto
package import KCByteStreams

extension PrivateKey {
    /// Reads a key in DER: PKCS#8 (encrypted or not), PKCS#1 or SEC 1.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat` for anything else; `passphraseRequired` and `wrongPassphrase`
    ///   for an encrypted key; `malformed`, `unsupported`, `tooLarge`).
    package convenience init(
        der: borrowing Span<UInt8>, passphrase: borrowing SecretBytes? = nil
    ) throws(CertificateFailure) {
        var budget = DerivationBudget()
        try self.init(der: der, passphrase: passphrase, budget: &budget)
    }

    convenience init(
        der: borrowing Span<UInt8>, passphrase: borrowing SecretBytes?, budget: inout DerivationBudget
    ) throws(CertificateFailure) {
        try CertificateLimit.fileSize.check(der.count)
        defer { ERR_clear_error() }
        switch CertificateFormat(of: der) {
        case .pkcs8: unsafe try self.init(adopting: Self.pkcs8(der))
        case .pkcs1: unsafe try self.init(adopting: Self.traditional(der, EVP_PKEY_RSA))
        case .sec1: unsafe try self.init(adopting: Self.traditional(der, EVP_PKEY_EC))
        case .encryptedPKCS8:
            switch passphrase {
            case .some(let passphrase): unsafe try self.init(adopting: Self.encrypted(der, passphrase, &budget))
            case .none: throw .passphraseRequired
            }
        default: throw .unknownFormat
        }
    }

    /// Reads the only private key of a PEM text; apart from it, only curve parameters are allowed.
    ///
    /// - Throws: `CertificateFailure`, as for DER.
    package convenience init(
        pem: borrowing Span<UInt8>, passphrase: borrowing SecretBytes? = nil
    ) throws(CertificateFailure) {
        let blocks = try PEM.blocks(in: pem).filter { $0.label != "EC PARAMETERS" }
        guard let block = blocks.first else { throw .unknownFormat }
        guard blocks.count == 1 else { throw .malformed("the text is not one private key") }
        var budget = DerivationBudget()
        try self.init(block: block, passphrase: passphrase, budget: &budget)
    }

    /// Reads a block that holds a private key.
    convenience init(
        block: PEM.Block, passphrase: borrowing SecretBytes?, budget: inout DerivationBudget
    ) throws(CertificateFailure) {
        guard block.content == .privateKey else { throw .unsupported(block.label) }
        if block.headers.isEmpty {
            try self.init(block.bytes, passphrase: passphrase, budget: &budget)
            return
        }
        guard block.headers.contains("ENCRYPTED") else { throw .unsupported("header lines in a block of PEM") }
        switch passphrase {
        case .none: throw .passphraseRequired
        case .some(let passphrase):
            let plain = try TraditionalEncryption.open(block, passphrase)
            do throws(CertificateFailure) {
                try self.init(plain, passphrase: nil, budget: &budget)
            } catch {
                // About every 256th wrong passphrase results in valid padding, but the bytes are then not a key.
                switch error {
                case .malformed, .unknownFormat, .passphraseRequired: throw .wrongPassphrase
                default: throw error
                }
            }
        }
    }

    private convenience init(
        _ bytes: borrowing SecretBytes, passphrase: borrowing SecretBytes?, budget: inout DerivationBudget
    ) throws(CertificateFailure) {
        try self.init(
            sharing: bytes.withBytes { span throws(CertificateFailure) in
                try PrivateKey(der: span, passphrase: passphrase, budget: &budget)
            })
    }

    private static func pkcs8(_ der: borrowing Span<UInt8>) throws(CertificateFailure) -> OpaquePointer {
        let info = unsafe try LibCryptoObject(
            decoding: der, freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) }, rule: "not a private key in PKCS#8"
        ) { next, count in unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, next, count) }
        return unsafe try loaded(info.pointer)
    }

    /// Loads a `PrivateKeyInfo`.
    static func loaded(_ info: OpaquePointer) throws(CertificateFailure) -> OpaquePointer {
        if let key = unsafe EVP_PKCS82PKEY(info) { return unsafe key }
        ERR_clear_error()
        var algorithm: OpaquePointer?
        guard unsafe PKCS8_pkey_get0(&algorithm, nil, nil, nil, info) == 1 else {
            throw LibCrypto.failing(.malformed("not a private key in PKCS#8"))
        }
        let known = [EVP_PKEY_RSA, EVP_PKEY_EC, EVP_PKEY_ED25519, EVP_PKEY_X25519, EVP_PKEY_ED448, EVP_PKEY_X448]
        guard unsafe known.contains(OBJ_obj2nid(algorithm)) else {
            throw unsafe .unsupported("a private key of " + LibCrypto.name(of: algorithm))
        }
        throw .malformed("the numbers of a private key are not one")
    }

    private static func traditional(
        _ der: borrowing Span<UInt8>, _ kind: Int32
    ) throws(CertificateFailure) -> OpaquePointer {
        var reader = DERReader(0..<der.count)
        _ = try reader.expect(DERTag.sequence, in: der)
        try reader.expectEnd()
        let key: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe d2i_PrivateKey(kind, nil, &next, buffer.count)
        }
        return unsafe try LibCrypto.require(key, else: .malformed("the numbers of a private key are not one"))
    }

    private static func encrypted(
        _ der: borrowing Span<UInt8>, _ passphrase: borrowing SecretBytes, _ budget: inout DerivationBudget
    ) throws(CertificateFailure) -> OpaquePointer {
        let sealed = unsafe try LibCryptoObject(
            decoding: der, freedBy: { unsafe X509_SIG_free($0) }, rule: "not an encrypted private key in PKCS#8"
        ) { next, count in unsafe d2i_X509_SIG(nil, next, count) }
        return unsafe try opened(sealed.pointer, .bytes, passphrase, &budget)
    }

    /// Decrypts an `EncryptedPrivateKeyInfo` and loads the key.
    static func opened(
        _ sealed: OpaquePointer, _ form: Passphrase, _ passphrase: borrowing SecretBytes,
        _ budget: inout DerivationBudget
    ) throws(CertificateFailure) -> OpaquePointer {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(sealed, &algorithm, nil)
        let encryption = unsafe try PasswordBasedEncryption(algorithm, budget: &budget)
        let info = unsafe try form.with(passphrase) { passphrase, length in
            unsafe PKCS8_decrypt_ex(sealed, passphrase, length, encryption.context, nil)
        }
        // There is no MAC: a wrong passphrase shows up as bad padding or as bytes that are not a key.
        let object = unsafe try LibCryptoObject(
            info, freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) }, else: .wrongPassphrase)
        return unsafe try loaded(object.pointer)
    }
}

/// Reads the private keys of one text, whose key derivations share one budget.
package struct PEMKeyReader: Sendable {
    private var budget = DerivationBudget()

    /// Creates a reader with a fresh budget.
    package init() {}

    /// Reads one block.
    ///
    /// - Throws: `CertificateFailure`, as `PrivateKey.init(der:passphrase:)`.
    package mutating func read(
        _ block: PEM.Block, passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) -> PrivateKey {
        try PrivateKey(block: block, passphrase: passphrase, budget: &budget)
    }
}

/// The encryption of OpenSSL's traditional PEM blocks (`DEK-Info`): MD5, one iteration; read, never written.
enum TraditionalEncryption {
    /// Decrypts the bytes of a block.
    static func open(
        _ block: PEM.Block, _ passphrase: borrowing SecretBytes
    ) throws(CertificateFailure) -> SecretBytes {
        try CertificateLimit.passphraseSize.check(passphrase.count)
        var cipher = unsafe EVP_CIPHER_INFO()
        var headers = Array(block.headers.utf8CString)
        guard unsafe PEM_get_EVP_CIPHER_INFO(&headers, &cipher) == 1, unsafe cipher.cipher != nil else {
            throw LibCrypto.failing(.unsupported("the encryption that a DEK-Info line names"))
        }
        let name = unsafe EVP_CIPHER_get0_name(cipher.cipher)
        guard let name = unsafe name, let found = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
            throw LibCrypto.failing(.unsupported("the encryption that a DEK-Info line names"))
        }
        unsafe EVP_CIPHER_free(found)
        var bytes = block.bytes.copy()
        var length = bytes.count
        let total = length
        let status: Int32 = bytes.withMutableBytes { data in
            passphrase.withBytes { passphrase in
                unsafe passphrase.withUnsafeBufferPointer { given in
                    var lent = unsafe given
                    return unsafe data.withUnsafeMutableBufferPointer { buffer in
                        unsafe PEM_do_header(&cipher, buffer.baseAddress, &length, lendPassphrase, &lent)
                    }
                }
            }
        }
        guard status == 1, (0...total).contains(length) else { throw LibCrypto.failing(.wrongPassphrase) }
        bytes.removeLast(total - length)
        return bytes
    }
}

/// Answers libcrypto's passphrase callback from memory, so that it never prompts on the terminal.
private func lendPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let lent = unsafe context?.assumingMemoryBound(to: UnsafeBufferPointer<UInt8>.self).pointee,
        let buffer = unsafe buffer, lent.count <= Int(size)
    else { return -1 }
    if let start = lent.baseAddress {
        unsafe UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: lent.count)
    }
    return Int32(lent.count)
}
