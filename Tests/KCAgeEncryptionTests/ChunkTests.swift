import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

/// The chunks of a payload, computed beside the program's own code (C2SP age, "Payload").
@Suite("Chunks of an age payload")
struct ChunkTests {
    private static let size = 65_536

    /// The key of a payload under a file key.
    private func key(_ fileKey: borrowing SecretBytes, _ nonce: [UInt8]) throws -> SecretBytes {
        try HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
    }

    /// Eleven bytes of number, big-endian, and the mark of the last chunk.
    private func nonce(_ number: Int, isLast: Bool) throws -> Nonce {
        let counter = (0..<11).map { $0 < 3 ? 0 : UInt8(truncatingIfNeeded: number >> (8 * (10 - $0))) }
        return try #require(Nonce(bytes: counter + [isLast ? 1 : 0]))
    }

    /// Encrypts chunks, however long they are, for `identity`.
    private func file(_ chunks: [[UInt8]], for identity: X25519Identity) throws -> [UInt8] {
        let fileKey = try RandomBytes.secret(count: 16)
        let stanzas = try identity.recipient.wrap(fileKey: fileKey).stanzas
        let header = try AgeHeader(stanzas: stanzas, fileKey: fileKey)
        let nonce = try RandomBytes.bytes(count: 16)
        var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: key(fileKey, nonce))
        var payload = SecretBytes(capacity: chunks.count * (Self.size + 16))
        for (number, chunk) in chunks.enumerated() {
            try cipher.seal(
                chunk.span, nonce: self.nonce(number, isLast: number == chunks.count - 1),
                associatedData: Span<UInt8>(),
                into: &payload)
        }
        return Array(header.text.utf8) + nonce + payload.bytesForTest()
    }

    @Test("Beyond 256 chunks, the number in the nonce goes on into its next byte")
    func manyChunks() throws {
        let identity = try X25519Identity.generate()
        let chunks = (0..<258).map {
            [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 == 257 ? 7 : Self.size)
        }
        let plaintext = chunks.flatMap { $0 }
        #expect(try fingerprint(decrypt(file(chunks, for: identity), with: [identity])) == fingerprint(plaintext))

        let written = try encrypt(plaintext, to: [identity.recipient], pieceSize: 1 << 20)
        let header = try AgeHeader.read(from: MemorySource(copying: written))
        guard let fileKey = try identity.unwrap(header.stanzas) else { throw AgeFailure.noMatchingIdentity([]) }
        let start = header.length + 16
        var cipher = try AuthenticatedCipher(
            .chaCha20Poly1305, key: key(fileKey, Array(written[header.length..<start])))
        for number in [0, 255, 256, 257] {
            let from = start + number * (Self.size + 16)
            let sealed = Array(written[from..<min(from + Self.size + 16, written.count)])
            var opened = SecretBytes(capacity: Self.size)
            try cipher.open(
                sealed.span, nonce: nonce(number, isLast: number == 257), associatedData: Span<UInt8>(), into: &opened)
            #expect(fingerprint(opened.bytesForTest()) == fingerprint(chunks[number]), "chunk \(number)")
        }
    }

    @Test("The last chunk is empty only if the plaintext is, when written and when read", arguments: 0...2)
    func emptyLastChunk(_ count: Int) throws {
        let identity = try X25519Identity.generate()
        let whole = [[UInt8]](repeating: [UInt8](repeating: 3, count: Self.size), count: count)
        let written = try encrypt(whole.flatMap { $0 }, to: [identity.recipient])
        let header = try AgeHeader.read(from: MemorySource(copying: written))
        #expect(written.count == header.length + 16 + max(16, count * (Self.size + 16)))
        let read = Decryption(try file(whole + [[]], for: identity), with: [identity])
        if count == 0 {
            #expect(read.failure == nil && read.released.isEmpty)
        } else {
            #expect("\(try #require(read.failure))".contains("the last chunk is empty although others precede it"))
        }
    }
}
