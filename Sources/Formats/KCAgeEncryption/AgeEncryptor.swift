package import KCByteStreams
internal import KCCryptography

/// Encrypts the bytes written to it into an age file.
package struct AgeEncryptor<Downstream: ByteSink & ~Copyable>: ByteSink, ~Copyable {
    /// An identity that opens the file being written, even without an identity of any of its recipients.
    ///
    /// It holds the file key, so anything that keeps it can decrypt the file.
    package let reader: any Identity
    private var downstream: Downstream
    private var cipher: ChunkCipher
    private var chunk: SecretBytes
    private var sealed: SecretBytes

    /// Writes the header; each of `recipients` can open the file.
    ///
    /// - Throws: `AgeFailure`: `noRecipients`, `headerTooLarge` for more recipients than a reader accepts, `mixedPassphrase`,
    ///   `incompatibleRecipients`, `malformedRecipient`, `cryptography`, `stream`.
    package init(recipients: [any Recipient], to downstream: consuming Downstream) throws(AgeFailure) {
        let fileKey = try cryptography(RandomBytes.secret(count: fileKeySize))
        let nonce = try cryptography(RandomBytes.bytes(count: ChunkCipher.nonceSize))
        let header = Array(try AgeHeader(wrapping: fileKey, for: recipients).text.utf8)
        let cipher = try ChunkCipher(fileKey: fileKey, nonce: nonce)
        var downstream = downstream
        do {
            try downstream.write(header.span)
            try downstream.write(nonce.span)
        } catch {
            throw .stream(error)
        }
        reader = WrittenFileKey(fileKey)
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

/// An identity that holds the file key of a file written by this process.
private final class WrittenFileKey: Identity {
    private let fileKey: SecretBytes

    init(_ fileKey: borrowing SecretBytes) {
        self.fileKey = fileKey.copy()
    }

    func unwrap(_ stanzas: [Stanza]) -> SecretBytes? { fileKey.copy() }
}

extension AgeHeader {
    /// Creates the header of a file that `recipients` can open.
    ///
    /// Private, so that every file that is written has a fresh file key: someone who knows the key of a file can write
    /// another payload below its header.
    ///
    /// - Throws: `AgeFailure`: `noRecipients`, `headerTooLarge`, `mixedPassphrase`, `incompatibleRecipients`,
    ///   `malformedRecipient`, `cryptography`.
    fileprivate init(wrapping fileKey: borrowing SecretBytes, for recipients: [any Recipient]) throws(AgeFailure) {
        guard !recipients.isEmpty else { throw .noRecipients }
        guard recipients.count <= AgeHeader.stanzaLimit else {
            throw .headerTooLarge("recipients", allowed: AgeHeader.stanzaLimit)
        }
        var stanzas: [Stanza] = []
        var labels: Set<ExactText>?
        for recipient in recipients {
            let wrapped = try recipient.wrap(fileKey: fileKey)
            guard labels ?? wrapped.labels == wrapped.labels else { throw .incompatibleRecipients }
            labels = wrapped.labels
            stanzas += wrapped.stanzas
        }
        guard stanzas.count <= AgeHeader.stanzaLimit else {
            throw .headerTooLarge("recipients", allowed: AgeHeader.stanzaLimit)
        }
        try AgeHeader.requireLonePassphrase(stanzas)
        try self.init(stanzas: stanzas, fileKey: fileKey)
        guard length <= AgeHeader.sizeLimit else {
            throw .headerTooLarge("header bytes", allowed: AgeHeader.sizeLimit)
        }
    }
}
