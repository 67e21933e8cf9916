import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Certificate items", .waitsForPrograms)
struct CertificateTests {
    private let program: TestClient
    private let certificates: [CFString: Any] = [kSecClass: kSecClassCertificate]

    init() throws {
        program = try TestClient(hasPasscode: true)
    }

    private func with(_ more: [CFString: Any]) -> [CFString: Any] { certificates.merging(more) { $1 } }

    /// The summaries of the certificates that match.
    private func found(_ conditions: [CFString: Any]) -> Set<String> {
        let query = with(conditions).merging([kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll]) { $1 }
        let objects = program.find(query).1 as? [SecCertificate] ?? []
        return Set(objects.compactMap { SecCertificateCopySubjectSummary($0) as String? })
    }

    private func addAll() throws {
        for name in ["authority", "web", "mail"] {
            #expect(program.add([kSecValueRef: try SampleCertificates.object(name)]) == errSecSuccess)
        }
    }

    @Test("A certificate added as an object or as data is the same item", arguments: [true, false])
    func addOnce(asObject: Bool) throws {
        let object = try SampleCertificates.object("mail")
        let data = try SampleCertificates.der("mail")
        let byObject: [CFString: Any] = [kSecValueRef: object]
        let byData = with([kSecValueData: data])
        #expect(program.add(asObject ? byObject : byData) == errSecSuccess)
        #expect(program.add(byObject) == errSecDuplicateItem)
        #expect(program.add(byData) == errSecDuplicateItem)
        #expect(program.add(with(byObject)) == errSecDuplicateItem)
        #expect(program.find(with([kSecReturnData: true])).1 as? Data == data)
        #expect(program.find([kSecValueRef: object, kSecReturnRef: true]).1 as? SecCertificate == object)
        #expect(program.add([kSecClass: kSecClassKey, kSecValueRef: object]) == errSecParam)
    }

    @Test("An added certificate is returned in the form that the return keys request")
    func shapes() throws {
        let object = try SampleCertificates.object("mail")
        func added(_ keys: String...) throws -> AnyObject? {
            _ = program.delete(certificates)
            let query: [CFString: Any] = [kSecValueRef: object]
            let (status, result) = program.adding(query.merging(keys.map { ($0 as CFString, true) }) { $1 })
            #expect(status == errSecSuccess)
            return result
        }
        #expect(try added() == nil)
        #expect(try added(kSecReturnData as String) as? Data == SampleCertificates.der("mail"))
        #expect(try added(kSecReturnRef as String) as? SecCertificate == object)
        let reference = try #require(try added(kSecReturnPersistentRef as String) as? Data)
        #expect(reference.prefix(4) == Data("cert".utf8) && reference.count == 20)
        let attributes = try #require(try added(kSecReturnAttributes as String) as? [CFString: Any])
        #expect(attributes[kSecAttrLabel] as? String == "mail.example.org")
        #expect(attributes[kSecClass] == nil && attributes[kSecValueData] == nil)
        let several = try #require(
            try added(
                kSecReturnAttributes as String, kSecReturnRef as String, kSecReturnData as String,
                kSecReturnPersistentRef as String) as? [CFString: Any])
        #expect(several[kSecValueRef] as? SecCertificate == object)
        #expect(several[kSecValueData] as? Data == SecCertificateCopyData(object) as Data)
        #expect(several[kSecClass] as? CFString == kSecClassCertificate)
        #expect((several[kSecValuePersistentRef] as? Data)?.count == 20)
    }

    @Test("The attributes of a certificate item come from the certificate")
    func attributes() throws {
        let object = try SampleCertificates.object("mail")
        #expect(program.add([kSecValueRef: object]) == errSecSuccess)
        let attributes = try #require(program.attributes(certificates))
        #expect(attributes[kSecAttrCertificateType] as? Int == 3)
        #expect(attributes[kSecAttrCertificateEncoding] as? Int == 3)
        #expect(
            attributes[kSecAttrIssuer] as? Data == SecCertificateCopyNormalizedIssuerSequence(object) as Data?)
        #expect(
            attributes[kSecAttrSubject] as? Data == SecCertificateCopyNormalizedSubjectSequence(object) as Data?)
        let serial = Data([0x4b, 0x43, 0, 0, 0, 0, 0, 3])
        #expect(attributes[kSecAttrSerialNumber] as? Data == serial)
        #expect(SecCertificateCopySerialNumberData(object, nil) as Data? == serial)
        #expect(attributes[kSecAttrAlias] as? String == "grace@example.org")
        #expect((attributes[kSecAttrPublicKeyHash] as? Data)?.count == 20)
        #expect(attributes[kSecAttrSubjectKeyID] as? Data == attributes[kSecAttrPublicKeyHash] as? Data)
        #expect(attributes[kSecAttrAccessible] as? CFString == kSecAttrAccessibleAlways)
        let bySerial = with([kSecAttrIssuer: attributes[kSecAttrIssuer] as Any, kSecAttrSerialNumber: serial])
        #expect(program.status(bySerial) == errSecSuccess)
    }

    @Test("A certificate is readable while locked, unless it is given a stricter accessibility")
    func locked() throws {
        let object = try SampleCertificates.object("web")
        #expect(program.add([kSecValueRef: object]) == errSecSuccess)
        program.lock(.beforeFirstUnlock)
        #expect(program.find(with([kSecReturnRef: true])).1 as? SecCertificate == object)
        program.lock(.nobody)
        let stricter = [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]
        #expect(program.update([kSecValueRef: object, kSecClass: kSecClassCertificate], stricter) == errSecSuccess)
        program.lock(.locked)
        #expect(program.find(with([kSecReturnRef: true])).0 == errSecInteractionNotAllowed)
    }

    @Test("An object matches only its own item when finding, updating and deleting")
    func byObject() throws {
        try addAll()
        let mail = try SampleCertificates.object("mail")
        #expect(program.update([kSecValueRef: mail], [kSecAttrLabel: "Grace"]) == errSecSuccess)
        #expect(program.attributes([kSecValueRef: mail])?[kSecAttrLabel] as? String == "Grace")
        #expect(program.delete([kSecValueRef: mail]) == errSecSuccess)
        #expect(program.delete([kSecValueRef: mail]) == errSecItemNotFound)
        #expect(found([:]) == ["kcbackup Sample Root (do not trust)", "www.example.com"])
    }

    @Test("Certificates can be matched by subject, email address and issuer")
    func conditions() throws {
        try addAll()
        let root = "kcbackup Sample Root (do not trust)"
        #expect(found([kSecMatchSubjectContains: "EXAMPLE.com"]) == ["www.example.com"])
        #expect(found([kSecMatchSubjectContains: "example"]) == ["www.example.com", "mail.example.org"])
        #expect(found([kSecMatchSubjectContains: "nobody"]) == [])
        // A certificate without an email address matches any address.
        #expect(found([kSecMatchEmailAddressIfPresent: "Grace@example.org"]).contains("mail.example.org"))
        #expect(found([kSecMatchEmailAddressIfPresent: "eve@example.org"]) == [root, "www.example.com"])
        let authority = try SampleCertificates.object("authority")
        let name = try #require(SecCertificateCopyNormalizedSubjectSequence(authority))
        #expect(found([kSecMatchIssuers: [name]]) == [root, "www.example.com", "mail.example.org"])
        #expect(found([kSecMatchIssuers: [Data([1])]]) == [] && found([kSecMatchIssuers: [Data]()]) == [])
    }

    @Test("Certificates can be matched by a date on which they are valid, where null means now")
    func validOnDate() throws {
        try addAll()
        let formatter = ISO8601DateFormatter()
        func moment(_ text: String) -> Date { formatter.date(from: text) ?? .distantPast }
        #expect(found([kSecMatchValidOnDate: moment("2025-12-31T23:59:59Z")]) == [])
        #expect(found([kSecMatchValidOnDate: moment("2026-01-01T00:00:00Z")]).count == 3)
        #expect(found([kSecMatchValidOnDate: Date.distantFuture]) == [])
        let now = moment("2026-01-01T00:00:00Z") <= Date() ? found([kSecMatchValidOnDate: Date()]) : []
        #expect(found([kSecMatchValidOnDate: NSNull()]) == now)
    }

    @Test("A query does not evaluate policies and trust, and one that requests it is refused")
    func trust() throws {
        try addAll()
        #expect(program.status(with([kSecMatchPolicy: "x"])) == errSecUnimplemented)
        #expect(program.status(with([kSecMatchTrustedOnly: true])) == errSecUnimplemented)
        #expect(program.status(with([kSecMatchTrustedOnly: false])) == errSecSuccess)
    }

    @Test("The certificate functions return the certificate's contents, and invalid bytes are refused")
    func functions() throws {
        let mail = try SampleCertificates.object("mail")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(mail, &name) == errSecSuccess && name == "mail.example.org")
        var addresses: CFArray?
        #expect(SecCertificateCopyEmailAddresses(mail, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == ["grace@example.org"])
        #expect(SecCertificateCopyData(mail) as Data == (try SampleCertificates.der("mail")))
        let der = try SampleCertificates.der("mail")
        for bytes in [Data(), Data([1, 2, 3]), der.dropLast(), der + Data([0])] {
            #expect(SecCertificateCreateWithData(nil, Data(bytes) as CFData) == nil)
        }
    }

    @Test("Data that is not a certificate is stored unchanged, without certificate attributes or an object")
    func notACertificate() throws {
        #expect(program.add(with([kSecValueData: Data([1]), kSecAttrSerialNumber: Data([7])])) == errSecSuccess)
        #expect(program.find(with([kSecReturnData: true])).1 as? Data == Data([1]))
        #expect(program.find(with([kSecReturnRef: true])).1 == nil)
        #expect(program.attributes(certificates)?[kSecAttrSubject] == nil)
        #expect(program.status(with([kSecMatchSubjectContains: ""])) == errSecItemNotFound)
    }
}
