import KCByteStreams
import Testing

@testable import KCCryptography

@Suite("Hybrid public key encryption")
struct HPKETests {
    /// RFC 9180, appendix A.5.1.
    private static let message = "4265617574792069732074727574682c20747275746820626561757479"
    private static let info = "4f6465206f6e2061204772656369616e2055726e"
    private static let ephemeral = (
        key: "7550253e1147aae48839c1f8af80d2770fb7a4c763afe7d0afa7e0f42a5b3689",
        point: "04c07836a0206e04e31d8ae99bfd549380b072a1b1b82e563c935c095827824fc1"
            + "559eac6fb9e3c70cd3193968994e7fe9781aa103f5b50e934b5b2f387e381291"
    )
    private static let recipient = (
        key: "a4d1c55836aa30f9b3fbb6ac98d338c877c2867dd3a77396d13f68d3ab150d3b",
        point: "04a697bffde9405c992883c5c439d6cc358170b51af72812333b015621dc0f40ba"
            + "d9bb726f68a5c013806a790ec716ab8669f84f6b694596c2987cf35baba2a006"
    )
    private static let ciphertext =
        "6469c41c5c81d3aa85432531ecf6460ec945bde1eb428cb2fedf7a29f5a685b4ccb0d057f03ea2952a27bb458b"

    private static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hexadecimal.decode(hex)) }

    private static func key(_ half: (key: String, point: String)) throws -> PrivateKey {
        try PrivateKey(
            externalRepresentation: SecretBytes(copying: bytes(half.point) + bytes(half.key)), kind: .ec)
    }

    @Test("A message is encrypted and decrypted as in the RFC's test vector")
    func vector() throws {
        let recipient = try Self.key(Self.recipient)
        let data = Array("Count-0".utf8)
        let encapsulation = try DHKEM.encapsulate(to: recipient.publicKey, ephemeral: Self.key(Self.ephemeral))
        let share = encapsulation.encapsulatedKey
        #expect(Hexadecimal.encode(share) == Self.ephemeral.point)
        let sealed = try HPKE.seal(
            SecretBytes(copying: Self.bytes(Self.message)), under: encapsulation, info: Self.bytes(Self.info),
            associatedData: data)
        #expect(Hexadecimal.encode(sealed) == Self.ciphertext)
        let opened = try HPKE.open(
            sealed, under: DHKEM.decapsulate(share, with: recipient), info: Self.bytes(Self.info), associatedData: data)
        #expect(Hexadecimal.encode(opened.withBytes { span in span.indices.map { span[$0] } }) == Self.message)
    }

    @Test("A compressed point is the same key as the uncompressed one")
    func compressed() throws {
        let point = try Self.bytes(Self.recipient.point)
        let compressed = [UInt8(2 + point[64] & 1)] + point[1...32]
        #expect(try PublicKey(p256: compressed).identity == PublicKey(p256: point).identity)
        let message = SecretBytes(copying: Array("a".utf8))
        let encapsulation = try DHKEM.encapsulate(to: PublicKey(p256: compressed))
        let sealed = try HPKE.seal(message, under: encapsulation, info: [])
        let received = try DHKEM.decapsulate(encapsulation.encapsulatedKey, with: Self.key(Self.recipient))
        let count = try HPKE.open(sealed, under: received, info: []).count
        #expect(count == 1)
    }

    @Test("Another key, purpose or data opens nothing, and an encapsulated key off the curve is refused")
    func refused() throws {
        let key = try PrivateKey.generate(.ec, sizeInBits: 256)
        let encapsulation = try DHKEM.encapsulate(to: key.publicKey)
        let share = encapsulation.encapsulatedKey
        let sealed = try HPKE.seal(
            SecretBytes(copying: [1, 2, 3]), under: encapsulation, info: [7], associatedData: [8])
        for (info, data) in [([7], [9]), ([6], [8]), ([], [])] as [([UInt8], [UInt8])] {
            #expect(throws: CryptographyFailure.authentication) {
                _ = try HPKE.open(
                    sealed, under: DHKEM.decapsulate(share, with: key), info: info, associatedData: data)
            }
        }
        #expect(throws: CryptographyFailure.authentication) {
            let other = try PrivateKey.generate(.ec, sizeInBits: 256)
            _ = try HPKE.open(sealed, under: DHKEM.decapsulate(share, with: other), info: [7], associatedData: [8])
        }
        var off = share
        off[64] ^= 1
        #expect(throws: CertificateFailure.malformed("not a point of P-256")) {
            _ = try DHKEM.decapsulate(off, with: key)
        }
        #expect(throws: CertificateFailure.self) {
            _ = try DHKEM.encapsulate(to: PrivateKey.generate(.ec, sizeInBits: 384).publicKey)
        }
    }
}
