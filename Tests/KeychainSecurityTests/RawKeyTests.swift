import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("The older calls of keys", .waitsForPrograms)
struct RawKeyTests {
    private let openssl: OpenSSLCommand
    private static let digest = HashFunction.sha256.digest(of: Array("the quick brown fox".utf8).span)

    private static let none: SecPadding = []

    init() throws {
        openssl = try OpenSSLCommand()
    }

    private static func key(_ type: CFString, _ bits: Int) throws -> SecKey {
        let parameters: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
    }

    private func sign(_ key: SecKey, _ padding: SecPadding, _ data: [UInt8], room: Int = 1_024) -> (OSStatus, [UInt8]) {
        var (place, length) = ([UInt8](repeating: 0, count: room), room)
        let status = SecKeyRawSign(key, padding, data, data.count, &place, &length)
        return (status, Array(place.prefix(length)))
    }

    @Test("A signature is the one of the newer call, and openssl verifies it")
    func signatures() throws {
        let rsa = try Self.key(kSecAttrKeyTypeRSA, 2048)
        let (status, signature) = sign(rsa, .PKCS1SHA256, Self.digest)
        #expect(status == errSecSuccess && signature.count == 256)
        let newer = SecKeyCreateSignature(
            rsa, .rsaSignatureDigestPKCS1v15SHA256, Data(Self.digest) as CFData, nil)
        #expect(newer as Data? == Data(signature))
        for (key, padding) in [
            (rsa, SecPadding.PKCS1SHA256), (try Self.key(kSecAttrKeyTypeEC, 256), .PKCS1),
            (try Self.key(kSecAttrKeyTypeEC, 521), Self.none),
        ] {
            let (status, signature) = sign(key, padding, Self.digest)
            #expect(status == errSecSuccess)
            try openssl.folder.write("key.der", key.privateKey().pkcs8().bytesForTest())
            try openssl("pkey -inform DER -in key.der -pubout -out public.pem")
            try openssl.folder.write("digest", Self.digest)
            try openssl.folder.write("signature", signature)
            try openssl(
                "pkeyutl -verify -pubin -inkey public.pem -in digest -sigfile signature -pkeyopt digest:sha256")
        }
    }

    @Test(
        "Each padding verifies what it signed, and nothing else",
        arguments: [
            ("42", SecPadding.PKCS1SHA1, 20), ("42", .PKCS1SHA224, 28), ("42", .PKCS1SHA256, 32),
            ("42", .PKCS1SHA384, 48), ("42", .PKCS1SHA512, 64), ("42", .PKCS1, 30), ("42", none, 256),
            ("73", .sigRaw, 32), ("73", .PKCS1, 20), ("73", .PKCS1, 33), ("73", none, 48), ("73", .PKCS1SHA1, 32),
        ])
    func verification(type: String, padding: SecPadding, size: Int) throws {
        let key = try Self.key(type as CFString, type == "42" ? 2048 : 256)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        // A message without padding must be smaller than the modulus.
        var digest = [UInt8](repeating: 7, count: size)
        digest[0] = 0
        let (status, signature) = sign(key, padding, digest)
        #expect(status == errSecSuccess)
        #expect(SecKeyRawVerify(publicKey, padding, digest, size, signature, signature.count) == errSecSuccess)
        digest[1] = 8
        #expect(SecKeyRawVerify(publicKey, padding, digest, size, signature, signature.count) == -9809)
    }

    @Test("A padding without a meaning, a wrong length and too small a place are parameter errors")
    func refusals() throws {
        let rsa = try Self.key(kSecAttrKeyTypeRSA, 2048)
        for padding in [SecPadding.PKCS1MD2, .PKCS1MD5, .OAEP, .sigRaw] {
            #expect(sign(rsa, padding, Self.digest).0 == errSecParam)
        }
        #expect(sign(rsa, .PKCS1SHA1, Self.digest).0 == errSecParam)
        #expect(sign(rsa, .PKCS1SHA256, Self.digest, room: 255).0 == errSecParam)
        #expect(sign(rsa, .PKCS1SHA256, Self.digest, room: 256).0 == errSecSuccess)
        #expect(sign(try Self.key(kSecAttrKeyTypeEd25519, 256), .PKCS1, Self.digest).0 == errSecParam)
        let curve = try Self.key(kSecAttrKeyTypeEC, 256)
        var (place, length) = ([UInt8](repeating: 0, count: 512), 512)
        #expect(SecKeyEncrypt(curve, .PKCS1, Self.digest, 32, &place, &length) == errSecParam)
        #expect(length == 512 && place.allSatisfy { $0 == 0 })
        #expect(SecKeyRawSign(rsa, .PKCS1, Self.digest, -1, &place, &length) == errSecParam)
        #expect(SecKeyRawVerify(rsa, .PKCS1, Self.digest, -7, place, 256) == errSecParam)
        #expect(SecKeyRawVerify(rsa, .PKCS1, Self.digest, 32, place, -1) == errSecParam)
        #expect(SecKeyEncrypt(rsa, .PKCS1, Self.digest, -1, &place, &length) == errSecParam)
        #expect(SecKeyDecrypt(rsa, [], Self.digest, -1, &place, &length) == errSecParam)
    }

    @Test(
        "What one call encrypts the other decrypts, without the zeros of raw encryption",
        arguments: [none, .PKCS1, .OAEP])
    func encryption(padding: SecPadding) throws {
        let key = try Self.key(kSecAttrKeyTypeRSA, 2048)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let plain: [UInt8] = [1, 2, 3]
        var (sealed, sealedLength) = ([UInt8](repeating: 0, count: 256), 256)
        #expect(SecKeyEncrypt(publicKey, padding, plain, 3, &sealed, &sealedLength) == errSecSuccess)
        #expect(sealedLength == 256)
        var (opened, openedLength) = ([UInt8](repeating: 9, count: 256), 256)
        #expect(SecKeyDecrypt(key, padding, sealed, 256, &opened, &openedLength) == errSecSuccess)
        #expect(Array(opened.prefix(openedLength)) == plain)
        var small = 2
        #expect(SecKeyDecrypt(key, padding, sealed, 256, &opened, &small) == errSecParam)
        sealed[0] ^= 1
        openedLength = 256
        let status = SecKeyDecrypt(key, padding, sealed, 256, &opened, &openedLength)
        #expect(padding == [] || status == errSecParam || Array(opened.prefix(openedLength)) != plain)
    }
}
