package import KCByteStreams
internal import KCCryptography

/// Encrypts the bytes written to it into an age file.
package struct AgeEncryptor<Downstream: ByteSink & ~Copyable>: ByteSink, ~Copyable {
    /// Opens the file being written, even without an identity of any of its recipients.
    package let reader: FileKey
    private var downstream: Downstream
    private var cipher: ChunkCipher
    private var chunk: SecretBytes
    private var sealed: SecretBytes

    /// Writes the header; each of `recipients` can open the file.
    ///
    /// - Throws: `AgeFailure`: as `NewFileKey.make`, and `stream`.
    package init(recipients: [any Recipient], to downstream: consuming Downstream) throws(AgeFailure) {
        try self.init(NewFileKey.make(for: [recipients])[0], to: downstream)
    }

    /// Writes the header of a file whose key was made before, and for no other file.
    ///
    /// - Throws: `AgeFailure`: `cryptography`, `stream`.
    package init(_ fileKey: NewFileKey, to downstream: consuming Downstream) throws(AgeFailure) {
        fileKey.take()
        let nonce = try cryptography(RandomBytes.bytes(count: ChunkCipher.nonceSize))
        let header = Array(fileKey.header.text.utf8)
        let cipher = try fileKey.key.withKey { key throws(AgeFailure) in try ChunkCipher(fileKey: key, nonce: nonce) }
        var downstream = downstream
        do {
            try downstream.write(header.span)
            try downstream.write(nonce.span)
        } catch {
            throw .stream(error)
        }
        reader = fileKey.key
        // A noncopyable value cannot be abandoned half-initialized, so all properties are set together.
        self.downstream = downstream
        self.cipher = cipher
        chunk = SecretBytes(capacity: ChunkCipher.plaintextSize)
        sealed = SecretBytes(capacity: ChunkCipher.ciphertextSize)
    }

    /// Encrypts all of `bytes`.
    package mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        var offset = 0
        while offset < bytes.count {
            // A full chunk is held until more data comes, since it may be the last one.
            if chunk.count == ChunkCipher.plaintextSize { try passOn(isLast: false) }
            let end = min(bytes.count, offset + ChunkCipher.plaintextSize - chunk.count)
            chunk.append(bytes.extracting(offset..<end))
            offset = end
        }
    }

    /// Writes the last chunk and finishes the downstream sink.
    package consuming func finish() throws(StreamFailure) -> Downstream.Output {
        try passOn(isLast: true)
        return try downstream.finish()
    }

    private mutating func passOn(isLast: Bool) throws(StreamFailure) {
        sealed.removeAll()
        do {
            try chunk.withBytes { bytes throws(CryptographyFailure) in
                try cipher.seal(bytes, isLast: isLast, into: &sealed)
            }
        } catch {
            throw StreamFailure(.encrypting, .library("\(error)"))
        }
        chunk.removeAll()
        try sealed.withBytes { bytes throws(StreamFailure) in try downstream.write(bytes) }
    }
}
