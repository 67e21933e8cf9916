package import KCByteStreams

/// HMAC-SHA-1 (RFC 2104), for files of other programs that are authenticated with it.
package struct HMACSHA1: ~Copyable {
    private let context: MACContext

    /// Sets the key; any length is allowed.
    package init(key: borrowing SecretBytes) throws(CryptographyFailure) {
        context = try key.withBytes { span throws(CryptographyFailure) in try MACContext(.sha1, key: span) }
    }

    /// Adds bytes to the current message.
    package mutating func update(_ bytes: borrowing Span<UInt8>) throws(CryptographyFailure) {
        try context.update(bytes)
    }

    /// Ends the current message, returns its 20-byte code and starts the next one under the same key.
    package mutating func finalize() throws(CryptographyFailure) -> [UInt8] {
        var code = SecretBytes(capacity: 20)
        try context.finalize(into: &code)
        return code.withBytes { span in span.indices.map { span[$0] } }
    }
}
