import Foundation
import KCCertificateItems
import KCCryptography
import KCKeychainModel
import KCTestSupport
import Testing

@Suite(.waitsForPrograms) struct CertificateDraftTests {
    /// The sample items of one class, by label.
    static func sampleItems(_ itemClass: ItemClass) throws -> [String: ItemDraft] {
        let path = OpenSSLCommand.samples + "/../keychain.jsonl"
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
        var drafts: [String: ItemDraft] = [:]
        for line in lines {
            let draft = try ImportLine([UInt8](line).span).draft
            if draft.itemClass == itemClass, let label = draft.attributes.text(.labl) { drafts[label] = draft }
        }
        return drafts
    }

    @Test("A sample certificate produces the attributes of its sample item", arguments: ["authority", "web", "mail"])
    func samples(name: String) throws {
        let pem = try [UInt8](Data(contentsOf: URL(filePath: OpenSSLCommand.samples + "/\(name).pem")))
        let certificate = try X509Certificate(pem: pem.span)
        let draft = ItemDraft(certificate: certificate)
        var expected = try #require(Self.sampleItems(.certificate)[certificate.subjectSummary ?? ""])
        // The access group and accessibility do not come from the certificate.
        for code in [AttributeCode.agrp, .pdmn] { expected.attributes[code] = nil }
        #expect(draft == expected)
        #expect(certificate.keychainSecret.bytesForTest() == certificate.der)
        #expect(ItemDraft(certificate: certificate, label: "mine").attributes.text(.labl) == "mine")
    }
}
