import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@Suite struct Curve25519Tests {
    /// RFC 7748, section 5.2.
    static let products: [(privateKey: String, publicKey: String, shared: String)] = [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ]

    @Test("X25519 matches the published shared secrets", arguments: products)
    func product(privateKey: String, publicKey: String, shared: String) throws {
        let result = try X25519.sharedSecret(privateKey: secret(privateKey), publicKey: hex(publicKey))
        #expect(try result.bytesForTest() == hex(shared))
    }

    @Test("Both sides derive the same secret")
    func agreement() throws {
        let alice = try X25519.generatePrivateKey()
        let bob = try X25519.generatePrivateKey()
        let left = try X25519.sharedSecret(privateKey: alice, publicKey: X25519.publicKey(of: bob))
        let right = try X25519.sharedSecret(privateKey: bob, publicKey: X25519.publicKey(of: alice))
        let agreed = constantTimeEqual(left, right)
        let sameKey = constantTimeEqual(alice, bob)
        #expect(agreed)
        #expect(!sameKey)
    }

    @Test(
        "Low-order public keys are refused",
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ])
    func smallOrder(_ publicKey: String) throws {
        #expect(throws: CryptographyFailure.authentication) {
            _ = try X25519.sharedSecret(privateKey: X25519.generatePrivateKey(), publicKey: hex(publicKey)).count
        }
    }

    /// RFC 8032, section 7.1, tests 1, 2 and 3.
    static let signatures: [(seed: String, publicKey: String, message: String, signature: String)] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    @Test("Ed25519 matches the published keys and signatures, and refuses altered ones", arguments: signatures)
    func signature(seed: String, publicKey: String, message: String, signature: String) throws {
        let bytes = try hex(message)
        let key = try hex(publicKey)
        let expected = try hex(signature)
        #expect(try Ed25519.publicKey(seed: secret(seed)) == key)
        #expect(try Ed25519.sign(bytes.span, seed: secret(seed)) == expected)
        #expect(try Ed25519.isValid(signature: expected, of: bytes.span, publicKey: key))
        #expect(try !Ed25519.isValid(signature: expected, of: (bytes + [0]).span, publicKey: key))
        #expect(try !Ed25519.isValid(signature: Array(expected.dropLast()), of: bytes.span, publicKey: key))
        var flipped = expected
        flipped[40] ^= 1
        #expect(try !Ed25519.isValid(signature: flipped, of: bytes.span, publicKey: key))
        #expect(try !Ed25519.isValid(signature: expected, of: bytes.span, publicKey: key.reversed()))
    }

    /// Every encoding, canonical or not, of the eight low-order points: see `Ed25519.isUsable`.
    static let smallOrderKeys = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ]

    @Test("No signature is valid under a low-order Ed25519 key", arguments: smallOrderKeys)
    func smallOrderSigner(_ publicKey: String) throws {
        let key = try hex(publicKey)
        #expect(!Ed25519.isUsable(publicKey: key))
        // R is the neutral element and S is 0. libcrypto alone accepts this signature for at least one message in
        // eight.
        let forged = [1] + [UInt8](repeating: 0, count: 63)
        for number in UInt8.min...UInt8.max {
            let message = [number]
            #expect(try !Ed25519.isValid(signature: forged, of: message.span, publicKey: key))
        }
    }

    @Test("A noncanonical Ed25519 key, with a coordinate of p or more, is refused", arguments: UInt8(0xed)...0xff)
    func unreducedKeys(_ lowest: UInt8) throws {
        for highest: UInt8 in [0x7f, 0xff] {
            let key = [lowest] + [UInt8](repeating: 0xff, count: 30) + [highest]
            #expect(!Ed25519.isUsable(publicKey: key))
            #expect(Ed25519.isUsable(publicKey: [lowest, 0xfe] + key.dropFirst(2)))
        }
    }

    @Test("A valid signature with the group order added to S is refused", arguments: signatures)
    func unreducedSignature(seed: String, publicKey: String, message: String, signature: String) throws {
        let order = try hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var bytes = try hex(signature)
        var carry = 0
        for index in 0..<32 {
            carry += Int(bytes[32 + index]) + Int(order[index])
            bytes[32 + index] = UInt8(carry & 0xff)
            carry >>= 8
        }
        try #require(carry == 0)
        let (message, key) = (try hex(message), try hex(publicKey))
        #expect(try !Ed25519.isValid(signature: bytes, of: message.span, publicKey: key))
    }

    @Test("Keys that are not 32 bytes long are refused")
    func keyLengths() throws {
        #expect(throws: CryptographyFailure.self) { _ = try X25519.publicKey(of: SecretBytes(copying: [1])) }
        #expect(throws: CryptographyFailure.self) { _ = try Ed25519.publicKey(seed: SecretBytes(copying: 0...32)) }
        #expect(throws: CryptographyFailure.unsupportedParameters("public key length")) {
            _ = try X25519.sharedSecret(privateKey: SecretBytes(copying: 0...31), publicKey: [1]).count
        }
    }
}
