import KCByteStreams
import KCTestSupport
import Testing

@testable import KCCryptography

@Suite("Messages of libsodium's secretstream")
struct SecretStreamTests {
    private static let key = Array(0..<32 as Range<UInt8>)

    /// Streams of one final message that libsodium 1.0.18 made with the key above: its bytes count up from zero.
    private static let vectors = [
        (
            0, "4c188b358e8bd7973003a0ed579fb7b104a35a48fbc79c9d",
            "36c6103d257f5c695be9c450137e811875"
        ),
        (
            1, "b648f111b6541f0556b176395f8673052f558ba1a6d28680",
            "0ede7548b80d0e7ac369579855869d8b971c"
        ),
        (
            15, "8df5c670c69fa94e6c0275f47867b633f39e4ef3e8971dbe",
            "dab05c064df2d9d1d07c42ddae722645838fe38ba519c36c5fc51c229fc6730f"
        ),
        (
            16, "27e5c839538675b972da052b5f9cf78ccd77f574afc43127",
            "badb1bfef963cf6d9b6f469660f06c493ef99932b6103594cae917f4aa01c39d4a"
        ),
        (
            17, "7a0bea8fcbb389bce22d393f7fba4703b48c77c256e998c4",
            "5e62706eeb18b5e974beb767898c392f74ae8cbe1684abb343b372c6b31461638533"
        ),
        (
            64, "3c1c6377823892a94af0f13a2f314eb0fd3507690804e395",
            "94e1e80198a6297376d45204f9c8de77e00350556cb38cb27b9b2f3d5749f94d09eda7f554439ed3f2c553208c759c41be28f879424ef4a7"
                + "79ef346ed5f53cb7162fbc77afbe49bdb9478358900d546e14"
        ),
        (
            100, "b872f817c6c8736d6ec25f5097a17fe5ccdac662f9937c2f",
            "5f1c6b2b6220550636b25cd592e7dc2546c50648c71132a277979e427a25b20674523f17b44eac3f0f2363d7164398bcf3d92f786843b2bb"
                + "fc5f1c1fa6fecfec1f58ec81bbd17e33c123ef4f2de43ee80983432cae7c6d0d0b217e4c626a167a99aee30ff00087db1992608f244e8a7e"
                + "905b818bfa"
        ),
    ]

    private func open(_ sealed: [UInt8], _ header: [UInt8], key: [UInt8] = key) throws -> [UInt8] {
        try SecretStream.open(sealed.span, key: SecretBytes(copying: key), header: header).bytesForTest()
    }

    @Test("Opens what libsodium made, and nothing that differs in one bit", arguments: vectors)
    func vector(count: Int, header: String, sealed: String) throws {
        let header = try #require(Hexadecimal.decode(header))
        let sealed = try #require(Hexadecimal.decode(sealed))
        #expect(try open(sealed, header) == (0..<count).map { UInt8($0) })
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: CryptographyFailure.authentication) { try open(other, header) }
        }
        for index in header.indices {
            var other = header
            other[index] ^= 1
            #expect(throws: CryptographyFailure.authentication) { try open(sealed, other) }
        }
        for length in 0..<sealed.count {
            #expect(throws: CryptographyFailure.authentication) { try open(Array(sealed.prefix(length)), header) }
        }
        #expect(throws: CryptographyFailure.unsupportedParameters("header length")) {
            try open(sealed, Array(header.dropLast()))
        }
    }

    @Test("HChaCha20 gives the key of draft-irtf-cfrg-xchacha, section 2.2.1")
    func subkey() throws {
        let nonce = try #require(Hexadecimal.decode("000000090000004a0000000031415927"))
        let subkey = try SecretStream.subkey(of: SecretBytes(copying: Self.key), nonce: nonce)
        #expect(
            Hexadecimal.encode(subkey.bytesForTest())
                == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
    }

    @Test("Poly1305 gives the code of RFC 8439, section 2.5.2")
    func poly1305() throws {
        let key = try #require(Hexadecimal.decode("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b"))
        let mac = try SecretStream.poly1305(
            of: SecretBytes(copying: "Cryptographic Forum Research Group".utf8), key: SecretBytes(copying: key))
        #expect(Hexadecimal.encode(mac.bytesForTest()) == "a8061dc1305136c6c22b8baf0c0127a9")
    }
}
