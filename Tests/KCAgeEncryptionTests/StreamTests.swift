import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite struct StreamTests {
    static let sizes = [0, 1, 100, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000]

    @Test("Plaintext of any size survives a round trip, with 16 bytes of tag per chunk", arguments: sizes)
    func roundTrip(_ size: Int) throws {
        var random = SeededRandom(seed: UInt64(size))
        let plaintext = random.bytes(size)
        let identity = try X25519Identity.generate()
        for pieceSize in [1 + size / 7, 65_536, 1_000_000] {
            let file = try encrypt(plaintext, to: [identity.recipient], pieceSize: pieceSize)
            let header = try AgeHeader.read(from: MemorySource(copying: file))
            #expect(file.count == header.length + 16 + size + 16 * max(1, (size + 65_535) / 65_536))
            #expect(try fingerprint(decrypt(file, with: [identity])) == fingerprint(plaintext))
        }
        let file = try encrypt(plaintext, to: [identity.recipient])
        let choppy = try drain(AgeDecryptor(ChoppySource(file), identities: [identity]), pieceSize: 777)
        #expect(fingerprint(choppy) == fingerprint(plaintext))
    }

    @Test("Two files with the same plaintext differ in every random part")
    func freshness() throws {
        let identity = try X25519Identity.generate()
        let one = try encrypt([1, 2, 3], to: [identity.recipient])
        let two = try encrypt([1, 2, 3], to: [identity.recipient])
        #expect(one.suffix(16 + 3 + 16) != two.suffix(16 + 3 + 16))
        #expect(one.prefix(100) != two.prefix(100))
    }

    @Test("A small file truncated at any byte is refused and releases nothing")
    func truncation() throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt(Array("a secret".utf8), to: [identity.recipient])
        for count in 0..<file.count {
            let result = Decryption(Array(file.prefix(count)), with: [identity])
            #expect(result.failure != nil, "\(count)")
            #expect(result.released.isEmpty, "\(count)")
        }
    }

    @Test("A small file with any bit flipped is refused and releases nothing")
    func flips() throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt(Array("a secret".utf8), to: [identity.recipient])
        for bit in 0..<file.count * 8 {
            var wrong = file
            wrong[bit / 8] ^= 1 << (bit % 8)
            let result = Decryption(wrong, with: [identity])
            #expect(result.failure != nil, "\(bit)")
            #expect(result.released.isEmpty, "\(bit)")
        }
    }

    @Test("Trailing bytes are refused", arguments: [1, 15, 16, 17, 65_536, 65_552, 100_000])
    func trailing(_ count: Int) throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt([1, 2, 3], to: [identity.recipient])
        let result = Decryption(file + [UInt8](repeating: 0, count: count), with: [identity])
        #expect(result.failure is StreamFailure)
        #expect(result.released.isEmpty)
    }

    @Test("A file truncated between chunks releases the genuine beginning and fails as truncated")
    func cutBetweenChunks() throws {
        var random = SeededRandom(seed: 5)
        let plaintext = random.bytes(200_000)
        let identity = try X25519Identity.generate()
        let file = try encrypt(plaintext, to: [identity.recipient])
        let start = try AgeHeader.read(from: MemorySource(copying: file)).length + 16
        for chunks in 1...3 {
            let result = Decryption(Array(file.prefix(start + chunks * 65_552)), with: [identity])
            let end = start + chunks * 65_552
            #expect(result.failure as? StreamFailure == StreamFailure(.decrypting, .truncated, offset: UInt64(end)))
            #expect(fingerprint(result.released) == fingerprint(plaintext.prefix(chunks * 65_536)))
        }
    }

    @Test(
        "Data after a full last chunk is refused, after releasing the plaintext", arguments: [1, 16, 65_552, 70_000])
    func trailingAfterWholeChunk(_ count: Int) throws {
        let plaintext = [UInt8](repeating: 3, count: 65_536)
        let identity = try X25519Identity.generate()
        let file = try encrypt(plaintext, to: [identity.recipient])
        let result = Decryption(file + [UInt8](repeating: 0, count: count), with: [identity])
        let expected = StreamFailure(
            .decrypting, .malformed("something follows the last chunk"), offset: UInt64(file.count))
        #expect(result.failure as? StreamFailure == expected)
        #expect(fingerprint(result.released) == fingerprint(plaintext))
    }

    @Test("Swapped, duplicated and missing chunks are refused")
    func chunkOrder() throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt([UInt8](repeating: 7, count: 4 * 65_536), to: [identity.recipient])
        let start = try AgeHeader.read(from: MemorySource(copying: file)).length + 16
        let head = Array(file[..<start])
        let chunks = (0..<4).map { Array(file[start + $0 * 65_552..<start + ($0 + 1) * 65_552]) }
        for order in [[1, 0, 2, 3], [0, 0, 1, 2, 3], [0, 2, 3], [1, 2, 3], [0, 1, 3], [0, 1, 2, 3, 3], [3]] {
            let result = Decryption(head + order.flatMap { chunks[$0] }, with: [identity])
            #expect(result.failure is StreamFailure, "\(order)")
        }
        #expect(Decryption(head + [0, 1, 2, 3].flatMap { chunks[$0] }, with: [identity]).failure == nil)
    }

    @Test("A failure is repeated on every read and never turns into an end of file")
    func failureStays() throws {
        let identity = try X25519Identity.generate()
        var file = try encrypt([UInt8](repeating: 7, count: 70_000), to: [identity.recipient])
        file[file.count - 1] ^= 1
        var decryptor = try AgeDecryptor(MemorySource(copying: file), identities: [identity])
        var failures: [StreamFailure] = []
        for _ in 0..<4 {
            do throws(StreamFailure) {
                try decryptor.forEachPiece { _ throws(StreamFailure) in }
            } catch {
                failures.append(error)
            }
        }
        let second = try AgeHeader.read(from: MemorySource(copying: file)).length + 16 + 65_552
        #expect(failures.count == 4)
        #expect(Set(failures) == [StreamFailure(.decrypting, .authenticationFailed, offset: UInt64(second))])
    }

    @Test("A read failure is not forgotten when the source then reports its end")
    func failureThenEnd() throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt([1, 2, 3], to: [identity.recipient])
        var decryptor = try AgeDecryptor(FailsAtEnd(file), identities: [identity])
        for _ in 0..<3 {
            var released = 0
            #expect(throws: StreamFailure(.reading, .system(5))) {
                try decryptor.forEachPiece { piece throws(StreamFailure) in released += piece.count }
            }
            #expect(released == 0)
        }
    }

    /// Delivers everything, fails once at the end, and reports the end after that.
    private struct FailsAtEnd: ByteSource, ~Copyable {
        private var source: MemorySource
        private var hasFailed = false

        init(_ bytes: [UInt8]) { source = MemorySource(copying: bytes) }

        mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
            let before = output.count
            try source.read(into: &output)
            guard output.count == before, !hasFailed else { return }
            hasFailed = true
            throw StreamFailure(.reading, .system(5))
        }
    }

    @Test("A read failure at any byte makes decryption fail instead of ending early")
    func faultySource() throws {
        let identity = try X25519Identity.generate()
        let file = try encrypt([1, 2, 3, 4], to: [identity.recipient])
        for position in 0...file.count {
            var failure: StreamFailure?
            do {
                _ = try drain(AgeDecryptor(FaultySource(file, failAt: position), identities: [identity]))
            } catch let error as StreamFailure {
                failure = error
            } catch AgeFailure.stream(let error) {
                failure = error
            }
            #expect(failure == StreamFailure(.reading, .system(5), offset: UInt64(position)))
        }
    }

    @Test("A write failure at any point makes encryption fail", arguments: 0...4)
    func faultySink(_ writes: Int) throws {
        let identity = try X25519Identity.generate()
        var failure: StreamFailure?
        do {
            let sink = FaultySink(acceptingWrites: writes)
            var encryptor = try AgeEncryptor(recipients: [identity.recipient], to: sink)
            try encryptor.write([UInt8](repeating: 1, count: 150_000).span)
            try encryptor.finish()
        } catch let error as StreamFailure {
            failure = error
        } catch AgeFailure.stream(let error) {
            failure = error
        }
        // The header, three chunks, and `finish()`, which this sink counts as a write.
        #expect(failure == StreamFailure(.writing, .system(28)))
    }
}
