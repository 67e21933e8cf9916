import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("SecItemExport and SecItemImport", .waitsForPrograms)
struct ItemTransferTests {
    private func identity(_ name: String) throws -> SecIdentity {
        SecIdentity(try SampleCertificates.object(name), try SecKey(SampleCertificates.key(name), label: name))
    }

    private func parameters(_ passphrase: AnyObject?) -> SecItemImportExportKeyParameters {
        var parameters = SecItemImportExportKeyParameters()
        // Retained for the lifetime of the process, because the structure does not own it on Apple's systems either.
        parameters.passphrase = passphrase.map { Unmanaged.passRetained($0) }
        return parameters
    }

    private func export(
        _ object: Any, _ format: SecExternalFormat, _ flags: SecItemImportExportFlags = [], _ passphrase: String? = nil
    ) -> (status: OSStatus, file: Data?) {
        var file: CFData?
        var parameters = parameters(passphrase.map { $0 as AnyObject })
        let status = SecItemExport(object, format, flags, &parameters, &file)
        return (status, file as Data?)
    }

    private func read(
        _ file: Data, _ passphrase: String? = nil
    ) -> (status: OSStatus, format: SecExternalFormat, kind: SecExternalItemType, items: [Any]?) {
        var format = SecExternalFormat.formatUnknown
        var kind = SecExternalItemType.itemTypeUnknown
        var items: CFArray?
        var parameters = parameters(passphrase.map { $0 as AnyObject })
        let status = SecItemImport(file as CFData, nil, &format, &kind, [], &parameters, nil, &items)
        return (status, format, kind, items as? [Any])
    }

    @Test(
        "An identity exported as PKCS #12 can be imported unchanged, but only with its passphrase",
        arguments: ["web", "mail"])
    func identityThroughPKCS12(name: String) throws {
        let identity = try identity(name)
        #expect(export(identity, .formatPKCS12).status == errSecPassphraseRequired)
        let file = try #require(export([identity], .formatUnknown, [], "walnut").file)
        #expect(read(file).status == errSecPassphraseRequired)
        #expect(read(file, "peanut").status == errSecAuthFailed)
        let back = read(file, "walnut")
        #expect(back.status == errSecSuccess && back.format == .formatPKCS12 && back.kind == .itemTypeAggregate)
        #expect(back.items?.count == 1)
        let found = try #require(back.items?.first as? SecIdentity)
        #expect(found.certificate == identity.certificate)
        #expect(try found.key.privateKey().publicKey == identity.key.privateKey().publicKey)
    }

    @Test("openssl reads an exported key and certificate in PEM and DER")
    func judgedByOpenSSL() throws {
        let identity = try identity("mail")
        let openssl = try OpenSSLCommand()
        func write(_ file: Data?, _ name: String) throws { try openssl.folder.write(name, [UInt8](#require(file))) }
        try write(export(identity.certificate, .formatX509Cert).file, "exported.der")
        let half = try openssl("x509 -inform DER -in exported.der -noout -pubkey")
        try write(export(identity.key, .formatWrappedPKCS8, .pemArmour, "walnut").file, "wrapped.pem")
        #expect(try openssl("pkey -in wrapped.pem -passin pass:walnut -pubout") == half)
        try write(export(identity.key, .formatOpenSSL).file, "key.der")
        #expect(try openssl("pkey -inform DER -in key.der -pubout") == half)
        try write(export(identity, .formatPKCS12, [], "walnut").file, "identity.p12")
        #expect(try openssl("pkcs12 -in identity.p12 -passin pass:walnut -nodes").contains("PRIVATE KEY"))
    }

    @Test("Every format of a key or certificate is detected and yields the same object")
    func forms() throws {
        let identity = try identity("web")
        let half = try #require(SecKeyCopyPublicKey(identity.key))
        for (object, format, flags, passphrase, found, kind) in [
            (identity.certificate as Any, .formatX509Cert, [], nil, .formatX509Cert, .itemTypeCertificate),
            (identity.certificate, .formatUnknown, .pemArmour, nil, .formatX509Cert, .itemTypeCertificate),
            (identity.key, .formatOpenSSL, [], nil, .formatOpenSSL, .itemTypePrivateKey),
            (identity.key, .formatUnknown, .pemArmour, nil, .formatPEMSequence, .itemTypePrivateKey),
            (identity.key, .formatWrappedPKCS8, [], "walnut", .formatWrappedPKCS8, .itemTypePrivateKey),
            (half, .formatOpenSSL, [], nil, .formatOpenSSL, .itemTypePublicKey),
            (half, .formatOpenSSL, .pemArmour, nil, .formatPEMSequence, .itemTypePublicKey),
        ] as [(Any, SecExternalFormat, SecItemImportExportFlags, String?, SecExternalFormat, SecExternalItemType)] {
            let file = try #require(export(object, format, flags, passphrase).file)
            let back = read(file, passphrase)
            #expect(back.status == errSecSuccess && back.format == found && back.kind == kind && back.items?.count == 1)
            if let certificate = object as? SecCertificate {
                #expect(back.items?.first as? SecCertificate == certificate)
            } else {
                let key = try #require(back.items?.first as? SecKey)
                #expect(try key.publicKey() == (object as? SecKey)?.publicKey())
            }
        }
    }

    @Test("Several items are exported as PEM, and an item that a format cannot hold makes the export fail")
    func refusals() throws {
        let (web, mail) = (try identity("web"), try identity("mail"))
        let sequence = try #require(export([web, mail.certificate, mail.key], .formatUnknown).file)
        let back = read(sequence)
        #expect(back.kind == .itemTypeAggregate && back.items?.count == 2)
        #expect(back.items?.allSatisfy { $0 is SecIdentity } == true)
        for (object, format) in [
            ([web.certificate, mail.certificate] as Any, SecExternalFormat.formatOpenSSL), (web.key, .formatX509Cert),
            (web.key, .formatPKCS12), (web.certificate, .formatOpenSSL), (web.key, .formatSSHv2),
            (web.certificate, .formatRawKey),
        ] {
            let result = export(object, format, [], "walnut")
            #expect(result.status == errSecUnsupportedFormat && result.file == nil)
        }
        for object in ["text", [] as [Any], [web.key, 7]] as [Any] {
            let result = export(object, .formatUnknown)
            #expect(result.status == errSecParam && result.file == nil)
        }
        var one = SecItemImportExportKeyParameters()
        one.flags = .importOnlyOne
        var items: CFArray?
        #expect(SecItemImport(sequence as CFData, nil, nil, nil, [], &one, nil, &items) == errSecMultiplePrivKeys)
        #expect(items == nil)
    }

    @Test("A non-extractable key is not exported, and a passphrase must be text or data")
    func notExtractable() throws {
        let identity = try identity("mail")
        var attributes = identity.key.attributes
        attributes[.extr] = .number(0)
        let kept = SecKey(attributes, identity.key.material.copy())
        for object in [kept, SecIdentity(identity.certificate, kept)] as [Any] {
            let result = export(object, .formatUnknown, .pemArmour, "walnut")
            #expect(result.status == errSecDataNotAvailable && result.file == nil)
        }
        var file: CFData?
        var numbered = parameters(NSNumber(value: 7))
        #expect(SecItemExport(identity, .formatPKCS12, [], &numbered, &file) == errSecParam)
        numbered = parameters(nil)
        numbered.flags = .securePassphrase
        #expect(SecItemExport(identity, .formatPKCS12, [], &numbered, &file) == errSecUnimplemented && file == nil)
    }

    @Test("Imported items can be added with SecItemAdd, and their identity is then found")
    func addImported() throws {
        let program = try TestClient()
        let file = try #require(export(identity("web"), .formatPKCS12, [], "walnut").file)
        for item in read(file, "walnut").items ?? [] {
            #expect(program.client.add([kSecValueRef: item], nil) == errSecSuccess)
        }
        #expect(program.status([kSecClass: kSecClassIdentity]) == errSecSuccess)
    }
}
