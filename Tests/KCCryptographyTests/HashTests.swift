import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@Suite struct HashTests {
    /// FIPS 180-4 examples.
    static let hashes = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test("SHA-256 matches the published hashes, at once or byte by byte", arguments: hashes)
    func sha256(text: String, hash: String) {
        let bytes = Array(text.utf8)
        #expect(SHA256.hash(bytes.span).hex == hash)
        var piecewise = SHA256()
        for byte in bytes { piecewise.update([byte].span) }
        let digest = piecewise.finalize()
        #expect(digest == SHA256Digest(hex: hash))
        #expect(digest == SHA256Digest(bytes: digest.bytes))
    }

    @Test(
        "Only 64 lowercase hexadecimal digits are accepted as a hash",
        arguments: [
            "", "e3b0", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85g",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85500",
        ])
    func spelling(_ text: String) {
        #expect(SHA256Digest(hex: text) == nil)
    }

    @Test("Random bytes have the requested length and do not repeat", arguments: [0, 1, 255, 256, 257, 1000])
    func random(_ count: Int) throws {
        let bytes = try RandomBytes.bytes(count: count)
        let secret = try RandomBytes.secret(count: count)
        #expect(bytes.count == count)
        #expect(secret.count == count)
        if count > 200 {
            #expect(try RandomBytes.bytes(count: count) != bytes)
            #expect(try RandomBytes.secret(count: count).bytesForTest() != secret.bytesForTest())
            #expect(bytes.suffix(32).contains { $0 != 0 })
        }
    }

    @Test("Constant-time comparison agrees with plain comparison")
    func comparison() {
        let values: [[UInt8]] = [[], [0], [1], [1, 2], [1, 3], [0, 2], [1, 2, 3]]
        for left in values {
            for right in values {
                #expect(constantTimeEqual(left, right) == (left == right))
                let secretsEqual = constantTimeEqual(SecretBytes(copying: left), SecretBytes(copying: right))
                #expect(secretsEqual == (left == right))
            }
        }
    }
}
