/// A 12-byte nonce, used at most once with a key (AES-GCM, ChaCha20-Poly1305).
package struct Nonce: Hashable, Sendable {
    // Three words without padding: the memory of the tuple is the nonce.
    private let words: (UInt32, UInt32, UInt32)

    /// Twelve zero bytes, for a key that is used once.
    package static let zero = Nonce(field: 0, counter: 0)

    /// A 4-byte field and an 8-byte counter, both big-endian.
    package init(field: UInt32, counter: UInt64) {
        words = (field.bigEndian, UInt32(counter >> 32).bigEndian, UInt32(truncatingIfNeeded: counter).bigEndian)
    }

    /// Creates a nonce from 12 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 12 else { return nil }
        let number = { (range: Range<Int>) in bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(field: UInt32(number(0..<4)), counter: number(4..<12))
    }

    /// Compares all bytes.
    package static func == (left: Nonce, right: Nonce) -> Bool {
        left.words == right.words
    }

    /// Hashes all bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
    }

    /// Passes the 12 bytes to libcrypto.
    func withPointer(_ body: (UnsafePointer<UInt8>) -> Int32) -> Int32 {
        unsafe withUnsafeBytes(of: words) { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return 0 }
            return unsafe body(start)
        }
    }
}
