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

    /// Parses an identifier; nil if it is unknown.
    init?(_ algorithm: SecKeyAlgorithm) {
        let parts = algorithm.rawValue.split(separator: ":").map(String.init)
        guard parts.count > 2, parts[0] == "algid" else { return nil }
        let hashes = parts.dropFirst(2).compactMap { HashFunction(rawValue: $0) }
        // Apple's module has no algorithm with it.
        guard !hashes.contains(.md5) else { return nil }
        switch (parts[1], parts[2]) {
        case ("sign", _) where parts.count > 3:
            guard let form = Self.form(parts[2], parts[3], hashes.first) else { return nil }
            self = .signature(form, ofMessage: parts[3].hasPrefix("message-"))
        case ("encrypt", "RSA") where parts.count > 3:
            switch (parts[3], hashes.first) {
            case ("raw", nil): self = .encryption(.raw)
            case ("PKCS1", nil): self = .encryption(.pkcs1)
            case ("OAEP", .some(let hash)): self = parts.last == "AESGCM" ? .hybrid(hash) : .encryption(.oaep(hash))
            default: return nil
            }
        case ("encrypt", "ECIES"):
            guard let hash = hashes.first else { return nil }
            self = .ecies(hash, derivesNonce: parts.last == "AESGCM-KDFIV")
        // The supported curves have cofactor 1, so ECDH with and without the cofactor are the same.
        case ("keyexchange", "ECDH"), ("keyexchange", "ECDHC"): self = .exchange(hashes.first)
        default: return nil
        }
    }

    private static func form(_ kind: String, _ form: String, _ hash: HashFunction?) -> SignatureForm? {
        let isMessage = form.hasPrefix("message-")
        if isMessage, hash == nil { return nil }
        switch (kind, form.split(separator: "-").last ?? "") {
        case ("RSA", "raw"): return .rsaRaw
        case ("RSA", "PKCS1v15"): return .rsaPKCS1(hash)
        case ("RSA", "PSS"): return hash.map { .rsaPSS($0) }
        case ("ECDSA", "X962"): return .ecdsa(hash)
        case ("ECDSA", "RFC4754"): return .ecdsaNumbers(hash)
        default: return nil
        }
    }

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
