public import ByteStreams
internal import Cryptography

/// Encrypts what is written to it as an age v1 file.
public struct AgeEncryptor<Downstream: ByteSink & ~Copyable>: ByteSink, ~Copyable {
    private var downstream: Downstream
    private var cipher: ChunkCipher
    private var plaintext: SecretBytes
    private var sealed: SecretBytes

    /// Writes the header, by which each of `recipients` can open the file; a passphrase must be the only one.
    ///
    /// - Throws: `AgeFailure` (`recipientCount`, `mixedScrypt`, `unusableRecipient`, `stream`, `cryptography`).
    public init(recipients: [any Recipient], to downstream: consuming Downstream) throws(AgeFailure) {
        let start = try PayloadStart.make(recipients)
        var downstream = downstream
        do throws(StreamFailure) {
            try downstream.write(start.bytes.span)
        } catch {
            throw .stream(error)
        }
        do throws(CryptographyFailure) {
            cipher = try ChunkCipher(payloadKey: start.key)
        } catch {
            throw .cryptography(error)
        }
        self.downstream = downstream
        plaintext = SecretBytes(capacity: ChunkCipher.plainLength)
        sealed = SecretBytes(capacity: ChunkCipher.sealedLength)
    }

    /// Encrypts all of `bytes`; up to one chunk (64 KiB) is held back.
    ///
    /// - Throws: `StreamFailure` (`library`, or what the sink below throws).
    public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        var taken = 0
        while taken < bytes.count {
            // A full chunk is sealed only when more follows, because the last one is marked.
            if plaintext.count == ChunkCipher.plainLength { try writeChunk(isLast: false) }
            let end = min(bytes.count, taken + ChunkCipher.plainLength - plaintext.count)
            plaintext.append(bytes.extracting(taken..<end))
            taken = end
        }
    }

    /// Writes the last chunk, without which the file is refused, and finishes the sink below.
    ///
    /// - Throws: `StreamFailure` (`library`, or what the sink below throws).
    public consuming func finish() throws(StreamFailure) -> Downstream.Output {
        try writeChunk(isLast: true)
        return try downstream.finish()
    }

    private mutating func writeChunk(isLast: Bool) throws(StreamFailure) {
        sealed.removeAll()
        do throws(CryptographyFailure) {
            try cipher.seal(plaintext, isLast: isLast, into: &sealed)
        } catch {
            throw StreamFailure(.encrypting, .library("sealing a chunk"))
        }
        plaintext.removeAll()
        try Self.write(sealed, to: &downstream)
    }

    private static func write(_ bytes: borrowing SecretBytes, to sink: inout Downstream) throws(StreamFailure) {
        try bytes.withBytes { span throws(StreamFailure) in try sink.write(span) }
    }
}

/// What a new file begins with, and the key of what follows.
private struct PayloadStart: ~Copyable {
    let bytes: [UInt8]
    let key: SecretBytes

    static func make(_ recipients: [any Recipient]) throws(AgeFailure) -> PayloadStart {
        guard (1...AgeHeader.stanzaLimit).contains(recipients.count) else { throw .recipientCount(recipients.count) }
        let fileKey = try AgeFailure.crypto { () throws(CryptographyFailure) in
            try RandomBytes.secret(count: FileKey.length)
        }
        var stanzas: [Stanza] = []
        for recipient in recipients { stanzas.append(try recipient.wrap(fileKey: fileKey)) }
        try AgeHeader.requireLonePassphrase(stanzas)
        do throws(CryptographyFailure) {
            let header = try AgeHeader(stanzas: stanzas, fileKey: fileKey)
            let nonce = try RandomBytes.bytes(count: ChunkCipher.nonceLength)
            let key = try FileKey.payloadKey(fileKey, nonce: nonce)
            return PayloadStart(bytes: header.encoded + nonce, key: key)
        } catch {
            throw .cryptography(error)
        }
    }
}
