import KCByteStreams
import KCCertificateItems
import KCCryptography
import KCKeychainModel
import KCTestSupport
import Testing

@Suite(.waitsForPrograms) struct KeyDraftTests {
    private func key(_ name: String) throws -> PrivateKey {
        let der = try OpenSSLCommand().read(name + ".key.der")
        return try PrivateKey(der: der.span)
    }

    @Test(
        "Class, type, sizes and application label match those of the sample item",
        arguments: [
            ("authority", "kcbackup Sample Root"), ("web", "www.example.com"),
        ])
    func samples(name: String, label: String) throws {
        let sample = try #require(CertificateDraftTests.sampleItems(.key)[label])
        let tag = try #require(sample.attributes[.atag]?.keyBytes)
        let draft = try ItemDraft(privateKey: key(name), label: label, applicationTag: tag)
        #expect(draft.itemClass == .key)
        for code in [AttributeCode.kcls, .type, .bsiz, .esiz, .klbl, .atag, .labl, .perm, .priv, .sign] {
            #expect(draft.attributes[code] == sample.attributes[code], "\(code)")
        }
    }

    @Test("A private key may decrypt, derive, sign and unwrap, and a public key may do the counterparts")
    func uses() throws {
        let key = try key("mail")
        let privateDraft = try ItemDraft(privateKey: key)
        let publicDraft = try ItemDraft(publicKey: key.publicKey)
        #expect(uses(of: privateDraft) == [.decr, .drve, .sign, .unwp])
        #expect(uses(of: publicDraft) == [.drve, .encr, .vrfy, .wrap])
        #expect(privateDraft.attributes.number(.kcls) == 1)
        #expect(publicDraft.attributes.number(.kcls) == 0)
        #expect(privateDraft.attributes[.klbl] == publicDraft.attributes[.klbl])
        for draft in [privateDraft, publicDraft] {
            #expect(draft.attributes.number(.type) == 73)
            #expect([AttributeCode.perm, .priv, .modi, .extr].map { draft.attributes.number($0) } == [1, 1, 1, 1])
            #expect([AttributeCode.sens, .asen, .next].map { draft.attributes.number($0) } == [0, 0, 0])
            #expect(draft.attributes[.labl] == nil)
            #expect(draft.attributes[.atag] == nil)
        }
    }

    @Test("A symmetric key is an AES key that may encrypt, decrypt, wrap and unwrap")
    func symmetric() {
        let draft = ItemDraft(symmetricKeyOfBits: 256, applicationLabel: [1, 2], label: "files", applicationTag: [3])
        #expect(uses(of: draft) == [.decr, .encr, .unwp, .wrap])
        #expect([AttributeCode.kcls, .type, .bsiz].map { draft.attributes.number($0) } == [2, 2_147_483_649, 256])
        #expect(draft.attributes[.klbl] == .data([1, 2]))
        #expect(draft.attributes[.atag] == .data([3]))
    }

    @Test("Key kinds and key type numbers map one to one")
    func types() {
        let numbers: [(KeyKind, Int64)] = [
            (.rsa, 42), (.ec, 73), (.ed25519, 105), (.x25519, 106), (.ed448, 107), (.x448, 108),
        ]
        for (kind, number) in numbers {
            #expect(kind.keyType == number)
            #expect(KeyKind(keyType: number) == kind)
        }
        #expect(KeyKind.other("DSA").keyType == nil)
        #expect(KeyKind(keyType: 43) == nil)
    }

    @Test("Every draft yields a valid item")
    func valid() throws {
        let now = try #require(Timestamp(microseconds: 0))
        for name in ["mail", "web", "authority"] {
            let key = try key(name)
            _ = try ItemDraft(privateKey: key).completed(now: now, secretSize: 1)
            _ = try ItemDraft(publicKey: key.publicKey).completed(now: now, secretSize: 1)
        }
        _ = try ItemDraft(symmetricKeyOfBits: 128, applicationLabel: []).completed(now: now, secretSize: 16)
    }

    private func uses(of draft: ItemDraft) -> [AttributeCode] {
        let all: [AttributeCode] = [.decr, .drve, .encr, .sign, .snrc, .unwp, .vrfy, .vyrc, .wrap]
        #expect(all.allSatisfy { draft.attributes[$0] != nil })
        return all.filter { draft.attributes.number($0) == 1 }
    }
}
