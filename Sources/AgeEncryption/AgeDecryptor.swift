public import ByteStreams
internal import Cryptography

/// Decrypts an age v1 file while it is read.
///
/// A byte comes out only after its chunk proved genuine, and the end only after the last chunk did and nothing
/// followed it. What came out before a failure is a genuine beginning of the plaintext, and no more than that.
public struct AgeDecryptor<Upstream: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    /// What follows the plaintext at hand.
    private enum Continuation {
        case chunk
        case end
        case failure(StreamFailure)
    }

    /// The header, authenticated.
    public let header: AgeHeader
    private var upstream: Upstream
    private var cipher: ChunkCipher
    /// Ciphertext that was read and not yet opened.
    private var sealed: SecretBytes
    /// Plaintext that was opened, and how much of it was handed out.
    private var plaintext: SecretBytes
    private var handedOut = 0
    private var next = Continuation.chunk

    /// Reads the header, finds the file key with one of `identities`, and checks the header's MAC.
    ///
    /// - Throws: `AgeFailure`, any case about a header, a passphrase or an identity; `stream`; `cryptography`.
    public init(_ upstream: consuming Upstream, identities: [any Identity]) throws(AgeFailure) {
        var upstream = upstream
        var sealed = SecretBytes(capacity: ChunkCipher.sealedLength + 1)
        let header = try AgeHeader.read(from: &upstream, rest: &sealed)
        let fileKey = try Self.fileKey(header, identities)
        try header.authenticate(fileKey)
        while sealed.count < ChunkCipher.nonceLength {
            let before = sealed.count
            try AgeHeader.fill(&sealed, from: &upstream, upTo: ChunkCipher.nonceLength - before)
            if sealed.count == before { throw .malformedHeader("a nonce of 16 bytes follows") }
        }
        let nonce = sealed.withBytes { bytes in (0..<ChunkCipher.nonceLength).map { bytes[$0] } }
        sealed.removeFirst(ChunkCipher.nonceLength)
        do throws(CryptographyFailure) {
            cipher = try ChunkCipher(payloadKey: FileKey.payloadKey(fileKey, nonce: nonce))
        } catch {
            throw .cryptography(error)
        }
        self.header = header
        self.upstream = upstream
        self.sealed = sealed
        plaintext = SecretBytes(capacity: ChunkCipher.plainLength)
    }

    /// Appends the next plaintext.
    ///
    /// - Throws: `StreamFailure` while decrypting (`authenticationFailed`, `truncated`, `malformed`), or what the source
    ///   below throws; the same again whenever it is asked again.
    public mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        while handedOut == plaintext.count {
            switch next {
            case .end: return
            case .failure(let failure): throw failure
            case .chunk:
                plaintext.removeAll()
                handedOut = 0
                do throws(StreamFailure) {
                    next = try openChunk()
                } catch {
                    next = .failure(error)
                }
            }
        }
        let start = handedOut
        let end = start + min(plaintext.count - start, output.freeCapacity)
        plaintext.withBytes { bytes in
            for index in start..<end { output.append(bytes[index]) }
        }
        handedOut = end
    }

    private static func fileKey(
        _ header: AgeHeader, _ identities: [any Identity]
    ) throws(AgeFailure) -> SecretBytes {
        try AgeHeader.requireLonePassphrase(header.stanzas)
        for identity in identities {
            if let fileKey = try identity.unwrap(header.stanzas) { return fileKey }
        }
        if header.isForPassphrase, identities.contains(where: { $0 is ScryptIdentity }) { throw .wrongPassphrase }
        let known = ["X25519", "scrypt", "ssh-ed25519", "ssh-rsa", "mlkem768x25519", "p256tag", "mlkem768p256tag"]
        throw .noMatchingIdentity(stanzaTypes: header.stanzas.map { known.contains($0.type) ? $0.type : "unknown" })
    }

    /// Fills the plaintext, which is empty, from the next chunk, and says what follows it.
    private mutating func openChunk() throws(StreamFailure) -> Continuation {
        let offset = cipher.number * UInt64(ChunkCipher.sealedLength)
        try Self.fill(&sealed, from: &upstream)
        let moreFollows = sealed.count > ChunkCipher.sealedLength
        let count = min(sealed.count, ChunkCipher.sealedLength)
        guard count >= authenticationTagLength else { throw StreamFailure(.decrypting, .truncated, offset: offset) }

        // The mark of the last chunk must agree with where the source ends. Where it does not, the chunk is genuine all
        // the same, and what is wrong with the file can be named.
        let following = offset + UInt64(count)
        if try opens(count, isLast: !moreFollows) {
            if !moreFollows && plaintext.isEmpty && offset > 0 {
                throw StreamFailure(.decrypting, .malformed("an empty last chunk stands alone"), offset: offset)
            }
            sealed.removeFirst(count)
            return moreFollows ? .chunk : .end
        }
        if moreFollows, try opens(count, isLast: true) {
            return .failure(StreamFailure(.decrypting, .malformed("the last chunk ends the file"), offset: following))
        }
        if !moreFollows, count == ChunkCipher.sealedLength, try opens(count, isLast: false) {
            return .failure(StreamFailure(.decrypting, .truncated, offset: following))
        }
        throw StreamFailure(.decrypting, .authenticationFailed, offset: offset)
    }

    private mutating func opens(_ count: Int, isLast: Bool) throws(StreamFailure) -> Bool {
        do throws(CryptographyFailure) {
            try cipher.open(sealed, count: count, isLast: isLast, into: &plaintext)
            return true
        } catch {
            if error == .authentication { return false }
            throw StreamFailure(.decrypting, .library("opening a chunk"))
        }
    }

    /// Reads one chunk and one byte more, or to the end: only the end shows which chunk is the last.
    private static func fill(_ sealed: inout SecretBytes, from source: inout Upstream) throws(StreamFailure) {
        while sealed.count <= ChunkCipher.sealedLength {
            let before = sealed.count
            try sealed.append(upTo: ChunkCipher.sealedLength + 1 - before) { output throws(StreamFailure) in
                try source.read(into: &output)
            }
            if sealed.count == before { return }
        }
    }
}
