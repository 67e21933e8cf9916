internal import KCByteStreams

/// Numbers of words, 0 to 1,023, in memory that is wiped.
package struct WordNumbers: ~Copyable {
    // Two bytes each, the higher first.
    private var bytes: SecretBytes

    /// Creates an empty list.
    package init() { bytes = SecretBytes(capacity: 2 * 64) }

    /// The number of words.
    package var count: Int { bytes.count / 2 }

    /// The number of the word at `index`.
    package subscript(_ index: Int) -> UInt16 {
        get { bytes.withBytes { UInt16($0[2 * index]) << 8 | UInt16($0[2 * index + 1]) } }
        set {
            bytes.withMutableBytes { bytes in
                bytes[2 * index] = UInt8(newValue >> 8)
                bytes[2 * index + 1] = UInt8(truncatingIfNeeded: newValue)
            }
        }
    }

    /// Adds the number of a word.
    package mutating func append(_ number: UInt16) {
        bytes.append(UInt8(number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// Copies the numbers.
    package func copy() -> WordNumbers {
        var copy = WordNumbers()
        bytes.withBytes { copy.bytes.append($0) }
        return copy
    }
}
