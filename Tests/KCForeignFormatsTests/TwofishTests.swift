import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Twofish")
struct TwofishTests {
    @Test("The vector of the authors with a key of 256 bits is decrypted, alone and chained")
    func vector() throws {
        // Schneier et al., "Twofish: A 128-Bit Block Cipher", ecb_ival.txt, KEYSIZE=256.
        let key = SecretBytes(
            copying: [
                0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x00,
                0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
            ] as [UInt8])
        let block: [UInt8] = [
            0x37, 0x52, 0x7b, 0xe0, 0x05, 0x23, 0x34, 0xb8, 0x9f, 0x0c, 0xfc, 0xca, 0xe8, 0x7c, 0xfa, 0x20,
        ]
        var bytes = SecretBytes(copying: block + block)
        var cipher = try Twofish(.decrypt, key: key, .ecb)
        try cipher.process(inPlace: &bytes)
        #expect(bytes.bytesForTest() == [UInt8](repeating: 0, count: 32))
        bytes = SecretBytes(copying: block + block)
        var chained = try Twofish(.decrypt, key: key, .cbc(iv: [UInt8](repeating: 7, count: 16)))
        try chained.process(inPlace: &bytes)
        #expect(bytes.bytesForTest() == [UInt8](repeating: 7, count: 16) + block)
    }

    @Test("Keys, IVs and blocks of other lengths are refused")
    func lengths() throws {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        #expect(throws: CryptographyFailure.self) {
            _ = try Twofish(.decrypt, key: SecretBytes(copying: [1, 2] as [UInt8]), .ecb)
        }
        #expect(throws: CryptographyFailure.self) { _ = try Twofish(.decrypt, key: key, .cbc(iv: [1])) }
        var bytes = SecretBytes(copying: [UInt8](repeating: 0, count: 17))
        var cipher = try Twofish(.decrypt, key: key, .ecb)
        #expect(throws: CryptographyFailure.self) { try cipher.process(inPlace: &bytes) }
    }
}
