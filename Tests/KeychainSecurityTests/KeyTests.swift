import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Signatures, encryption and key agreement, verified with openssl", .waitsForPrograms)
struct KeyTests {
    private let openssl: OpenSSLCommand
    private static let message = Data("the quick brown fox".utf8)

    init() throws {
        openssl = try OpenSSLCommand()
    }

    private static func key(_ type: String, _ bits: Int) throws -> SecKey {
        try #require(SecKeyCreateRandomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits], nil))
    }

    /// Writes both halves of a key for openssl, as `key.pem` and `public.pem`.
    private func write(_ key: SecKey) throws {
        let own = try key.privateKey()
        try openssl.folder.write("key.der", own.pkcs8().bytesForTest())
        try openssl("pkey -inform DER -in key.der -out key.pem")
        try openssl("pkey -in key.pem -pubout -out public.pem")
        try openssl.folder.write("message", Array(Self.message))
    }

    /// The public half of the key that openssl made in `theirs.pem`.
    private func theirPublicKey(_ type: String) throws -> SecKey {
        let info = try openssl.make("pkey -in theirs.pem -pubout -outform DER -out")
        let bytes = try PublicKey(der: info).externalRepresentation
        let attributes: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        return try #require(SecKeyCreateWithData(Data(bytes) as CFData, attributes as CFDictionary, nil))
    }

    @Test(
        "openssl verifies our signatures and we verify openssl's, and a changed message is refused",
        arguments: [
            (
                kSecAttrKeyTypeECSECPrimeRandom as String, 256, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256,
                "sha256", ""
            ),
            (kSecAttrKeyTypeECSECPrimeRandom as String, 384, .ecdsaSignatureMessageX962SHA384, "sha384", ""),
            (kSecAttrKeyTypeECSECPrimeRandom as String, 521, .ecdsaSignatureMessageX962SHA512, "sha512", ""),
            (kSecAttrKeyTypeEC as String, 256, .ecdsaSignatureMessageX962SHA1, "sha1", ""),
            (kSecAttrKeyTypeRSA as String, 2048, .rsaSignatureMessagePKCS1v15SHA256, "sha256", ""),
            (kSecAttrKeyTypeRSA as String, 1024, .rsaSignatureMessagePKCS1v15SHA224, "sha224", ""),
            (
                kSecAttrKeyTypeRSA as String, 2048, .rsaSignatureMessagePSSSHA384, "sha384",
                "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:48 -sigopt rsa_mgf1_md:sha384"
            ),
        ])
    func signatures(
        type: String, bits: Int, algorithm: SecKeyAlgorithm, hash: String, options: String
    ) throws {
        let key = try Self.key(type, bits)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
        #expect(SecKeyIsAlgorithmSupported(publicKey, .verify, algorithm))
        try write(key)
        let signature = try #require(SecKeyCreateSignature(key, algorithm, Self.message as CFData, nil))
        try openssl.folder.write("signature", Array(signature))
        let verdict = try openssl("dgst -\(hash) \(options) -verify public.pem -signature signature message")
        #expect(verdict.contains("Verified OK"))
        try openssl("dgst -\(hash) \(options) -sign key.pem -out theirs message")
        let foreign = Data(try openssl.read("theirs"))
        #expect(SecKeyVerifySignature(publicKey, algorithm, Self.message as CFData, foreign as CFData, nil))
        var error: Unmanaged<CFError>?
        #expect(!SecKeyVerifySignature(publicKey, algorithm, Self.message + [0] as CFData, foreign as CFData, &error))
        #expect(error?.takeRetainedValue().code == Int(errSecVerifyFailed))
    }

    @Test("A raw ECDSA signature has a fixed size and does not verify as DER")
    func signatureNumbers() throws {
        for (bits, width) in [(256, 32), (384, 48), (521, 66)] {
            let key = try Self.key(kSecAttrKeyTypeEC as String, bits)
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            for _ in 0..<20 {
                let signature = try #require(
                    SecKeyCreateSignature(key, .ecdsaSignatureMessageRFC4754SHA256, Self.message as CFData, nil))
                #expect(signature.count == 2 * width)
                #expect(
                    SecKeyVerifySignature(
                        publicKey, .ecdsaSignatureMessageRFC4754SHA256, Self.message as CFData, signature, nil))
                #expect(
                    !SecKeyVerifySignature(
                        publicKey, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, signature, nil))
            }
        }
    }

    @Test("Signing a digest is equivalent to signing the message, and a digest of the wrong size is refused")
    func digests() throws {
        let key = try Self.key(kSecAttrKeyTypeRSA as String, 2048)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let digest = Data(SHA256.hash(Array(Self.message).span).bytes)
        let signature = try #require(
            SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15SHA256, digest as CFData, nil))
        #expect(
            SecKeyVerifySignature(publicKey, .rsaSignatureMessagePKCS1v15SHA256, Self.message as CFData, signature, nil)
        )
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15SHA256, Self.message as CFData, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecParam))
        // The raw form signs its input as given, here the DER encoding of a digest.
        let prefix: [UInt8] = [
            0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20,
        ]
        #expect(
            SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15Raw, (Data(prefix) + digest) as CFData, nil)
                == signature)
    }

    @Test(
        "openssl decrypts what we encrypt, and we decrypt what openssl encrypts",
        arguments: [
            (SecKeyAlgorithm.rsaEncryptionPKCS1, "-pkeyopt rsa_padding_mode:pkcs1"),
            (
                .rsaEncryptionOAEPSHA256,
                "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256"
            ),
            (.rsaEncryptionOAEPSHA1, "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha1"),
        ])
    func encryption(algorithm: SecKeyAlgorithm, options: String) throws {
        let key = try Self.key(kSecAttrKeyTypeRSA as String, 2048)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        try write(key)
        let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, Self.message as CFData, nil))
        #expect(sealed.count == SecKeyGetBlockSize(key))
        try openssl.folder.write("sealed", Array(sealed))
        #expect(try openssl.make("pkeyutl -decrypt -inkey key.pem -in sealed \(options) -out") == Array(Self.message))
        let theirs = try openssl.make("pkeyutl -encrypt -pubin -inkey public.pem -in message \(options) -out")
        #expect(SecKeyCreateDecryptedData(key, algorithm, Data(theirs) as CFData, nil) as Data? == Self.message)
        #expect(SecKeyCreateEncryptedData(publicKey, algorithm, Data(count: 300) as CFData, nil) == nil)
    }

    @Test(
        "Data of any size can be encrypted, and another key or a changed byte makes decryption fail",
        arguments: [
            (kSecAttrKeyTypeRSA as String, 2048, SecKeyAlgorithm.rsaEncryptionOAEPSHA256AESGCM, 256 + 16),
            (kSecAttrKeyTypeRSA as String, 2048, .rsaEncryptionOAEPSHA512AESGCM, 256 + 16),
            (kSecAttrKeyTypeEC as String, 256, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, 65 + 16),
            (kSecAttrKeyTypeEC as String, 256, .eciesEncryptionCofactorX963SHA256AESGCM, 65 + 16),
            (kSecAttrKeyTypeEC as String, 521, .eciesEncryptionCofactorVariableIVX963SHA512AESGCM, 133 + 16),
        ])
    func longEncryption(type: String, bits: Int, algorithm: SecKeyAlgorithm, overhead: Int) throws {
        let (key, other) = (try Self.key(type, bits), try Self.key(type, bits))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for plain in [Data(), Self.message, Data(count: 100_000)] {
            var sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, plain as CFData, nil)) as Data
            #expect(sealed.count == plain.count + overhead)
            #expect(SecKeyCreateDecryptedData(key, algorithm, sealed as CFData, nil) as Data? == plain)
            #expect(SecKeyCreateDecryptedData(other, algorithm, sealed as CFData, nil) == nil)
            sealed[sealed.count - 1] ^= 1
            #expect(SecKeyCreateDecryptedData(key, algorithm, sealed as CFData, nil) == nil)
        }
        #expect(SecKeyCreateDecryptedData(key, algorithm, Data([4]) as CFData, nil) == nil)
        #expect(SecKeyCreateDecryptedData(key, algorithm, Data(count: overhead) as CFData, nil) == nil)
    }

    @Test("ECIES encryption matches its specification, computed from openssl's shared secret")
    func ecies() throws {
        let key = try Self.key(kSecAttrKeyTypeEC as String, 256)
        try write(key)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let algorithm = SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM
        let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, Self.message as CFData, nil))
        let point = Array(sealed.prefix(65))
        let theirs = try PublicKey(externalRepresentation: point, kind: .ec)
        try openssl.folder.write("peer.der", theirs.subjectPublicKeyInfo)
        try openssl("pkey -pubin -inform DER -in peer.der -out peer.pem")
        let shared = try openssl.make("pkeyutl -derive -inkey key.pem -peerkey peer.pem -out")
        // X9.63 hashes the secret, a counter and the shared information. The first round yields both key and nonce.
        let first = SHA256.hash((shared + [0, 0, 0, 1] + point).span).bytes
        let session = SecretBytes(copying: first.prefix(16))
        let plain = try WideNonceGCM.open(
            Array(sealed.dropFirst(65))[...], key: session, nonce: Array(first.suffix(16)))
        #expect(plain.bytesForTest() == Array(Self.message))
    }

    @Test("Key agreement matches openssl's secret", arguments: [(256, "P-256"), (384, "P-384"), (521, "P-521")])
    func exchange(bits: Int, curve: String) throws {
        let key = try Self.key(kSecAttrKeyTypeEC as String, bits)
        try write(key)
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:\(curve) -out theirs.pem")
        let theirs = try theirPublicKey(kSecAttrKeyTypeEC as String)
        let secret = try #require(SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, theirs, [:], nil))
        #expect(try openssl.make("pkeyutl -derive -inkey theirs.pem -peerkey public.pem -out") == Array(secret))
        let parameters: [CFString: Any] = [
            SecKeyKeyExchangeParameter.requestedSize.rawValue: 32,
            SecKeyKeyExchangeParameter.sharedInfo.rawValue: Data([1, 2]),
        ]
        let derived = SecKeyCopyKeyExchangeResult(
            key, .ecdhKeyExchangeCofactorX963SHA256, theirs, parameters as CFDictionary, nil)
        let expected = SHA256.hash((Array(secret) + [0, 0, 0, 1, 1, 2]).span).bytes
        #expect(derived.map { Array($0) } == expected)
        #expect(SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandardX963SHA256, theirs, [:], nil) == nil)
        let other = try #require(SecKeyCopyPublicKey(Self.key(kSecAttrKeyTypeEC as String, bits == 256 ? 384 : 256)))
        #expect(SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, other, [:], nil) == nil)
    }

    @Test(
        "A key recreated from its external representation is equal, for both halves",
        arguments: [
            (kSecAttrKeyTypeRSA as String, 2048), (kSecAttrKeyTypeEC as String, 256),
            (kSecAttrKeyTypeEC as String, 521),
            (kSecAttrKeyTypeEd25519 as String, 256),
            (kSecAttrKeyTypeX25519 as String, 256),
        ])
    func representation(type: String, bits: Int) throws {
        let key = try Self.key(type, bits)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for (key, half) in [(key, kSecAttrKeyClassPrivate), (publicKey, kSecAttrKeyClassPublic)] {
            let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
            let again = try #require(
                SecKeyCreateWithData(bytes, [kSecAttrKeyType: type, kSecAttrKeyClass: half] as CFDictionary, nil))
            #expect(CFEqual(key, again) && SecKeyGetBlockSize(again) == (bits + 7) / 8)
            let attributes = try #require(SecKeyCopyAttributes(again))
            #expect(attributes[kSecAttrKeyClass] as? CFString == half)
            #expect(attributes[kSecAttrKeySizeInBits] as? Int == bits)
            #expect(
                SecKeyCreateWithData(
                    (bytes as Data).dropLast() as CFData,
                    [kSecAttrKeyType: type, kSecAttrKeyClass: half] as CFDictionary, nil) == nil)
        }
        #expect(!CFEqual(key, publicKey))
        #expect(CFEqual(publicKey, SecKeyCopyPublicKey(publicKey)))
    }
}

@Suite("Identifiers of algorithms")
struct KeyAlgorithmTests {
    private static func identifiers() throws -> [String] {
        let text = try Project.text("Sources/Apple/KeychainSecurity/References/SecKeyAlgorithm.swift")
        return text.matches(of: /"(algid:[^"]+)"/).map { String($0.1) }
    }

    @Test("Each of Apple's identifiers is known, and has a meaning of its own but for ECDH with the cofactor")
    func known() throws {
        let identifiers = try Self.identifiers()
        #expect(identifiers.count > 80 && Set(identifiers).count == identifiers.count)
        var meanings: [KeyAlgorithm: Set<String>] = [:]
        for identifier in identifiers {
            let parsed = try #require(KeyAlgorithm(SecKeyAlgorithm(rawValue: identifier as CFString)), "\(identifier)")
            meanings[parsed, default: []].insert(identifier.replacing("ECDHC", with: "ECDH"))
        }
        // The signature of a digest in the form of RFC 4754 has two names.
        let twice = meanings.values.filter { $0.count > 1 }
        #expect(twice == [["algid:sign:ECDSA:RFC4754", "algid:sign:ECDSA:digest-RFC4754"]])
    }

    @Test("An identifier with an unknown hash, more or less than Apple's, or in other bytes is refused")
    func unknown() throws {
        var others = [
            "algid:sign:RSA:digest-PKCS1v15:SHA3-256", "algid:sign:RSA:digest-PKCS1v15:SHA512-256",
            "algid:sign:RSA:digest-PKCS1v15:MD5", "algid:sign:ECDSA:digest-X962:SHA3-256",
            "algid:sign:ECDSA:digest-RFC4754:SHA-256", "algid:sign:RSA:message-PSS:SHA256:SHA1:32",
            "algid:sign:RSA:message-PSS:SHA256:SHA256:20", "algid:sign:RSA:message-PSS:SHA256",
            "algid:sign:RSA:other-PKCS1v15:SHA256", "algid:encrypt:RSA:OAEP:SHA256:AESCBC",
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESCBC", "algid:encrypt:ECIES:ECDH:SHA256:AESGCM",
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM-KDFIV", "algid:keyexchange:ECDH:KDFX963:SHA3-256",
            "algid:keyexchange:ECDH:SHA256", "algid:keyexchange:ECDH:KDFX963", "algid", "",
        ]
        let known = try Set(Self.identifiers())
        for identifier in known {
            others += [identifier + ":", identifier + ":SHA3-256", identifier + "\u{301}", ":" + identifier]
            others += [String(identifier.dropLast()), identifier.replacing("K", with: "\u{212a}")]
                .filter { one in !known.contains { $0.utf8.elementsEqual(one.utf8) } }
        }
        let key = try #require(
            SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 1024], nil))
        for identifier in others {
            let algorithm = SecKeyAlgorithm(rawValue: identifier as CFString)
            #expect(KeyAlgorithm(algorithm) == nil, "\(identifier)")
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
        }
        var error: Unmanaged<CFError>?
        let digest = Data(count: 32)
        let result = unsafe SecKeyCreateSignature(
            key, SecKeyAlgorithm(rawValue: others[0] as CFString), digest as CFData, &error)
        #expect(result == nil)
        #expect(unsafe CFErrorGetCode(try #require(error?.takeRetainedValue())) == Int(errSecParam))
    }
}
