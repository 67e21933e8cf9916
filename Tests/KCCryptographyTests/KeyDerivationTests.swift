import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@Suite struct KeyDerivationTests {
    /// RFC 4231, cases 1, 2 and 6.
    static let codes: [(key: String, message: String, code: String)] = [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]

    @Test("HMAC-SHA-256 matches the published codes, and its key can be reused", arguments: codes)
    func messageCodes(key: String, message: String, code: String) throws {
        var hmac = try HMAC(key: secret(key))
        let bytes = try hex(message)
        let expected = try hex(code)
        for _ in 0..<3 { #expect(try hmac.authenticate(bytes.span) == expected) }
        for byte in bytes { try hmac.update([byte].span) }
        #expect(try hmac.finalize() == expected)
        #expect(try hmac.isValid(expected, of: bytes.span))
        #expect(try !hmac.isValid(expected.reversed(), of: bytes.span))
        #expect(try !hmac.isValid(Array(expected.prefix(16)), of: bytes.span))
    }

    @Test("HMAC-SHA-256 accepts an empty key and does not keep the previous one")
    func emptyKey() throws {
        var hmac = try HMAC(key: SecretBytes(capacity: 0))
        let nothing: [UInt8] = []
        // The well-known code of the empty message with the empty key.
        #expect(
            try hmac.authenticate(nothing.span)
                == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    /// RFC 5869, cases 1, 2 and 3.
    static let derivations: [(inputKey: String, salt: String, info: String, pseudoRandom: String, output: String)] = [
        (
            String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            digits(0x00...0x4f), digits(0x60...0xaf), digits(0xb0...0xff),
            "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
                + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
                + "cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
        (
            String(repeating: "0b", count: 22), "", "",
            "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ]

    private static func digits(_ range: ClosedRange<UInt8>) -> String {
        Hexadecimal.encode(Array(range))
    }

    @Test("HKDF matches the published keys", arguments: derivations)
    func derivation(inputKey: String, salt: String, info: String, pseudoRandom: String, output: String) throws {
        let key = try HKDF.extract(salt: hex(salt), inputKey: secret(inputKey))
        let keyBytes = key.bytesForTest()
        #expect(try keyBytes == hex(pseudoRandom))
        let expected = try hex(output)
        let purpose = try hex(info)
        let derived = try HKDF.derive(
            inputKey: secret(inputKey), salt: hex(salt), info: purpose, count: expected.count)
        let derivedBytes = derived.bytesForTest()
        #expect(derivedBytes == expected)

        var expander = try HKDFExpander(pseudoRandomKey: key)
        var first = SecretBytes(copying: [1, 2, 3])
        for _ in 0..<2 {
            try expander.expand(info: purpose.span, into: &first)
            let firstBytes = first.bytesForTest()
            #expect(firstBytes == Array(expected.prefix(32)))
        }
    }

    @Test("HKDF refuses output lengths that RFC 5869 does not allow", arguments: [-1, 0, 255 * 32 + 1])
    func lengths(_ count: Int) throws {
        #expect(throws: CryptographyFailure.unsupportedParameters("HKDF output length")) {
            _ = try HKDF.expand(pseudoRandomKey: secret("00"), info: [], count: count).count
        }
    }

    @Test("The longest HKDF output starts with the same bytes as a short one")
    func longestOutput() throws {
        let long = try HKDF.expand(pseudoRandomKey: secret("00"), info: [1], count: HKDF.outputLimit)
        let short = try HKDF.expand(pseudoRandomKey: secret("00"), info: [1], count: 33)
        #expect(long.count == HKDF.outputLimit)
        #expect(Array(long.bytesForTest().prefix(33)) == short.bytesForTest())
    }

    @Test("Scrypt matches the key in RFC 7914 for r = 8 and p = 1")
    func scrypt() throws {
        let key = try Scrypt.derive(
            passphrase: SecretBytes(copying: "pleaseletmein".utf8), salt: Array("SodiumChloride".utf8),
            cost: try #require(ScryptCost(logN: 14)), count: 64)
        #expect(
            try key.bytesForTest()
                == hex(
                    """
                    7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
                    d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
                    """))
    }

    @Test("Scrypt exceeds libcrypto's default memory limit and enforces its own")
    func scryptBounds() throws {
        let cost = try #require(ScryptCost(logN: 15))
        #expect(cost.memoryInBytes == 33_554_432)
        let key = try Scrypt.derive(passphrase: SecretBytes(capacity: 0), salt: [1], cost: cost, count: 32)
        #expect(key.count == 32)
        for logN in [-1, 0, 23, 64, Int.max] { #expect(ScryptCost(logN: logN) == nil) }
        #expect(throws: CryptographyFailure.unsupportedParameters("scrypt output length")) {
            _ = try Scrypt.derive(passphrase: SecretBytes(capacity: 0), salt: [], cost: cost, count: 65).count
        }
    }

    /// RFC 3394, sections 4.3, 4.5 and 4.6.
    static let wrappings: [(key: String, wrapped: String)] = [
        ("00112233445566778899aabbccddeeff", "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
        (
            "00112233445566778899aabbccddeeff0001020304050607",
            "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"
        ),
        (
            "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
        ),
    ]

    @Test("AES key wrap matches the published results and refuses every flipped bit", arguments: wrappings)
    func keyWrap(key: String, wrapped: String) throws {
        let wrappingKey = SecretBytes(copying: 0...31)
        #expect(try AESKeyWrap.wrap(secret(key), with: wrappingKey) == hex(wrapped))
        let original = try hex(wrapped)
        #expect(try AESKeyWrap.unwrap(original, with: wrappingKey).bytesForTest() == hex(key))
        for bit in 0..<original.count * 8 {
            var flipped = original
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CryptographyFailure.authentication) {
                _ = try AESKeyWrap.unwrap(flipped, with: wrappingKey).count
            }
        }
        #expect(throws: CryptographyFailure.authentication) {
            _ = try AESKeyWrap.unwrap(original, with: SecretBytes(copying: 1...32)).count
        }
    }

    @Test("AES key wrap refuses invalid lengths")
    func keyWrapLengths() throws {
        let key = SecretBytes(copying: 0...31)
        #expect(throws: CryptographyFailure.self) { _ = try AESKeyWrap.wrap(SecretBytes(copying: [1]), with: key) }
        #expect(throws: CryptographyFailure.self) { _ = try AESKeyWrap.unwrap([1, 2, 3], with: key).count }
        #expect(throws: CryptographyFailure.unsupportedParameters("wrapping key length")) {
            _ = try AESKeyWrap.wrap(key, with: SecretBytes(copying: 0...15))
        }
    }
}
