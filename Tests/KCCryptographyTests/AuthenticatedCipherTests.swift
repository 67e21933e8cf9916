import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

extension AuthenticatedCipher {
    mutating func sealed(_ plaintext: [UInt8], _ nonce: Nonce, _ associatedData: [UInt8] = []) throws -> [UInt8] {
        var output = SecretBytes(capacity: plaintext.count + 16)
        try seal(plaintext.span, nonce: nonce, associatedData: associatedData.span, into: &output)
        return output.bytesForTest()
    }

    mutating func opened(_ sealed: [UInt8], _ nonce: Nonce, _ associatedData: [UInt8] = []) throws -> [UInt8] {
        var output = SecretBytes(capacity: sealed.count)
        try open(sealed.span, nonce: nonce, associatedData: associatedData.span, into: &output)
        return output.bytesForTest()
    }
}

@Suite struct AuthenticatedCipherTests {
    @Test("AES-256-GCM matches the published results", arguments: galoisCounterCases)
    func galoisCounter(_ published: SealingCase) throws {
        try check(AuthenticatedCipher(.aes256GCM, key: try secret(published.key)), published)
    }

    @Test("ChaCha20-Poly1305 matches the published results", arguments: polynomialCases)
    func polynomial(_ published: SealingCase) throws {
        try check(AuthenticatedCipher(.chaCha20Poly1305, key: try secret(published.key)), published)
    }

    private func check(_ cipher: consuming AuthenticatedCipher, _ published: SealingCase) throws {
        let nonce = try #require(Nonce(bytes: hex(published.nonce)))
        let data = try hex(published.associatedData)
        let sealed = try cipher.sealed(hex(published.plaintext), nonce, data)
        #expect(try sealed == hex(published.sealed))
        #expect(try cipher.opened(sealed, nonce, data) == hex(published.plaintext))
    }

    @Test(
        "A flipped bit, short tag, wrong nonce or wrong associated data fails and outputs nothing",
        arguments: AuthenticatedCipher.Algorithm.allCases)
    func forgeries(_ algorithm: AuthenticatedCipher.Algorithm) throws {
        var cipher = try AuthenticatedCipher(algorithm, key: secret(String(repeating: "17", count: 32)))
        let nonce = Nonce(field: 1, counter: 2)
        let sealed = try cipher.sealed([1, 2, 3, 4, 5], nonce, [9])
        var forgeries = (0..<sealed.count).map { Array(sealed.prefix($0)) }
        forgeries.append(sealed + [0])
        for bit in 0..<sealed.count * 8 {
            var flipped = sealed
            flipped[bit / 8] ^= 1 << (bit % 8)
            forgeries.append(flipped)
        }
        for forgery in forgeries {
            try refuse(&cipher, forgery, nonce, [9])
        }
        try refuse(&cipher, sealed, Nonce(field: 1, counter: 3), [9])
        try refuse(&cipher, sealed, nonce, [])
        try refuse(&cipher, sealed, nonce, [9, 9])
        try cipher.setKey(secret(String(repeating: "18", count: 32)))
        try refuse(&cipher, sealed, nonce, [9])
        try cipher.setKey(secret(String(repeating: "17", count: 32)))
        #expect(try cipher.opened(sealed, nonce, [9]) == [1, 2, 3, 4, 5])
    }

    private func refuse(
        _ cipher: inout AuthenticatedCipher, _ sealed: [UInt8], _ nonce: Nonce, _ associatedData: [UInt8]
    ) throws {
        var output = SecretBytes(copying: [42])
        var failure: CryptographyFailure?
        do throws(CryptographyFailure) {
            try cipher.open(sealed.span, nonce: nonce, associatedData: associatedData.span, into: &output)
        } catch {
            failure = error
        }
        #expect(failure == .authentication)
        #expect(output.bytesForTest() == [42])
    }

    @Test(
        "One cipher can alternate sealing and opening, change keys and append",
        arguments: AuthenticatedCipher.Algorithm.allCases, [0, 1, 15, 16, 17, 65_536])
    func alternation(_ algorithm: AuthenticatedCipher.Algorithm, _ length: Int) throws {
        var cipher = try AuthenticatedCipher(algorithm, key: secret(String(repeating: "21", count: 32)))
        var random = SeededRandom(seed: UInt64(length))
        let first = random.bytes(length)
        let second = random.bytes(length + 1)
        let one = try cipher.sealed(first, Nonce(field: 0, counter: 1), [1])
        let two = try cipher.sealed(second, Nonce(field: 0, counter: 2), [])
        #expect(try cipher.opened(one, Nonce(field: 0, counter: 1), [1]) == first)
        #expect(try cipher.sealed(second, Nonce(field: 0, counter: 2), []) == two)
        try cipher.setKey(SecretBytes(copying: random.bytes(32)))
        let other = try cipher.sealed(second, Nonce(field: 0, counter: 2), [])
        #expect(other != two)
        var collected = SecretBytes(copying: [7])
        let nothing: [UInt8] = []
        try cipher.open(
            other.span, nonce: Nonce(field: 0, counter: 2), associatedData: nothing.span, into: &collected)
        #expect(collected.bytesForTest() == [7] + second)
    }

    @Test(
        "Keys that are not 32 bytes long are refused",
        arguments: AuthenticatedCipher.Algorithm.allCases, [0, 16, 31, 33])
    func keyLengths(_ algorithm: AuthenticatedCipher.Algorithm, _ length: Int) throws {
        let key = [UInt8](repeating: 1, count: length)
        #expect(throws: CryptographyFailure.unsupportedParameters("key length")) {
            _ = try AuthenticatedCipher(algorithm, key: SecretBytes(copying: key)).sealedNothing()
        }
    }

    @Test("A nonce is its field followed by its counter, both big-endian")
    func nonces() throws {
        let nonce = Nonce(field: 0x0102_0304, counter: 0x0506_0708_090a_0b0c)
        #expect(nonce == Nonce(bytes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
        #expect(Nonce(bytes: [0]) == nil)
        #expect(Set([Nonce.zero, nonce, nonce]).count == 2)
    }
}

extension AuthenticatedCipher {
    consuming func sealedNothing() throws -> [UInt8] {
        try sealed([], .zero)
    }
}
