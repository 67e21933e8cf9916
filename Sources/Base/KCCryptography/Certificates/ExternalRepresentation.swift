internal import CKCLibCrypto
package import KCByteStreams

/// The encodings of `SecKeyCopyExternalRepresentation`, which Apple's keychain stores as the secret of a key.
extension PrivateKey {
    /// RSAPrivateKey of PKCS#1 for RSA; 04 ‖ X ‖ Y ‖ K for elliptic curves, each number as long as a field element; the
    /// bare 32, 57 or 56 bytes for Edwards and Montgomery curves.
    ///
    /// - Throws: `CertificateFailure` (`unsupported` for other kinds, and for curves that the length does not identify;
    ///   `library`).
    package func externalRepresentation() throws(CertificateFailure) -> SecretBytes {
        guard publicKey.isWholeInExternalRepresentation else {
            throw .unsupported("a private key on a curve that Apple's form cannot name")
        }
        switch kind {
        case .rsa: return try traditional()
        case .ec: return try pointAndNumber()
        case .ed25519, .x25519, .ed448, .x448: return try bareBytes()
        case .other(let name): throw .unsupported("a private key of \(name)")
        }
    }

    private func pointAndNumber() throws(CertificateFailure) -> SecretBytes {
        let point = publicKey.externalRepresentation
        let length = (point.count - 1) / 2
        var number: OpaquePointer?
        defer { unsafe BN_clear_free(number) }
        unsafe try LibCrypto.check(
            EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number), else: .library("reading a key"))
        let secretNumber = unsafe number
        var whole = SecretBytes(copying: point)
        let secret = unsafe try LibCrypto.secret(length: length) { start in
            unsafe BN_bn2binpad(secretNumber, start, Int32(length)) == Int32(length)
        }
        secret.withBytes { whole.append($0) }
        return whole
    }

    private func bareBytes() throws(CertificateFailure) -> SecretBytes {
        var length = 0
        unsafe try LibCrypto.check(EVP_PKEY_get_raw_private_key(pointer, nil, &length), else: .library("reading a key"))
        let count = length
        return unsafe try LibCrypto.secret(length: count) { start in
            var written = count
            return unsafe EVP_PKEY_get_raw_private_key(pointer, start, &written) == 1 && written == count
        }
    }

    /// Reads the output of `externalRepresentation` for a key of `kind`.
    ///
    /// The length of an elliptic key identifies its curve: P-192, P-224, P-256, P-384 or P-521, as on Apple's systems.
    ///
    /// - Throws: `CertificateFailure` (`malformed`, `unsupported` for other kinds, `tooLarge`).
    package convenience init(
        externalRepresentation bytes: borrowing SecretBytes, kind: KeyKind
    ) throws(CertificateFailure) {
        defer { ERR_clear_error() }
        switch kind {
        case .rsa:
            let key = try bytes.withBytes { span throws(CertificateFailure) in
                guard CertificateFormat(of: span) == .pkcs1 else { throw .malformed("not a private key in PKCS#1") }
                return try PrivateKey(der: span)
            }
            self.init(sharing: key)
        case .ec:
            let der = try Self.sec1(bytes)
            let key = try der.withBytes { span throws(CertificateFailure) in try PrivateKey(der: span) }
            self.init(sharing: key)
        case .ed25519: unsafe try self.init(adopting: Self.bare(bytes, EVP_PKEY_ED25519))
        case .x25519: unsafe try self.init(adopting: Self.bare(bytes, EVP_PKEY_X25519))
        case .ed448: unsafe try self.init(adopting: Self.bare(bytes, EVP_PKEY_ED448))
        case .x448: unsafe try self.init(adopting: Self.bare(bytes, EVP_PKEY_X448))
        case .other(let name): throw .unsupported("a private key of \(name)")
        }
    }

    private static func bare(_ bytes: borrowing SecretBytes, _ kind: Int32) throws(CertificateFailure) -> OpaquePointer
    {
        let key: OpaquePointer? = unsafe bytes.withBytes { span in
            unsafe span.withUnsafeBufferPointer { buffer in
                unsafe EVP_PKEY_new_raw_private_key(kind, nil, buffer.baseAddress, buffer.count)
            }
        }
        return unsafe try LibCrypto.require(key, else: .malformed("a private key has the wrong length"))
    }

    /// The key as an ECPrivateKey (SEC 1), from 04 ‖ X ‖ Y ‖ K.
    private static func sec1(_ bytes: borrowing SecretBytes) throws(CertificateFailure) -> SecretBytes {
        let length = bytes.count / 3
        guard bytes.count == 1 + 3 * length, let curve = curves[length] else {
            throw .malformed("a private key has the wrong length")
        }
        let version: [UInt8] = [DERTag.integer, 1, 1]
        let parameters = DER.element(0xa0, DER.element(DERTag.objectIdentifier, curve))
        let point = 1 + 2 * length
        let publicHeader =
            DER.header(0xa1, count: DER.header(DERTag.bitString, count: point + 1).count + point + 1)
            + DER.header(DERTag.bitString, count: point + 1) + [0]
        let numberHeader = DER.header(DERTag.octetString, count: length)
        let count =
            version.count + numberHeader.count + length + parameters.count + publicHeader.count + point
        var der = SecretBytes(copying: DER.header(DERTag.sequence, count: count) + version + numberHeader)
        bytes.withBytes { span in
            der.append(span.extracting(point...))
            for byte in parameters + publicHeader { der.append(byte) }
            der.append(span.extracting(..<point))
        }
        return der
    }

    /// The object identifiers of the curves, keyed by the length of a field element in bytes.
    static let curves: [Int: [UInt8]] = [
        24: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x01],
        28: [0x2b, 0x81, 0x04, 0x00, 0x21],
        32: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
        48: [0x2b, 0x81, 0x04, 0x00, 0x22],
        66: [0x2b, 0x81, 0x04, 0x00, 0x23],
    ]
}
