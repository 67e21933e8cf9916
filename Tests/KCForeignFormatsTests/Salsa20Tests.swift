import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Salsa20")
struct Salsa20Tests {
    private func stream(_ pieces: [Int]) throws -> String {
        var key = SecretBytes(capacity: 32)
        key.append(0x80)
        for _ in 1..<32 { key.append(0) }
        var cipher = try Salsa20(key: key, nonce: [UInt8](repeating: 0, count: 8))
        var output: [UInt8] = []
        for piece in pieces {
            var bytes = SecretBytes(copying: [UInt8](repeating: 0, count: piece))
            try cipher.process(inPlace: &bytes)
            bytes.withBytes { span in for index in span.indices { output.append(span[index]) } }
        }
        return Hexadecimal.encode(output)
    }

    @Test("Matches the keystream of eSTREAM's vector (set 1, vector 0), in pieces of any size")
    func vector() throws {
        let expected =
            "e3be8fdd8beca2e3ea8ef9475b29a6e7003951e1097a5c38d23b7a5fad9f6844b22c97559e2723c7cbbd3fe4fc8d9a0744652a83e72a9c461876af4d7ef1a117"
        #expect(try stream([64]) == expected)
        #expect(try stream([1, 30, 0, 33]) == expected)
    }

    @Test("Twofish matches the known answer for zeros with a key of 256 bits, in blocks of a chain")
    func twofish() throws {
        let key = SecretBytes(copying: [UInt8](repeating: 0, count: 32))
        let zeros = [UInt8](repeating: 0, count: 16)
        var encryption = try Twofish(.encrypt, key: key, .cbc(iv: zeros))
        var bytes = SecretBytes(copying: zeros + zeros)
        try encryption.process(inPlace: &bytes)
        let first = bytes.withBytes { span in (0..<16).map { span[$0] } }
        #expect(Hexadecimal.encode(first) == "57ff739d4dc92c1bd7fc01700cc8216f")
        var decryption = try Twofish(.decrypt, key: key, .cbc(iv: zeros))
        try decryption.process(inPlace: &bytes)
        #expect(bytes.bytesForTest() == zeros + zeros)
        #expect(throws: CryptographyFailure.self) {
            var partial = SecretBytes(copying: [1])
            try decryption.process(inPlace: &partial)
        }
        #expect(throws: CryptographyFailure.self) { _ = try Twofish(.decrypt, key: key, .cbc(iv: [1])) }
    }

    @Test("A key or nonce of the wrong length is refused")
    func lengths() {
        #expect(throws: CryptographyFailure.self) {
            _ = try Salsa20(key: SecretBytes(copying: [1, 2, 3]), nonce: [UInt8](repeating: 0, count: 8))
        }
    }
}
