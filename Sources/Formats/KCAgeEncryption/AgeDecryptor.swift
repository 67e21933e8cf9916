package import KCByteStreams
internal import KCCryptography

/// Decrypts an age file; every chunk is authenticated before any of it is released.
///
/// If a file is cut at a chunk boundary, complete authentic chunks are delivered before the read that detects it, so a
/// consumer may act on the data only after the end. After a failed read, every later read fails in the same way.
package struct AgeDecryptor<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    /// The continuation after the current plaintext.
    private enum Continuation {
        case chunk
        case end
        case failure(StreamFailure)
    }

    /// The number of recipients.
    package let recipientCount: Int
    private var upstream: Remainder<Upstream>
    private var cipher: ChunkCipher
    private var ciphertext: SecretBytes
    private var plaintext: SecretBytes
    private var delivered = 0
    private var next = Continuation.chunk
    /// The offset of the first chunk in the file.
    private let start: UInt64

    /// Reads the header and unwraps the file key with the first of `identities` that can.
    ///
    /// - Throws: `AgeFailure`: the failures of reading the header, `noMatchingIdentity`, `wrongPassphrase`,
    ///   `workFactorTooHigh`, `mixedPassphrase`, `headerAuthentication`, `plugin`, `cryptography`, `stream`.
    package init(_ upstream: consuming Upstream, identities: [any Identity]) throws(AgeFailure) {
        var reader = HeaderReader(upstream)
        let header = try reader.read()
        let fileKey = try Self.fileKey(of: header, identities)
        var payload = reader.payload()
        let nonceStart = UInt64(header.length)
        var nonce = SecretBytes(capacity: ChunkCipher.nonceSize)
        do throws(StreamFailure) {
            while nonce.count < ChunkCipher.nonceSize {
                let before = nonce.count
                try nonce.append(upTo: ChunkCipher.nonceSize - before) { output throws(StreamFailure) in
                    try payload.read(into: &output)
                }
                if nonce.count == before { throw StreamFailure(.decrypting, .truncated, offset: nonceStart) }
            }
        } catch {
            throw .stream(error)
        }
        let publicNonce = nonce.withBytes { [UInt8](copying: $0) }
        cipher = try fileKey.withKey { key throws(AgeFailure) in try ChunkCipher(fileKey: key, nonce: publicNonce) }
        recipientCount = header.stanzas.count
        self.upstream = payload
        start = nonceStart + UInt64(ChunkCipher.nonceSize)
        ciphertext = SecretBytes(capacity: 2 * ChunkCipher.ciphertextSize)
        plaintext = SecretBytes(capacity: ChunkCipher.plaintextSize)
    }

    /// Appends the next bytes.
    ///
    /// - Throws: `StreamFailure`: `authenticationFailed`, `truncated`, `malformed`, and the failures of the source.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        while delivered == plaintext.count {
            switch next {
            case .end: return
            case .failure(let failure): throw failure
            case .chunk: openNextChunk()
            }
        }
        let from = delivered
        let count = min(plaintext.count - from, output.freeCapacity)
        plaintext.withBytes { bytes in output.append(copying: bytes.extracting(from..<from + count)) }
        delivered += count
    }

    private static func fileKey(of header: AgeHeader, _ identities: [any Identity]) throws(AgeFailure) -> FileKey {
        if let key = try FileKey.unwrap([header], with: identities)[0] { return key }
        if header.stanzas.first?.type == ScryptRecipient.type, identities.contains(where: { $0 is ScryptIdentity }) {
            throw .wrongPassphrase
        }
        throw .noMatchingIdentity(header.stanzas.map(\.displayedType))
    }

    private mutating func openNextChunk() {
        plaintext.removeAll()
        delivered = 0
        do {
            next = try openChunk()
        } catch {
            next = .failure(error)
        }
    }

    /// Decrypts one chunk into the empty plaintext, and returns what follows it.
    private mutating func openChunk() throws(StreamFailure) -> Continuation {
        try fill()
        let offset = start + cipher.number * UInt64(ChunkCipher.ciphertextSize)
        let isLast = ciphertext.count <= ChunkCipher.ciphertextSize
        let size = min(ciphertext.count, ChunkCipher.ciphertextSize)
        guard size >= authenticationTagLength else { throw StreamFailure(.decrypting, .truncated, offset: offset) }
        if try opens(size, isLast: isLast) {
            guard !plaintext.isEmpty || offset == start else {
                throw StreamFailure(
                    .decrypting, .malformed("the last chunk is empty although others precede it"), offset: offset)
            }
            ciphertext.removeFirst(size)
            return isLast ? .end : .chunk
        }
        // The mark of the last chunk must agree with the end of the file. If it does not, the chunk may still be
        // authentic, which allows a more precise error.
        let end = offset + UInt64(size)
        if isLast, size == ChunkCipher.ciphertextSize, try opens(size, isLast: false) {
            return .failure(StreamFailure(.decrypting, .truncated, offset: end))
        }
        if !isLast, try opens(size, isLast: true) {
            return .failure(StreamFailure(.decrypting, .malformed("something follows the last chunk"), offset: end))
        }
        throw StreamFailure(.decrypting, .authenticationFailed, offset: offset)
    }

    /// Reads one chunk and one more byte, or to the end: a chunk is the last one if nothing follows.
    private mutating func fill() throws(StreamFailure) {
        while ciphertext.count <= ChunkCipher.ciphertextSize {
            let before = ciphertext.count
            try ciphertext.append(upTo: ChunkCipher.ciphertextSize + 1 - before) { output throws(StreamFailure) in
                try upstream.read(into: &output)
            }
            if ciphertext.count == before { return }
        }
    }

    /// Decrypts the first `size` bytes of the ciphertext into the plaintext; false if they are not authentic.
    private mutating func opens(_ size: Int, isLast: Bool) throws(StreamFailure) -> Bool {
        do {
            try ciphertext.withBytes { bytes throws(CryptographyFailure) in
                try cipher.open(bytes.extracting(0..<size), isLast: isLast, into: &plaintext)
            }
            return true
        } catch .authentication {
            return false
        } catch {
            throw StreamFailure(.decrypting, .library("\(error)"))
        }
    }
}
