internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// A parsed `SecKeyAlgorithm` identifier.
enum KeyAlgorithm: Hashable {
    /// A signature of a message, which is hashed first, or of a digest.
    case signature(SignatureForm, ofMessage: Bool)
    case encryption(EncryptionForm)
    /// RSA-OAEP encryption of a random AES-GCM key.
    case hybrid(HashFunction)
    case ecies(HashFunction, derivesNonce: Bool)
    /// Without a hash, the result is the raw shared secret.
    case exchange(HashFunction?)

    /// The algorithm of an identifier; nil if Apple has no algorithm of exactly this name.
    init?(_ algorithm: SecKeyAlgorithm) {
        guard let known = Self.known[algorithm.identifier.exact] else { return nil }
        self = known
    }

    /// The algorithms of Apple's SecKeyAdaptors.m, by their identifiers.
    ///
    /// An identifier is never taken apart: what a program does not know in it, such as another hash, would be ignored.
    private static let known: [ExactText: KeyAlgorithm] = {
        var known: [ExactText: KeyAlgorithm] = [
            "algid:sign:RSA:raw": .signature(.rsaRaw, ofMessage: false),
            "algid:sign:RSA:digest-PKCS1v15": .signature(.rsaPKCS1(nil), ofMessage: false),
            "algid:sign:ECDSA:digest-X962": .signature(.ecdsa(nil), ofMessage: false),
            "algid:sign:ECDSA:digest-RFC4754": .signature(.ecdsaNumbers(nil), ofMessage: false),
            "algid:sign:ECDSA:RFC4754": .signature(.ecdsaNumbers(nil), ofMessage: false),
            "algid:encrypt:RSA:raw": .encryption(.raw), "algid:encrypt:RSA:PKCS1": .encryption(.pkcs1),
        ]
        // Apple's module has no algorithm with MD5.
        for hash in HashFunction.allCases where hash != .md5 {
            let name = hash.rawValue
            // Apple's identifier says 24 where its salt has 28 bytes.
            let salt = hash == .sha224 ? 24 : hash.length
            for (input, isMessage) in [("digest", false), ("message", true)] {
                for (form, signature) in [
                    ("RSA:\(input)-PKCS1v15:\(name)", SignatureForm.rsaPKCS1(hash)),
                    ("RSA:\(input)-PSS:\(name):\(name):\(salt)", .rsaPSS(hash)),
                    ("ECDSA:\(input)-X962:\(name)", .ecdsa(hash)),
                    ("ECDSA:\(input)-RFC4754:\(name)", .ecdsaNumbers(hash)),
                ] {
                    known["algid:sign:\(form)".exact] = .signature(signature, ofMessage: isMessage)
                }
            }
            known["algid:encrypt:RSA:OAEP:\(name)".exact] = .encryption(.oaep(hash))
            known["algid:encrypt:RSA:OAEP:\(name):AESGCM".exact] = .hybrid(hash)
        }
        // The supported curves have cofactor 1, so ECDH with and without the cofactor are the same.
        for agreement in ["ECDH", "ECDHC"] {
            known["algid:keyexchange:\(agreement)".exact] = .exchange(nil)
            for hash in HashFunction.allCases where hash != .md5 {
                let derived = "\(agreement):KDFX963:\(hash.rawValue)"
                known["algid:keyexchange:\(derived)".exact] = .exchange(hash)
                known["algid:encrypt:ECIES:\(derived):AESGCM".exact] = .ecies(hash, derivesNonce: false)
                if hash == .sha1 { continue }
                known["algid:encrypt:ECIES:\(derived):AESGCM-KDFIV".exact] = .ecies(hash, derivesNonce: true)
            }
        }
        return known
    }()

    /// True if the key can do the operation with this algorithm.
    func supports(_ operation: SecKeyOperationType, _ key: SecKey) -> Bool {
        let isPrivate = key.attributes.number(.kcls) == KeyClass.privateKey.rawValue
        let isPublic = key.attributes.number(.kcls) == KeyClass.publicKey.rawValue
        guard let kind = key.kind else { return false }
        switch self {
        case .signature(let form, _):
            return form.fits(kind) && (operation == .sign && isPrivate || operation == .verify && isPublic)
        case .encryption, .hybrid:
            return kind == .rsa && (operation == .encrypt && isPublic || operation == .decrypt && isPrivate)
        case .ecies:
            return kind == .ec && (operation == .encrypt && isPublic || operation == .decrypt && isPrivate)
        case .exchange: return (kind == .ec || kind == .x25519) && operation == .keyExchange && isPrivate
        }
    }
}

/// Public-key encryption of data of any length, in Apple's formats (SecKey.h).
enum HybridEncryption {
    private static func size(forBits bits: Int, above limit: Int) -> Int { bits > limit ? 32 : 16 }

    static func seal(_ plain: [UInt8], for key: PublicKey, _ hash: HashFunction) throws(CertificateFailure) -> [UInt8] {
        let session = try sessionKey(size(forBits: key.sizeInBits, above: 4_095))
        let wrapped = try session.withBytes { bytes throws(CertificateFailure) in try key.encrypt(bytes, .oaep(hash)) }
        let nonce = [UInt8](repeating: 0, count: WideNonceGCM.nonceSize)
        return wrapped
            + (try WideNonceGCM.seal(plain.span, key: session, nonce: nonce, data: key.externalRepresentation))
    }

    static func open(
        _ sealed: [UInt8], with key: PrivateKey, _ hash: HashFunction
    ) throws(CertificateFailure) -> SecretBytes {
        let count = (key.sizeInBits + 7) / 8
        guard sealed.count >= count else { throw .malformed("the bytes are fewer than the key has") }
        let session = try key.decrypt(Array(sealed.prefix(count)).span, .oaep(hash))
        guard session.count == size(forBits: key.sizeInBits, above: 4_095) else {
            throw .malformed("the key inside has the wrong length")
        }
        let nonce = [UInt8](repeating: 0, count: WideNonceGCM.nonceSize)
        return try WideNonceGCM.open(
            sealed.dropFirst(count), key: session, nonce: nonce, data: key.publicKey.externalRepresentation)
    }

    static func sealECIES(
        _ plain: [UInt8], for key: PublicKey, _ hash: HashFunction, derivesNonce: Bool
    ) throws(CertificateFailure) -> [UInt8] {
        let own = try PrivateKey.generate(.ec, sizeInBits: key.sizeInBits)
        let point = own.publicKey.externalRepresentation
        let shared = try own.sharedSecret(with: key)
        let derived = try derive(shared, point, key.sizeInBits, hash, derivesNonce)
        return point + (try WideNonceGCM.seal(plain.span, key: derived.key, nonce: derived.nonce))
    }

    static func openECIES(
        _ sealed: [UInt8], with key: PrivateKey, _ hash: HashFunction, derivesNonce: Bool
    ) throws(CertificateFailure) -> SecretBytes {
        let count = key.publicKey.externalRepresentation.count
        guard sealed.count >= count else { throw .malformed("the bytes are fewer than a point has") }
        let point = Array(sealed.prefix(count))
        let shared = try key.sharedSecret(with: PublicKey(externalRepresentation: point, kind: .ec))
        let derived = try derive(shared, point, key.sizeInBits, hash, derivesNonce)
        return try WideNonceGCM.open(sealed.dropFirst(count), key: derived.key, nonce: derived.nonce)
    }

    /// The key and nonce derived from a shared secret.
    private struct Derived: ~Copyable {
        let key: SecretBytes
        let nonce: [UInt8]
    }

    private static func derive(
        _ shared: borrowing SecretBytes, _ point: [UInt8], _ bits: Int, _ hash: HashFunction, _ derivesNonce: Bool
    ) throws(CertificateFailure) -> Derived {
        let size = size(forBits: bits, above: 256)
        let count = size + (derivesNonce ? WideNonceGCM.nonceSize : 0)
        let derived = try X963.derive(shared, info: point, count: count, hash: hash)
        return derived.withBytes { bytes in
            var nonce = [UInt8](repeating: 0, count: WideNonceGCM.nonceSize)
            if derivesNonce { for index in nonce.indices { nonce[index] = bytes[size + index] } }
            return Derived(key: SecretBytes(bytes.extracting(..<size)), nonce: nonce)
        }
    }

    private static func sessionKey(_ count: Int) throws(CertificateFailure) -> SecretBytes {
        do throws(CryptographyFailure) {
            return try RandomBytes.secret(count: count)
        } catch {
            throw .library("making a key")
        }
    }
}
