import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@Suite("Ciphers, hashes and key derivations in files of other programs")
struct ForeignCipherTests {
    /// The four blocks of NIST SP 800-38A, appendix F.
    static let blocks = """
        6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
        30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
        """
    static let key256 = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"

    struct Case: Sendable, CustomTestStringConvertible {
        let algorithm: BlockCipher.Algorithm
        let key: String
        let iv: String
        let plaintext: String
        let ciphertext: String

        var testDescription: String { "\(algorithm.rawValue), key of \(key.utf8.count / 2)" }
    }

    static let cases = [
        Case(
            algorithm: .aes128CBC, key: "2b7e151628aed2a6abf7158809cf4f3c", iv: "000102030405060708090a0b0c0d0e0f",
            plaintext: blocks,
            ciphertext: """
                7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2
                73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7
                """),
        Case(
            algorithm: .aes256CBC, key: key256, iv: "000102030405060708090a0b0c0d0e0f", plaintext: blocks,
            ciphertext: """
                f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d
                39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b
                """),
        Case(
            algorithm: .aes256CTR, key: key256, iv: "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", plaintext: blocks,
            ciphertext: """
                601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5
                2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6
                """),
        Case(
            algorithm: .aes256ECB, key: key256, iv: "", plaintext: blocks,
            ciphertext: """
                f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870
                b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7
                """),
        // NIST SP 800-67, "The qufck brown fox jump", with its second and third blocks chained.
        Case(
            algorithm: .tripleDESCBC, key: "0123456789abcdef23456789abcdef01456789abcdef0123", iv: "0000000000000000",
            plaintext: "5468652071756663" + xor("6b2062726f776e20", "a826fd8ce53b855f")
                + xor("666f78206a756d70", "cce21c8112256fe6"),
            ciphertext: "a826fd8ce53b855fcce21c8112256fe668d5c05dd9b6b900"),
        // Eric Young's Blowfish vectors.
        Case(
            algorithm: .blowfishCBC, key: "0123456789abcdeff0e1d2c3b4a59687", iv: "fedcba9876543210",
            plaintext: "37363534333231204e6f77206973207468652074696d6520666f722000000000",
            ciphertext: "6b77b4d63006dee605b156e27403979358deb9e7154616d959f1652bd5ff92cc"),
        Case(
            algorithm: .blowfishECB, key: "f0e1d2c3b4a5968778695a4b3c2d1e0f00112233", iv: "",
            plaintext: "fedcba9876543210", ciphertext: "10851c0e3858da9f"),
        Case(
            algorithm: .blowfishECB, key: "f0e1d2c3b4a5968778695a4b3c2d1e0f0011223344556677", iv: "",
            plaintext: "fedcba9876543210", ciphertext: "05044b62fa52d080"),
    ]

    private static func xor(_ left: String, _ right: String) -> String {
        guard let left = Hexadecimal.decode(left), let right = Hexadecimal.decode(right) else { return "" }
        return Hexadecimal.encode(zip(left, right).map { $0 ^ $1 })
    }

    @Test("Ciphers match the published vectors at once, block by block and in place", arguments: cases)
    func ciphers(_ vector: Case) throws {
        let key = try secret(vector.key)
        let iv = try hex(vector.iv)
        let (plaintext, ciphertext) = (try hex(vector.plaintext), try hex(vector.ciphertext))
        #expect(
            try BlockCipher.decrypt(ciphertext.span, vector.algorithm, key: key, iv: iv.span).bytesForTest()
                == plaintext)
        var cipher = try BlockCipher(vector.algorithm, .encrypt, key: key, iv: iv.span)
        var output = SecretBytes(capacity: ciphertext.count)
        for start in stride(from: 0, to: plaintext.count, by: vector.algorithm.blockSize) {
            try cipher.process(plaintext.span.extracting(start..<start + vector.algorithm.blockSize), into: &output)
        }
        #expect(output.bytesForTest() == ciphertext)
        cipher = try BlockCipher(vector.algorithm, .decrypt, key: key, iv: iv.span)
        try cipher.process(inPlace: &output)
        #expect(output.bytesForTest() == plaintext)
    }

    @Test(
        "Partial blocks, and keys and initialization vectors of other lengths, are refused",
        arguments: BlockCipher.Algorithm.allCases)
    func lengths(_ algorithm: BlockCipher.Algorithm) throws {
        let key = SecretBytes(copying: [UInt8](repeating: 7, count: algorithm.keyLengths.upperBound))
        let iv = [UInt8](repeating: 0, count: algorithm.ivLength)
        if algorithm.blockSize > 1 {
            #expect(throws: CryptographyFailure.unsupportedParameters("length of blocks")) {
                let bytes: [UInt8] = [1, 2, 3]
                _ = try BlockCipher.decrypt(bytes.span, algorithm, key: key, iv: iv.span)
            }
        }
        for count in [0, algorithm.keyLengths.lowerBound - 1, algorithm.keyLengths.upperBound + 1] {
            #expect(throws: CryptographyFailure.unsupportedParameters("key length")) {
                let wrong = SecretBytes(copying: [UInt8](repeating: 7, count: count))
                _ = try BlockCipher(algorithm, .decrypt, key: wrong, iv: iv.span)
            }
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("initialization vector length")) {
            let longer = iv + [0]
            _ = try BlockCipher(algorithm, .decrypt, key: key, iv: longer.span)
        }
        let nothing: [UInt8] = []
        #expect(try BlockCipher.decrypt(nothing.span, algorithm, key: key, iv: iv.span).isEmpty)
    }

    @Test(
        "Valid padding is removed, and invalid padding leaves the bytes unchanged",
        arguments: [
            ([1, 2, 3, 4, 5, 6, 7, 1], 7), (Array(repeating: 8, count: 8), 0), ([1, 2, 3, 4, 5, 3, 3, 3], 5),
            ([1, 2, 3, 4, 5, 2, 3, 3], nil), (Array(repeating: 0, count: 8), nil), (Array(repeating: 9, count: 8), nil),
            ([1, 2, 1], nil), ([], nil),
        ] as [([UInt8], Int?)])
    func padding(bytes: [UInt8], rest: Int?) {
        var secret = SecretBytes(copying: bytes)
        #expect(secret.removePadding(blockSize: 8) == (rest != nil))
        #expect(secret.bytesForTest() == Array(bytes.prefix(rest ?? bytes.count)))
    }

    @Test(
        "Hash functions match the published hashes",
        arguments: [
            (.md5, "900150983cd24fb0d6963f7d28e17f72"), (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                .sha384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                    + "8086072ba1e7cc2358baeca134c825a7"
            ),
            (
                .sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
        ] as [(HashFunction, String)])
    func hashes(function: HashFunction, expected: String) throws {
        let message = Array("abc".utf8)
        #expect(try function.hash(message.span).bytesForTest() == hex(expected))
        #expect(try function.digest(of: message.span) == hex(expected))
        #expect(function.length == expected.utf8.count / 2)
    }

    /// RFC 2202, cases 1, 2 and 6.
    @Test(
        "HMAC-SHA-1 matches the published codes, and its key can be reused",
        arguments: [
            (String(repeating: "0b", count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
            ("4a656665", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (
                String(repeating: "aa", count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
        ])
    func messageCodes(key: String, message: String, code: String) throws {
        var hmac = try HMAC(.sha1, key: secret(key))
        for _ in 0..<3 {
            for byte in message.utf8 { try hmac.update([byte].span) }
            #expect(try hmac.finalize() == hex(code))
        }
    }

    /// RFC 6070, RFC 7914 (section 11), and the well-known SHA-512 vector.
    @Test(
        "PBKDF2 matches the published keys",
        arguments: [
            (.sha1, "password", "salt", 4_096, "4b007901b765489abead49d926f721d065a429c1"),
            (.sha1, "pass\0word", "sa\0lt", 4_096, "56fa6aa75548099dcc37d7f03425e0c3"),
            (
                .sha256, "passwd", "salt", 1,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                    + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
            ),
            (
                .sha512, "password", "salt", 1,
                "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
                    + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"
            ),
        ] as [(HashFunction, String, String, Int, String)])
    func derivations(hash: HashFunction, password: String, salt: String, rounds: Int, expected: String) throws {
        let expected = try hex(expected)
        let key = try PBKDF2.derive(
            password: SecretBytes(copying: password.utf8), salt: Array(salt.utf8).span, rounds: rounds, hash: hash,
            count: expected.count)
        #expect(key.bytesForTest() == expected)
    }

    @Test("PBKDF2 accepts an empty password and salt, and refuses fewer than one round or too many")
    func derivationLimits() throws {
        let nothing = SecretBytes(capacity: 0)
        let salt: [UInt8] = []
        let key = try PBKDF2.derive(password: nothing, salt: salt.span, rounds: 1, hash: .sha256, count: 32)
        // From Python's hashlib.pbkdf2_hmac("sha256", b"", b"", 1).
        #expect(try key.bytesForTest() == hex("f7ce0b653d2d72a4108cf5abe912ffdd777616dbbb27a70e8204f3ae2d0f6fad"))
        for rounds in [0, -1, Int(Int32.max) + 1] {
            #expect(throws: CryptographyFailure.self) {
                _ = try PBKDF2.derive(password: nothing, salt: salt.span, rounds: rounds, hash: .sha1, count: 20)
            }
        }
    }

    @Test(
        "KWallet's SHA-1 variant matches KDE's hashes, even at the length for which it adds an extra block",
        arguments: [
            ("abc", "9006c21416fb53f6804f6e39b4af9d4c4f3d516e"),
            (String(repeating: "a", count: 55), "f4e2d47dfa9766dce2936336e618924ef631430b"),
            (String(repeating: "a", count: 64), "0faf0e60d1820c331eb04fa70d38beb91304be2e"),
        ])
    func littleEndian(text: String, expected: String) throws {
        var hash = SecretBytes(capacity: 20)
        LittleEndianSHA1.hash(Array(text.utf8).span, into: &hash)
        #expect(try hash.bytesForTest() == hex(expected))
    }
}
