public import ByteStreams
internal import Cryptography

/// Decrypts an age file; nothing is delivered before the chunk that holds it has proved genuine.
///
/// A file that is cut at a chunk boundary delivers whole, genuine chunks before the read that notices: a consumer may
/// act on what it got only after the end.
public struct AgeDecryptor<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var upstream: PayloadSource<Upstream>
    private var cipher: ChunkCipher
    private var ciphertext: SecretBytes
    private var plaintext: SecretBytes
    private var delivered = 0
    private var chunks: UInt64 = 0
    private var isOver = false

    /// Reads the header and unwraps the file key with whichever of `identities` can.
    ///
    /// - Throws: `AgeFailure`: what reading the header throws, `noMatchingIdentity`, `wrongPassphrase`,
    ///   `workFactorTooHigh`, `mixedPassphrase`, `headerAuthentication`, `cryptography`, `stream`.
    public init(_ upstream: consuming Upstream, identities: [any Identity]) throws(AgeFailure) {
        var reader = HeaderReader(upstream)
        let header = try reader.read()
        guard header.stanzas.count == 1 || !header.stanzas.contains(where: { $0.type == ScryptRecipient.type }) else {
            throw .mixedPassphrase
        }
        let fileKey = try Self.fileKey(of: header, identities)
        try header.authenticate(fileKey: fileKey)
        var payload = reader.payload()
        var nonce = SecretBytes(capacity: ChunkCipher.nonceSize)
        do throws(StreamFailure) {
            while nonce.count < ChunkCipher.nonceSize {
                let before = nonce.count
                try nonce.append(upTo: ChunkCipher.nonceSize - before) { output throws(StreamFailure) in
                    try payload.read(into: &output)
                }
                if nonce.count == before { throw StreamFailure(.decrypting, .truncated, offset: UInt64(header.length)) }
            }
        } catch {
            throw .stream(error)
        }
        cipher = try ChunkCipher(fileKey: fileKey, nonce: nonce.withBytes { span in span.indices.map { span[$0] } })
        self.upstream = payload
        ciphertext = SecretBytes(capacity: 2 * ChunkCipher.ciphertextSize)
        plaintext = SecretBytes(capacity: ChunkCipher.plaintextSize)
    }

    /// Appends the next bytes.
    ///
    /// - Throws: `StreamFailure`: `authenticationFailed`, `truncated`, `malformed`, and what the source throws.
    public mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        if delivered == plaintext.count {
            if isOver { return }
            try openNextChunk()
        }
        let from = delivered
        let count = min(plaintext.count - from, output.freeCapacity)
        plaintext.withBytes { bytes in output.append(copying: bytes.extracting(from..<from + count)) }
        delivered += count
    }

    private static func fileKey(
        of header: AgeHeader, _ identities: [any Identity]
    ) throws(AgeFailure) -> SecretBytes {
        for identity in identities {
            guard let fileKey = try identity.unwrap(header.stanzas) else { continue }
            guard fileKey.count == fileKeySize else { throw .malformedHeader("the file key has a wrong size") }
            return fileKey
        }
        throw .noMatchingIdentity(header.stanzas.map(\.type))
    }

    /// Opens one chunk. It is the last one exactly when nothing follows it, so one byte more is read than it needs.
    private mutating func openNextChunk() throws(StreamFailure) {
        while ciphertext.count <= ChunkCipher.ciphertextSize {
            let before = ciphertext.count
            try ciphertext.append(upTo: ChunkCipher.ciphertextSize + 1 - before) { output throws(StreamFailure) in
                try upstream.read(into: &output)
            }
            if ciphertext.count == before { break }
        }
        let isLast = ciphertext.count <= ChunkCipher.ciphertextSize
        let size = min(ciphertext.count, ChunkCipher.ciphertextSize)
        guard size >= authenticationTagLength else { throw failure(.truncated) }
        guard size > authenticationTagLength || chunks == 0 else {
            throw failure(.malformed("the last chunk is empty although others precede it"))
        }
        plaintext.removeAll()
        delivered = 0
        do {
            try ciphertext.withBytes { bytes throws(CryptographyFailure) in
                try cipher.open(bytes.extracting(0..<size), isLast: isLast, into: &plaintext)
            }
        } catch .authentication {
            throw failure(.authenticationFailed)
        } catch {
            throw StreamFailure(.decrypting, .library("\(error)"))
        }
        ciphertext.removeFirst(size)
        chunks += 1
        isOver = isLast
    }

    private func failure(_ kind: StreamFailure.Kind) -> StreamFailure {
        StreamFailure(.decrypting, kind, offset: chunks * UInt64(ChunkCipher.ciphertextSize))
    }
}
