/// Bytes as a key of a dictionary, hashed eight at a time: an array hashes each byte on its own.
package struct HashedBytes: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(span: bytes.span) }
}

extension Hasher {
    /// Adds bytes and their number.
    mutating func combine(span bytes: borrowing Span<UInt8>) {
        combine(bytes.count)
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 { combine(word) }
        }
        if bytes.count & 7 != 0 { combine(word) }
    }
}
