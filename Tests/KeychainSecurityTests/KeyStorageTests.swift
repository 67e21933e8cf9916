import Foundation
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Generated keys", .waitsForPrograms)
struct KeyStorageTests {
    @Test("Only the half marked permanent is stored, with its attributes")
    func permanent() throws {
        let program = try TestClient()
        let tag = Data("org.example.mail".utf8)
        let pair = try KeyPair(
            CallDictionary([
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: "256",
                kSecPrivateKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrAccessible: "cku",
                ] as CFDictionary,
            ])
        ).stored(by: program.client)
        let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true]
        let found = try #require(program.find(query).1 as? SecKey)
        #expect(CFEqual(found, pair.privateKey))
        #expect(program.attributes([kSecClass: kSecClassKey])?[kSecAttrAccessible] as? String == "cku")
        #expect(program.count([kSecClass: kSecClassKey]) == 1)
        let message = Data("hello".utf8)
        let signature = try #require(
            SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message as CFData, nil))
        #expect(
            SecKeyVerifySignature(pair.publicKey, .ecdsaSignatureMessageX962SHA256, message as CFData, signature, nil))
    }

    @Test("Both halves are stored or neither is")
    func bothHalves() throws {
        let program = try TestClient()
        var parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256, kSecAttrLabel: "mail",
            kSecAttrIsPermanent: true, kSecPublicKeyAttrs: [kSecAttrIsPermanent: true],
        ]
        _ = try KeyPair(CallDictionary(parameters as CFDictionary)).stored(by: program.client)
        #expect(program.count([kSecClass: kSecClassKey, kSecAttrLabel: "mail"]) == 2)
        parameters[kSecPublicKeyAttrs] = [kSecAttrIsPermanent: true, kSecAttrAccessGroup: "elsewhere"]
        #expect(throws: CallFailure(errSecMissingEntitlement)) {
            _ = try KeyPair(CallDictionary(parameters as CFDictionary)).stored(by: program.client)
        }
        #expect(program.count([kSecClass: kSecClassKey]) == 2)
    }

    @Test(
        "Invalid key parameters are refused with a status",
        arguments: [
            ([kSecAttrKeySizeInBits as String: 256], errSecParam), ([kSecAttrKeyType as String: "73"], errSecParam),
            ([kSecAttrKeyType as String: "73", kSecAttrKeySizeInBits as String: 255], errSecParam),
            ([kSecAttrKeyType as String: "42", kSecAttrKeySizeInBits as String: 512], errSecParam),
            ([kSecAttrKeyType as String: "43", kSecAttrKeySizeInBits as String: 1024], errSecUnimplemented),
            (
                [
                    kSecAttrKeyType as String: "73", kSecAttrKeySizeInBits as String: 256,
                    kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave as String,
                ], errSecUnimplemented
            ),
        ] as [([String: any Sendable], OSStatus)])
    func refused(parameters: [String: any Sendable], status: OSStatus) {
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(status))
        #expect(SecKeyGeneratePair(parameters as CFDictionary, nil, nil) == status)
    }

    @Test("Each half of a key supports only the algorithms of its kind")
    func support() throws {
        let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(publicKey, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(SecKeyIsAlgorithmSupported(key, .keyExchange, .ecdhKeyExchangeCofactor))
        for name in ["algid:sign:ECDSA:odd", "algid:sign:ECDSA:message-X962:MD5"] {
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, SecKeyAlgorithm(rawValue: name as CFString)))
        }
        #expect(SecKeyCreateSignature(publicKey, .ecdsaSignatureMessageX962SHA256, Data() as CFData, nil) == nil)
        #expect(SecKeyCreateEncryptedData(key, .rsaEncryptionPKCS1, Data() as CFData, nil) == nil)
    }

    @Test("A certificate provides its public key, and forms an identity with a private key in the keychain")
    func certificates() throws {
        let program = try TestClient()
        let certificate = try SampleCertificates.object("mail")
        let key = try SecKey(SampleCertificates.key("mail"))
        #expect(CFEqual(SecCertificateCopyKey(certificate), SecKeyCopyPublicKey(key)))
        #expect(SecCertificateCopyKey(certificate) != nil)
        var identity: SecIdentity?
        #expect(program.client.identity(of: certificate, &identity) == errSecItemNotFound && identity == nil)
        #expect(program.add([kSecClass: kSecClassKey, kSecValueRef: key]) == errSecSuccess)
        #expect(program.client.identity(of: certificate, &identity) == errSecSuccess)
        #expect(CFEqual(identity, SecIdentityCreate(nil, certificate, key)))
        #expect(try SecIdentityCreate(nil, SampleCertificates.object("web"), key) == nil)
    }
}
