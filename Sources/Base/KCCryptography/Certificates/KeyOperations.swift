internal import CKCLibCrypto
package import KCByteStreams

/// How a digest is signed.
package enum SignatureForm: Hashable, Sendable {
    /// RSA without padding, on as many bytes as the modulus has.
    case rsaRaw
    /// RSASSA-PKCS1-v1_5 (RFC 8017); without a hash, the input itself is padded.
    case rsaPKCS1(HashFunction?)
    /// RSASSA-PSS (RFC 8017), with MGF1 using the same hash and a salt as long as a digest.
    case rsaPSS(HashFunction)
    /// ECDSA; the signature is a SEQUENCE of two numbers (X9.62).
    case ecdsa(HashFunction?)
    /// ECDSA; the signature consists of the two numbers, each as long as a field element (RFC 4754).
    case ecdsaNumbers(HashFunction?)
    /// Ed25519 or Ed448 (RFC 8032), signing the message itself.
    case edwards

    /// The hash whose digest is signed; nil if any bytes are.
    package var hash: HashFunction? {
        switch self {
        case .rsaPKCS1(let hash), .ecdsa(let hash), .ecdsaNumbers(let hash): hash
        case .rsaPSS(let hash): hash
        case .rsaRaw, .edwards: nil
        }
    }

    /// True if keys of `kind` can sign in this form.
    package func fits(_ kind: KeyKind) -> Bool {
        switch self {
        case .rsaRaw, .rsaPKCS1, .rsaPSS: kind == .rsa
        case .ecdsa, .ecdsaNumbers: kind == .ec
        case .edwards: kind == .ed25519 || kind == .ed448
        }
    }
}

/// How RSA encrypts a short message (RFC 8017).
package enum EncryptionForm: Hashable, Sendable {
    /// Without padding, on as many bytes as the modulus has.
    case raw
    case pkcs1
    /// OAEP, with MGF1 using the same hash; a label names what the message is for.
    case oaep(HashFunction, label: [UInt8] = [])
}

extension PrivateKey {
    /// Generates a key.
    ///
    /// - Parameter sizeInBits: 1,024 to 16,384 for RSA; 256, 384 or 521 for elliptic curves; for other kinds, their
    ///   fixed size.
    /// - Throws: `CertificateFailure` (`unsupported` for another size or kind, `library`).
    package static func generate(_ kind: KeyKind, sizeInBits: Int) throws(CertificateFailure) -> PrivateKey {
        let made: OpaquePointer?
        switch (kind, sizeInBits) {
        case (.rsa, 1_024...CertificateLimit.keySize.value): unsafe made = kcbackup_generate_rsa(sizeInBits)
        case (.ec, 256): unsafe made = kcbackup_generate_ec("P-256")
        case (.ec, 384): unsafe made = kcbackup_generate_ec("P-384")
        case (.ec, 521): unsafe made = kcbackup_generate_ec("P-521")
        case (.ed25519, 256): unsafe made = kcbackup_generate("ED25519")
        case (.x25519, 256): unsafe made = kcbackup_generate("X25519")
        default: throw .unsupported("a key of \(sizeInBits) bits")
        }
        return unsafe try PrivateKey(adopting: LibCrypto.require(made, else: .library("making a key")))
    }

    /// Signs a digest, or, for Edwards curves, a message.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the bytes do not have the length of a digest, `unsupported` for a
    ///   form that this kind of key does not have, `library`).
    package func sign(
        _ digest: borrowing Span<UInt8>, _ form: SignatureForm
    ) throws(CertificateFailure) -> [UInt8] {
        guard form.fits(kind) else { throw .unsupported("a signature that this kind of key does not make") }
        guard form.hash == nil || digest.count == form.hash?.length else {
            throw .malformed("a digest has another length")
        }
        if form == .edwards {
            guard let signature = unsafe EdwardsSignature.sign(digest, pointer) else {
                throw LibCrypto.failing(.library("signing"))
            }
            return signature
        }
        let context = unsafe try KeyContext(pointer)
        try context.check(unsafe EVP_PKEY_sign_init(context.pointer))
        try context.use(form)
        let signature = unsafe try context.output(digest) { context, output, count, input, length in
            unsafe EVP_PKEY_sign(context, output, count, input, length)
        }
        guard case .ecdsaNumbers = form else { return signature.withBytes { $0.array } }
        let width = (sizeInBits + 7) / 8
        var numbers = [UInt8](repeating: 0, count: 2 * width)
        let bytes = signature.withBytes { $0.array }
        try LibCrypto.check(
            unsafe kcbackup_ecdsa_numbers(bytes, bytes.count, &numbers, Int32(width)), else: .library("signing"))
        return numbers
    }

    /// Decrypts the output of `PublicKey.encrypt`.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if it was not encrypted for this key, `unsupported` for other kinds
    ///   of keys).
    package func decrypt(
        _ bytes: borrowing Span<UInt8>, _ form: EncryptionForm
    ) throws(CertificateFailure) -> SecretBytes {
        guard kind == .rsa else { throw .unsupported("decrypting with a key that is not RSA") }
        let context = unsafe try KeyContext(pointer)
        try context.check(unsafe EVP_PKEY_decrypt_init(context.pointer))
        try context.use(form)
        return unsafe try context.output(bytes, else: .malformed("the bytes are not encrypted for this key")) {
            context, output, count, input, length in
            unsafe EVP_PKEY_decrypt(context, output, count, input, length)
        }
    }

    /// The secret shared with another key pair, from this private key and the other public key (ECDH, X25519, X448).
    ///
    /// - Throws: `CertificateFailure` (`unsupported` for other kinds or a different curve, `library`).
    package func sharedSecret(with other: PublicKey) throws(CertificateFailure) -> SecretBytes {
        guard kind == other.kind, kind == .ec || kind == .x25519 || kind == .x448, sizeInBits == other.sizeInBits else {
            throw .unsupported("two keys that do not agree on a secret")
        }
        let peer = try other.loaded()
        let context = unsafe try KeyContext(pointer)
        try context.check(unsafe EVP_PKEY_derive_init(context.pointer))
        try LibCrypto.check(
            unsafe EVP_PKEY_derive_set_peer(context.pointer, peer.pointer),
            else: .unsupported("two keys that do not agree on a secret"))
        return unsafe try context.output([UInt8]().span) { context, output, count, _, _ in
            unsafe EVP_PKEY_derive(context, output, count)
        }
    }
}

extension PublicKey {
    /// True if `signature` is a signature of `digest` (for Edwards curves, of a message) by the private half.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the bytes do not have the length of a digest, `unsupported` for a
    ///   form that this kind of key does not have, `library`).
    package func verifies(
        _ signature: [UInt8], of digest: borrowing Span<UInt8>, _ form: SignatureForm
    ) throws(CertificateFailure) -> Bool {
        guard form.fits(kind) else { throw .unsupported("a signature that this kind of key does not make") }
        guard form.hash == nil || digest.count == form.hash?.length else {
            throw .malformed("a digest has another length")
        }
        defer { ERR_clear_error() }
        let key = try loaded()
        if form == .edwards {
            guard let isValid = unsafe EdwardsSignature.verify(signature, of: digest, key.pointer) else {
                throw LibCrypto.failing(.library("verifying"))
            }
            return isValid
        }
        var bytes = signature
        if case .ecdsaNumbers = form {
            let width = (sizeInBits + 7) / 8
            guard signature.count == 2 * width else { return false }
            bytes = unsafe try LibCrypto.encoded { unsafe kcbackup_ecdsa_der(signature, Int32(width), $0) }
        }
        let context = unsafe try KeyContext(key.pointer)
        try context.check(unsafe EVP_PKEY_verify_init(context.pointer))
        try context.use(form)
        return unsafe digest.withUnsafeBufferPointer { buffer in
            unsafe EVP_PKEY_verify(context.pointer, bytes, bytes.count, buffer.baseAddress, buffer.count)
        } == 1
    }

    /// Encrypts a short message for the private half.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the message is too long, `unsupported` for other kinds of keys).
    package func encrypt(
        _ bytes: borrowing Span<UInt8>, _ form: EncryptionForm
    ) throws(CertificateFailure) -> [UInt8] {
        guard kind == .rsa else { throw .unsupported("encrypting with a key that is not RSA") }
        let key = try loaded()
        let context = unsafe try KeyContext(key.pointer)
        try context.check(unsafe EVP_PKEY_encrypt_init(context.pointer))
        try context.use(form)
        return unsafe try context.output(bytes, else: .malformed("the bytes are too many for the key")) {
            context, output, count, input, length in
            unsafe EVP_PKEY_encrypt(context, output, count, input, length)
        }.withBytes { $0.array }
    }

    /// The key as a libcrypto object.
    fileprivate func loaded() throws(CertificateFailure) -> LibCryptoObject {
        unsafe try LibCryptoObject(
            decoding: subjectPublicKeyInfo.span, freedBy: { unsafe EVP_PKEY_free($0) }, rule: "not a public key"
        ) { next, count in unsafe d2i_PUBKEY(nil, next, count) }
    }

    /// Reads the output of `externalRepresentation` for a key of `kind`; the length of a point identifies its curve.
    ///
    /// - Throws: `CertificateFailure` (`malformed`, `unsupported` for other kinds, `tooLarge`).
    package init(externalRepresentation bytes: [UInt8], kind: KeyKind) throws(CertificateFailure) {
        let algorithm: [UInt8]
        switch kind {
        case .rsa:
            algorithm =
                DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]) + [5, 0]
        case .ec:
            guard bytes.first == 4, bytes.count % 2 == 1, let curve = PrivateKey.curves[(bytes.count - 1) / 2] else {
                throw .malformed("a point has the wrong length")
            }
            algorithm =
                DER.element(DERTag.objectIdentifier, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
                + DER.element(DERTag.objectIdentifier, curve)
        case .x25519: algorithm = DER.element(DERTag.objectIdentifier, [0x2b, 0x65, 0x6e])
        case .x448: algorithm = DER.element(DERTag.objectIdentifier, [0x2b, 0x65, 0x6f])
        case .ed25519: algorithm = DER.element(DERTag.objectIdentifier, [0x2b, 0x65, 0x70])
        case .ed448: algorithm = DER.element(DERTag.objectIdentifier, [0x2b, 0x65, 0x71])
        case .other(let name): throw .unsupported("a public key of \(name)")
        }
        let info = DER.element(DERTag.sequence, algorithm) + DER.element(DERTag.bitString, [0] + bytes)
        let key = try PublicKey(der: DER.element(DERTag.sequence, info))
        // A key that libcrypto cannot load has no kind and no size.
        guard key.kind == kind else { throw .malformed("the numbers of a public key are not one") }
        self = key
    }
}

/// An operation with a key.
@safe private struct KeyContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ key: OpaquePointer) throws(CertificateFailure) {
        unsafe pointer = try LibCrypto.require(EVP_PKEY_CTX_new(key, nil), else: .library("preparing a key"))
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(pointer)
    }

    func check(_ status: Int32) throws(CertificateFailure) {
        try LibCrypto.check(status, else: .library("preparing a key"))
    }

    func use(_ form: SignatureForm) throws(CertificateFailure) {
        switch form {
        case .rsaRaw: try check(unsafe kcbackup_use_rsa(pointer, RSA_NO_PADDING, nil))
        case .rsaPKCS1(let hash): try check(unsafe kcbackup_use_rsa(pointer, RSA_PKCS1_PADDING, hash?.rawValue))
        case .rsaPSS(let hash): try check(unsafe kcbackup_use_rsa(pointer, RSA_PKCS1_PSS_PADDING, hash.rawValue))
        case .ecdsa, .ecdsaNumbers, .edwards: break
        }
    }

    func use(_ form: EncryptionForm) throws(CertificateFailure) {
        switch form {
        case .raw: try check(unsafe kcbackup_use_rsa(pointer, RSA_NO_PADDING, nil))
        case .pkcs1: try check(unsafe kcbackup_use_rsa(pointer, RSA_PKCS1_PADDING, nil))
        case .oaep(let hash, let label):
            try check(unsafe kcbackup_use_rsa(pointer, RSA_PKCS1_OAEP_PADDING, hash.rawValue))
            if !label.isEmpty { try check(unsafe kcbackup_use_label(pointer, label, label.count)) }
        }
    }

    /// The output of an operation, which runs twice, first to find the maximum size of the output.
    func output(
        _ input: borrowing Span<UInt8>, else failure: CertificateFailure = .library("using a key"),
        _ operate: (
            OpaquePointer, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>, UnsafePointer<UInt8>?, Int
        ) -> Int32
    ) throws(CertificateFailure) -> SecretBytes {
        var size = 0
        var status = unsafe input.withUnsafeBufferPointer { buffer in
            unsafe operate(pointer, nil, &size, buffer.baseAddress, buffer.count)
        }
        try LibCrypto.check(status, else: failure)
        var result = SecretBytes(capacity: size)
        let most = size
        try result.append(upTo: most) { output throws(CertificateFailure) in
            unsafe output.withUnsafeMutableBufferPointer { room, count in
                var written = most
                status = unsafe input.withUnsafeBufferPointer { buffer in
                    unsafe operate(pointer, room.baseAddress, &written, buffer.baseAddress, buffer.count)
                }
                if status == 1 { count = written }
            }
            if status != 1 { throw LibCrypto.failing(failure) }
        }
        return result
    }
}

extension Span<UInt8> {
    fileprivate var array: [UInt8] { indices.map { self[$0] } }
}
