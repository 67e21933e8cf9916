import KCByteStreams
import KCTestSupport
import Testing

@testable import KCCryptography

@Suite("Keys that a quantum computer does not break")
struct HybridKEMTests {
    /// From the test vectors of draft-ietf-hpke-pq-03, KEM 0x647a; long values as their SHA-256.
    private static let xWing = (
        seed: "b3f98b03126a431ccecc62ae0f68e102c2d8e1cc7b21ba85d821d8e31761e0f8",
        randomness: "a3a869097e0241158eca5dc6c9e695f9e0d2ee5db51c09c435aab69d56509a43"
            + "d94ff76d7d47cf79ecf75394261236cec024bd849cc782e14f7f0738af83daed",
        publicKey: "120b60e0ae3c00c1c9def1c61aeb12de710bfa49646ae6f99a7e564b25ace493",
        encapsulatedKey: "3a7ef30fb815e75b7f0f16f5bab5c36250882d94ea0f776cc2241cdd3b36b480",
        sharedSecret: "b90cf181d95351d1091569487caaf6c3434eeb181a2c4c04631980ce139afa67"
    )
    private static let info = "34663634363532303666366532303631323034373732363536333639363136653230353537323665"
    private static let message =
        "34323635363137353734373932303639373332303734373237353734363832633230373437323735373436383230363236353631"
        + "373537343739"
    private static let ciphertext =
        "ac355d192158cd54250e1702be51e9d2eafe5f9292a9f153e02a2323e1ff071a30947836c38c63c986c28ccf05e00d4e"
        + "5fe066a48ab8d5b39c69d32da80c93dc868daa0f853a6cbdd640"

    @Test("A message is encrypted and decrypted as in the draft's test vector")
    func vector() throws {
        let key = try XWing.PrivateKey(seed: secret(Self.xWing.seed))
        #expect(SHA256.hash(key.publicKey.bytes.span).hex == Self.xWing.publicKey)
        let encapsulation = try XWing.encapsulate(to: key.publicKey, randomness: secret(Self.xWing.randomness))
        let share = encapsulation.encapsulatedKey
        #expect(share.count == 1_120)
        #expect(SHA256.hash(share.span).hex == Self.xWing.encapsulatedKey)
        let isShared = try constantTimeEqual(encapsulation.sharedSecret, secret(Self.xWing.sharedSecret))
        #expect(isShared)
        let data = Array("Count-0".utf8)
        let sealed = try HPKE.seal(
            secret(Self.message), under: encapsulation, info: hex(Self.info), associatedData: data)
        #expect(Hexadecimal.encode(sealed) == Self.ciphertext)
        let opened = try HPKE.open(
            sealed, under: XWing.decapsulate(share, with: key), info: hex(Self.info), associatedData: data)
        #expect(opened.bytesForTest() == (try hex(Self.message)))
    }

    @Test("A key for hardware is encrypted to as in the draft's test vector")
    func hardware() throws {
        // KEM 0x0050. The lattice half of the key is made from the seed, as in `expandKey`; that of P-256 is given.
        let seed = try secret("dfa3a04d54a0ec2f7edec57185e3df94063855fc7af64f25b815417a2c6eb0e4")
        let point = try hex(
            "04edadc409f9fdbacde2f03203b08d8f35d316fc7e0a2fc57799c2ca8332a514c58c4260f57f980a241a6f98942c92c8c9"
                + "0f33541460657dde1040a84055924a69")
        let lattice = try MLKEM768.keyPair(of: SHA3.shake256(seed, count: MLKEM768.seedLength)).publicKey
        #expect(
            SHA256.hash((lattice + point).span).hex
                == "df5a72888ef5948abfc5ede46c7fc5063208b6f065ff53f317c34044cc5b468f")
        let recipient = try #require(HybridP256KEM.PublicKey(lattice + point))
        let ephemeral = try PrivateKey(
            externalRepresentation: secret(
                "04f0aced6022c4e2f067b928d4908de20aa3f2d14307bacc6ec685b026858d06f5e98da3f120d5e8ab830248c49c3c4a4f"
                    + "0830298100999cbae5419d5ef0e557f0"
                    + "41bc577accfd8e9d87791ae51b05b01ac8727672c01f71776d0698b02a8059f4"), kind: .ec)
        let encapsulation = try HybridP256KEM.encapsulate(
            to: recipient, randomness: secret("93f347b9b3d83b860c47c6abc515490bf0d50775db3ebb660ecaf9ae5d6c3094"),
            ephemeral: ephemeral)
        let share = encapsulation.encapsulatedKey
        #expect(share.count == 1_153)
        #expect(
            SHA256.hash(share.span).hex == "d2c98c031c61421425c3615f37c898cb8af9408535501f4c232efa96c676e4a3")
        let isShared = try constantTimeEqual(
            encapsulation.sharedSecret, secret("3688931682c215e9e06ad620eba7faa70dd0d38081b4ea3d5b636ee062578991"))
        #expect(isShared)
    }

    @Test("What is for another key, or changed, gives another secret; a share of small order is refused")
    func others() throws {
        let key = try XWing.PrivateKey(seed: RandomBytes.secret(count: 32))
        let other = try XWing.PrivateKey(seed: RandomBytes.secret(count: 32))
        let encapsulation = try XWing.encapsulate(to: key.publicKey)
        let share = encapsulation.encapsulatedKey
        let isSame = try constantTimeEqual(
            encapsulation.sharedSecret, XWing.decapsulate(share, with: key).sharedSecret)
        #expect(isSame)
        let isOthers = try constantTimeEqual(
            encapsulation.sharedSecret, XWing.decapsulate(share, with: other).sharedSecret)
        #expect(!isOthers)
        for index in [0, 1_087, 1_088, 1_118] {
            var changed = share
            changed[index] ^= 1
            let isSame = try constantTimeEqual(
                encapsulation.sharedSecret, XWing.decapsulate(changed, with: key).sharedSecret)
            #expect(!isSame, "\(index)")
        }
        #expect(throws: CryptographyFailure.authentication) {
            _ = try XWing.decapsulate(share.prefix(1_088) + [UInt8](repeating: 0, count: 32), with: key)
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("encapsulated key length")) {
            _ = try XWing.decapsulate(share.dropLast(), with: key)
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("private key length")) {
            _ = try XWing.PrivateKey(seed: SecretBytes(copying: 0..<31))
        }
    }

    @Test("Bytes that are no public key are refused: a wrong length, a coefficient that is not reduced, no point")
    func publicKeys() throws {
        let genuine = try XWing.PrivateKey(seed: RandomBytes.secret(count: 32)).publicKey.bytes
        #expect(XWing.PublicKey(genuine) != nil)
        #expect(XWing.PublicKey(genuine.dropLast()) == nil)
        #expect(XWing.PublicKey(genuine + [0]) == nil)
        // The first coefficient, and the last one, are q = 3329, the smallest that is not reduced.
        var first = genuine
        first[0] = 0x01
        first[1] = first[1] & 0xf0 | 0x0d
        #expect(XWing.PublicKey(first) == nil)
        var last = genuine
        last[1_150] = last[1_150] & 0x0f | 0x10
        last[1_151] = 0xd0
        #expect(XWing.PublicKey(last) == nil)
        let point = try PrivateKey.generate(.ec, sizeInBits: 256).publicKey.uncompressedPoint
        #expect(HybridP256KEM.PublicKey(genuine.prefix(1_184) + point) != nil)
        #expect(HybridP256KEM.PublicKey(first.prefix(1_184) + point) == nil)
        #expect(HybridP256KEM.PublicKey(genuine.prefix(1_184) + point.dropLast() + [point[64] ^ 1]) == nil)
        #expect(HybridP256KEM.PublicKey(genuine.prefix(1_184) + [2] + point.dropFirst()) == nil)
    }

    @Test("A key with a point of small order is not encrypted to")
    func smallOrder() throws {
        let genuine = try XWing.PrivateKey(seed: RandomBytes.secret(count: 32)).publicKey.bytes
        let key = try #require(XWing.PublicKey(genuine.prefix(1_184) + [UInt8](repeating: 0, count: 32)))
        #expect(throws: CryptographyFailure.authentication) { _ = try XWing.encapsulate(to: key) }
    }
}

@Suite("ML-KEM-768", .waitsForPrograms)
struct MLKEM768Tests {
    /// The hash of the outputs of 100 rounds whose inputs are a stream of SHAKE128: the form of the accumulated vectors of
    /// C2SP's CCTV (ML-KEM), with the value that Go's `crypto/mlkem` has for FIPS 203.
    @Test("Keys, secrets and implicit rejections of 100 rounds are those of another implementation")
    func accumulated() throws {
        let (rounds, size) = (100, 3 * 32 + MLKEM768.ciphertextLength)
        let stream = try Self.shake128([], count: rounds * size)
        var outputs: [UInt8] = []
        for round in 0..<rounds {
            let input = stream[round * size..<(round + 1) * size]
            let (seed, message) = (input.prefix(64), input.dropFirst(64).prefix(32))
            let pair = try MLKEM768.keyPair(of: SecretBytes(copying: seed))
            let made = try MLKEM768.encapsulate(to: pair.publicKey, randomness: SecretBytes(copying: message))
            let received = try MLKEM768.decapsulate(made.ciphertext, with: pair.privateKey)
            let isSame = constantTimeEqual(made.sharedSecret, received)
            #expect(isSame)
            let rejected = try MLKEM768.decapsulate(Array(input.suffix(1_088)), with: pair.privateKey)
            outputs += pair.publicKey
            outputs += made.ciphertext
            outputs += made.sharedSecret.bytesForTest()
            outputs += rejected.bytesForTest()
        }
        #expect(
            Hexadecimal.encode(try Self.shake128(outputs, count: 32))
                == "1114b1b6699ed191734fa339376afa7e285c9e6acf6ff0177d346696ce564415")
    }

    @Test("Inputs of another length are refused")
    func lengths() throws {
        let pair = try MLKEM768.keyPair(of: SecretBytes(copying: 0..<64))
        #expect(throws: CryptographyFailure.unsupportedParameters("seed length")) {
            _ = try MLKEM768.keyPair(of: SecretBytes(copying: 0..<63))
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("public key length")) {
            _ = try MLKEM768.encapsulate(to: pair.publicKey + [0], randomness: SecretBytes(copying: 0..<32))
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("randomness length")) {
            _ = try MLKEM768.encapsulate(to: pair.publicKey, randomness: SecretBytes(copying: 0..<33))
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("ciphertext length")) {
            _ = try MLKEM768.decapsulate([], with: pair.privateKey)
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("private key length")) {
            _ = try MLKEM768.decapsulate([UInt8](repeating: 0, count: 1_088), with: SecretBytes(copying: 0..<32))
        }
    }

    @Test("A private key that was changed is refused, and no secret comes of it")
    func changedPrivateKey() throws {
        let pair = try MLKEM768.keyPair(of: SecretBytes(copying: 0..<64))
        let made = try MLKEM768.encapsulate(to: pair.publicKey, randomness: SecretBytes(copying: 0..<32))
        var key = pair.privateKey.copy()
        // In the public key, of which the private key has a hash.
        key.withMutableBytes { $0[1_200] ^= 1 }
        #expect(throws: CryptographyFailure.library("decapsulating")) {
            _ = try MLKEM768.decapsulate(made.ciphertext, with: key)
        }
    }

    private static func shake128(_ input: [UInt8], count: Int) throws -> [UInt8] {
        let outcome = try ExternalProgram.run(
            "openssl", ["dgst", "-shake128", "-xoflen", String(count), "-binary"], input: input)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        return outcome.output
    }
}
