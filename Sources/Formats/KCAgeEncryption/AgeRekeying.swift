package import KCByteStreams
internal import KCCryptography

/// Replaces the header of an age file: the recipients change; the file key and every byte of the payload stay the same.
///
/// Anyone who has already obtained the file key can still read the file, and every copy with the old header still opens
/// for the old recipients.
package struct AgeRekeying<Upstream: ByteSource & ~Copyable>: ~Copyable {
    /// An identity that opens the new file, like `AgeEncryptor.reader`.
    package let reader: any Identity
    private let header: [UInt8]
    private var payload: Remainder<Upstream>

    /// Reads the old header with one of `identities`, and creates the new one for `recipients`.
    ///
    /// - Throws: `AgeFailure`, like the initializers of `AgeDecryptor` and `AgeEncryptor`.
    package init(
        _ upstream: consuming Upstream, identities: [any Identity], recipients: [any Recipient]
    ) throws(AgeFailure) {
        var reader = HeaderReader(upstream)
        let old = try reader.read()
        try AgeHeader.requireLonePassphrase(old.stanzas)
        var fileKey: SecretBytes?
        for identity in identities where fileKey == nil { fileKey = try identity.unwrap(old.stanzas) }
        guard let key = fileKey.take() else { throw .noMatchingIdentity(old.stanzas.map(\.displayedType)) }
        guard key.count == fileKeySize else { throw .malformedHeader("the file key has a wrong size") }
        try old.authenticate(fileKey: key)
        header = Array(try AgeHeader(wrapping: key, for: recipients).text.utf8)
        self.reader = WrittenFileKey(key)
        payload = reader.payload()
    }

    /// Writes the new file.
    ///
    /// - Throws: `StreamFailure`.
    package mutating func write(to sink: inout some ByteSink & ~Copyable) throws(StreamFailure) {
        try sink.write(header.span)
        try payload.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
    }
}

extension AgeHeader {
    /// Creates the header of a file that `recipients` can open.
    ///
    /// - Throws: `AgeFailure`: `noRecipients`, `headerTooLarge`, `mixedPassphrase`, `incompatibleRecipients`,
    ///   `malformedRecipient`, `cryptography`.
    init(wrapping fileKey: borrowing SecretBytes, for recipients: [any Recipient]) throws(AgeFailure) {
        guard !recipients.isEmpty else { throw .noRecipients }
        guard recipients.count <= AgeHeader.stanzaLimit else {
            throw .headerTooLarge("recipients", allowed: AgeHeader.stanzaLimit)
        }
        var stanzas: [Stanza] = []
        var labels: Set<String>?
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
