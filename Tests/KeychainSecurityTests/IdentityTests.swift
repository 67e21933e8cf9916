import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Keys, identities and PKCS #12 files", .waitsForPrograms)
struct IdentityTests {
    private let program: TestClient
    private let identities: [CFString: Any] = [kSecClass: kSecClassIdentity]
    private let keys: [CFString: Any] = [kSecClass: kSecClassKey]
    private let certificates: [CFString: Any] = [kSecClass: kSecClassCertificate]

    init() throws {
        program = try TestClient()
    }

    /// A PKCS #12 file with a sample identity and the authority that issued it.
    private func file(of name: String, passphrase: String = "open", friendlyName: String? = nil) throws -> Data {
        let identity = PKCS12.Identity(
            key: try SampleCertificates.key(name),
            certificate: try X509Certificate(der: Array(try SampleCertificates.der(name))))
        let authority = try X509Certificate(der: Array(try SampleCertificates.der("authority")))
        let bytes = try PKCS12.make(
            identities: [identity], certificates: [authority], passphrase: SecretBytes(copying: passphrase.utf8),
            friendlyName: friendlyName, iterations: 1)
        return Data(bytes.bytesForTest())
    }

    private func imported(_ file: Data, _ passphrase: String?) -> (status: OSStatus, items: [[CFString: Any]]?) {
        var items: CFArray?
        let options = passphrase.map { [kSecImportExportPassphrase: $0] } ?? [:]
        let status = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
        return (status, items as? [[CFString: Any]])
    }

    private func identity(_ name: String) throws -> SecIdentity {
        let items = try #require(imported(file(of: name), "open").items)
        return try #require(items.first?[kSecImportItemIdentity] as? SecIdentity)
    }

    // MARK: PKCS #12

    @Test("A file opens only with its passphrase and yields one identity with its chain", arguments: ["web", "mail"])
    func importFile(name: String) throws {
        let file = try file(of: name, friendlyName: "mine")
        #expect(imported(file, nil).status == errSecPassphraseRequired)
        #expect(imported(file, "wrong").status == errSecAuthFailed)
        #expect(imported(file, "").status == errSecAuthFailed)
        let (status, items) = imported(file, "open")
        #expect(status == errSecSuccess && items?.count == 1)
        let item = try #require(items?.first)
        let chain = try #require(item[kSecImportItemCertChain] as? [SecCertificate])
        let expected = [try SampleCertificates.object(name), try SampleCertificates.object("authority")]
        #expect(chain == expected)
        #expect(item[kSecImportItemLabel] as? String == "mine")
        #expect((item[kSecImportItemKeyID] as? Data)?.count == 20)
        let identity = try #require(item[kSecImportItemIdentity] as? SecIdentity)
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess && certificate == chain[0])
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess && key != nil)
        #expect(program.status(keys) == errSecItemNotFound)
        let trust = try #require(item[kSecImportItemTrust] as? SecTrust)
        SecTrustSetAnchorCertificates(trust, [chain[1]] as CFArray)
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_900_000_000) as CFDate)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == chain)
    }

    @Test("A damaged or foreign file yields nothing")
    func malformedFile() throws {
        let file = try file(of: "mail")
        for (bytes, expected) in [
            (Data(), errSecUnknownFormat), (Data("text".utf8), errSecUnknownFormat),
            (try SampleCertificates.der("mail"), errSecUnknownFormat), (file.dropLast(), errSecDecode),
            (file + Data([0]), errSecDecode),
        ] {
            let (status, items) = imported(Data(bytes), "open")
            #expect(status == expected && items == nil)
        }
        var items: CFArray?
        let options = [kSecImportExportPassphrase: 7] as [CFString: Any]
        #expect(SecPKCS12Import(file as CFData, options as CFDictionary, &items) == errSecParam && items == nil)
    }

    // MARK: Identities

    @Test("An identity is added as a key and a certificate, and found as an identity", arguments: ["web", "mail"])
    func add(name: String) throws {
        let identity = try identity(name)
        let item: [CFString: Any] = [kSecValueRef: identity, kSecAttrLabel: "both"]
        #expect(program.add(item) == errSecSuccess)
        #expect(program.add(item) == errSecDuplicateItem)
        #expect(program.count(keys) == 1 && program.count(certificates) == 1)
        let found = program.find(identities.merging([kSecReturnRef: true]) { $1 }).1
        let certificate = try certificate(of: #require(found as? SecIdentity))
        #expect(certificate == (try SampleCertificates.object(name)))
        let attributes = try #require(program.attributes(identities))
        #expect(attributes[kSecAttrLabel] as? String == "both")
        #expect(attributes[kSecAttrKeyClass] as? CFString == kSecAttrKeyClassPrivate)
        #expect(attributes[kSecAttrApplicationLabel] as? Data == attributes[kSecAttrPublicKeyHash] as? Data)
        let data = program.find(identities.merging([kSecReturnData: true]) { $1 }).1
        #expect(data as? Data == (try SampleCertificates.der(name)))
        #expect(program.status([kSecValueRef: identity]) == errSecSuccess)
    }

    /// The identity of a renewed certificate, which has another serial number and the same key.
    private func renewed(_ name: String, nextTo identity: SecIdentity) throws -> SecIdentity {
        let certificate = try SampleCertificates.object(name)
        guard case .data(let serial) = certificate.draft.attributes[.slnr] else { throw CallFailure(errSecParam) }
        var bytes = [UInt8](try SampleCertificates.der(name))
        let position = try #require(bytes.firstRange(of: serial)).upperBound - 1
        bytes[position] ^= 1
        let other = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, Data(bytes) as CFData))
        return try #require(SecIdentityCreate(kCFAllocatorDefault, other, try key(of: identity)))
    }

    private func certificate(of identity: SecIdentity) throws -> SecCertificate {
        var certificate: SecCertificate?
        _ = SecIdentityCopyCertificate(identity, &certificate)
        return try #require(certificate)
    }

    private func key(of identity: SecIdentity) throws -> SecKey {
        var key: SecKey?
        _ = SecIdentityCopyPrivateKey(identity, &key)
        return try #require(key)
    }

    @Test("Of an identity the missing half is added, and the other one stays as it is", arguments: [true, false])
    func addHalf(hasCertificate: Bool) throws {
        let identity = try identity("mail")
        let half: AnyObject = hasCertificate ? try certificate(of: identity) : try key(of: identity)
        #expect(program.add([kSecValueRef: half, kSecAttrLabel: "first"]) == errSecSuccess)
        #expect(program.status(identities) == errSecItemNotFound)
        let both: [CFString: Any] = [
            kSecValueRef: identity, kSecAttrLabel: "second", kSecReturnPersistentRef: true,
        ]
        let reference = try #require(program.adding(both).1 as? Data)
        #expect(program.status([kSecValuePersistentRef: reference]) == errSecSuccess)
        #expect(program.attributes(hasCertificate ? certificates : keys)?[kSecAttrLabel] as? String == "first")
        #expect(program.attributes(hasCertificate ? keys : certificates)?[kSecAttrLabel] as? String == "second")
        #expect(program.adding(both).0 == errSecDuplicateItem)
        #expect(program.count(keys) == 1 && program.count(certificates) == 1)
        #expect(program.add([kSecClass: kSecClassIdentity]) == errSecParam)
        #expect(program.add([kSecClass: kSecClassIdentity, kSecValueData: Data([1])]) == errSecParam)
    }

    @Test("A renewed certificate joins the key that is there; a forged one with the same number adds nothing")
    func addRenewed() throws {
        let old = try identity("mail")
        #expect(program.add([kSecValueRef: old]) == errSecSuccess)
        #expect(program.add([kSecValueRef: try renewed("mail", nextTo: old)]) == errSecSuccess)
        #expect(program.count(identities) == 2 && program.count(keys) == 1)
        #expect(program.delete(keys) == errSecSuccess)
        var forged = [UInt8](try SampleCertificates.der("mail"))
        forged[forged.count - 1] ^= 1
        let other = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, Data(forged) as CFData))
        let identity = try #require(SecIdentityCreate(kCFAllocatorDefault, other, try key(of: old)))
        #expect(program.add([kSecValueRef: identity]) == errSecDuplicateItem)
        #expect(program.count(keys) == 0 && program.count(certificates) == 2)
    }

    @Test(
        "Deleting one identity keeps a key that another certificate uses, and the last one takes it along",
        arguments: ["object", "reference", "query"], [false, true])
    func deleteShared(way: String, isOtherSynchronizable: Bool) throws {
        let old = try identity("mail")
        let new = try renewed("mail", nextTo: old)
        var reference: [SecIdentity: Data] = [:]
        for identity in [old, new] {
            let isOther = identity == new && isOtherSynchronizable
            let half: AnyObject = isOther ? try certificate(of: new) : identity
            let item: [CFString: Any] = [
                kSecValueRef: half, kSecAttrLabel: identity == old ? "old" : "new", kSecReturnPersistentRef: true,
                kSecAttrSynchronizable: isOther,
            ]
            let (status, added) = program.adding(item)
            #expect(status == errSecSuccess)
            reference[identity] = added as? Data
        }
        func delete(_ identity: SecIdentity, _ label: String) throws -> OSStatus {
            switch way {
            case "object": program.delete([kSecValueRef: identity])
            case "reference": program.delete([kSecValuePersistentRef: try #require(reference[identity])])
            default: program.delete(identities.merging([kSecAttrLabel: label]) { $1 })
            }
        }
        #expect(try delete(old, "old") == errSecSuccess)
        #expect(program.count(keys) == 1)
        let all = certificates.merging([kSecAttrSynchronizable: kSecAttrSynchronizableAny]) { $1 }
        #expect(program.count(all) == 1)
        #expect(try delete(old, "old") == errSecItemNotFound)
        #expect(program.count(keys) == 1)
        if isOtherSynchronizable { return }
        #expect(try delete(new, "new") == errSecSuccess)
        #expect(program.count(keys) == 0 && program.count(all) == 0)
    }

    @Test("Deleting all identities deletes a key that they share")
    func deleteAllShared() throws {
        let old = try identity("mail")
        for identity in [old, try renewed("mail", nextTo: old)] {
            #expect(program.add([kSecValueRef: identity]) == errSecSuccess)
        }
        #expect(program.delete(identities) == errSecSuccess)
        #expect(program.count(keys) == 0 && program.count(certificates) == 0)
    }

    @Test("A certificate in a group that the program may not use keeps no key of its own from deletion")
    func otherGroup() throws {
        let mail = try identity("mail")
        #expect(program.add([kSecValueRef: mail]) == errSecSuccess)
        let stranger = try TestClient(groups: ["other"], sharing: program)
        let renewed = try certificate(of: renewed("mail", nextTo: mail))
        #expect(stranger.add([kSecValueRef: renewed]) == errSecSuccess)
        #expect(program.delete([kSecValueRef: mail]) == errSecSuccess)
        #expect(program.count(keys) == 0 && stranger.count(certificates) == 1)
    }

    @Test("Deleting an identity of which one half is there deletes that half", arguments: [true, false])
    func deleteHalf(hasCertificate: Bool) throws {
        let identity = try identity("mail")
        let half: AnyObject = hasCertificate ? try certificate(of: identity) : try key(of: identity)
        #expect(program.add([kSecValueRef: half]) == errSecSuccess)
        #expect(program.delete([kSecValueRef: identity]) == errSecSuccess)
        #expect(program.delete([kSecValueRef: identity]) == errSecItemNotFound)
        #expect(program.count(keys) == 0 && program.count(certificates) == 0)
    }

    @Test("An identity exists while both halves do, and deleting it deletes both")
    func delete() throws {
        for name in ["web", "mail"] { #expect(program.add([kSecValueRef: try identity(name)]) == errSecSuccess) }
        #expect(program.count(identities) == 2)
        let subject: [CFString: Any] = [kSecMatchSubjectContains: "mail", kSecReturnRef: true]
        #expect(program.find(identities.merging(subject) { $1 }).1 is SecIdentity)
        #expect(program.delete([kSecValueRef: try SampleCertificates.object("web")]) == errSecSuccess)
        #expect(program.count(identities) == 1 && program.count(keys) == 2)
        #expect(program.delete(identities) == errSecSuccess)
        #expect(program.delete(identities) == errSecItemNotFound)
        #expect(program.count(keys) == 1 && program.count(certificates) == 0)
    }

    @Test("Deleting identities deletes all of them, even while they are locked")
    func deleteAll() throws {
        let program = try TestClient(hasPasscode: true)
        for name in ["web", "mail"] { #expect(program.add([kSecValueRef: try identity(name)]) == errSecSuccess) }
        program.lock(.locked)
        #expect(program.delete(identities) == errSecSuccess)
        #expect(program.delete(identities) == errSecItemNotFound)
        program.lock(.nobody)
        #expect(program.count(keys) == 0 && program.count(certificates) == 0)
    }

    @Test("Giving data along with an object is refused")
    func dataBesideObject() throws {
        let object = try SampleCertificates.object("web")
        #expect(program.add([kSecValueRef: object, kSecValueData: Data([1])]) == errSecParam)
        #expect(program.count(certificates) == 0)
    }

    @Test("An identity has its own persistent reference and can be deleted but not updated by it")
    func persistentReference() throws {
        #expect(program.add([kSecValueRef: try identity("web")]) == errSecSuccess)
        let added = program.adding([kSecValueRef: try identity("mail"), kSecReturnPersistentRef: true]).1
        let reference = try #require(added as? Data)
        #expect(reference.prefix(4) == Data("idnt".utf8) && reference.count == 20)
        let query: [CFString: Any] = [kSecValuePersistentRef: reference]
        #expect(program.attributes(query)?[kSecAttrLabel] as? String == "mail.example.org")
        #expect(program.update(query, [kSecAttrLabel: "x"]) == errSecUnimplemented)
        #expect(program.update(identities, [kSecAttrLabel: "x"]) == errSecUnimplemented)
        #expect(program.delete(query) == errSecSuccess)
        #expect(program.status(query) == errSecItemNotFound)
        #expect(program.count(identities) == 1)
    }

    @Test("An identity is locked if its key is")
    func locked() throws {
        let program = try TestClient(hasPasscode: true)
        #expect(program.add([kSecValueRef: try identity("mail")]) == errSecSuccess)
        program.lock(.locked)
        #expect(program.find(identities.merging([kSecReturnRef: true]) { $1 }).0 == errSecInteractionNotAllowed)
        #expect(program.add([kSecValueRef: try identity("web")]) == errSecInteractionNotAllowed)
        program.lock(.nobody)
        #expect(program.count(certificates) == 1 && program.count(identities) == 1)
    }

    // MARK: Keys

    @Test(
        "A private key can be added as an object, found by it, and is returned unchanged",
        arguments: ["web", "mail"])
    func keyObject(name: String) throws {
        let object = try key(of: identity(name))
        #expect(program.add([kSecValueRef: object, kSecAttrApplicationTag: "tag"]) == errSecSuccess)
        #expect(program.add([kSecValueRef: object, kSecAttrApplicationTag: "tag"]) == errSecDuplicateItem)
        let found = program.find([kSecValueRef: object, kSecReturnRef: true]).1
        let again = try #require(found as? SecKey)
        #expect(SecKeyCopyExternalRepresentation(again, nil) == SecKeyCopyExternalRepresentation(object, nil))
        let attributes = try #require(SecKeyCopyAttributes(again))
        #expect(attributes[kSecAttrKeyType] as? CFString == (name == "web" ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeEC))
        #expect(attributes[kSecAttrApplicationTag] as? String == "tag" && attributes[kSecAttrAccessGroup] == nil)
        #expect(program.delete([kSecValueRef: object]) == errSecSuccess)
        #expect(program.count(keys) == 0)
    }

    @Test("A key is created from its external representation, and bytes that do not match are refused")
    func keyFromData() throws {
        let object = try key(of: identity("mail"))
        let data = try #require(SecKeyCopyExternalRepresentation(object, nil))
        func make(_ data: Data, _ keyClass: String, _ error: inout Unmanaged<CFError>?) -> SecKey? {
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: keyClass]
            return SecKeyCreateWithData(data as CFData, attributes as CFDictionary, &error)
        }
        var error: Unmanaged<CFError>?
        let made = try #require(make(data as Data, kSecAttrKeyClassPrivate as String, &error))
        #expect(error == nil && SecKeyCopyExternalRepresentation(made, nil) == data)
        for (bytes, keyClass, expected) in [
            (Data([1, 2, 3]) as CFData, kSecAttrKeyClassPrivate, errSecDecode),
            (data, kSecAttrKeyClassPublic, errSecDecode),
            (data, kSecAttrKeyClassSymmetric, errSecUnimplemented), (data, "9", errSecUnimplemented),
        ] {
            #expect(make(bytes as Data, keyClass as String, &error) == nil)
            #expect(try #require(error).takeRetainedValue().code == Int(expected))
            error = nil
        }
        #expect(SecKeyCreateWithData(data as CFData, [:] as CFDictionary, nil) == nil)
    }

    @Test("The attribute that makes a key non-extractable is stored but not enforced")
    func notExtractable() throws {
        let item = keys.merging(
            [kSecAttrIsExtractable: false, kSecAttrIsSensitive: true, kSecValueData: Data([1, 2])]) { $1 }
        #expect(program.add(item) == errSecSuccess)
        #expect(program.find(keys.merging([kSecReturnData: true]) { $1 }).1 as? Data == Data([1, 2]))
        #expect(program.attributes(keys)?[kSecAttrIsExtractable] as? Bool == false)
    }
}
