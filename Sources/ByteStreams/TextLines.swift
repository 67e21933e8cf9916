extension SecretBytes {
    /// Hands each line to `body`, with its number from 1 on and without its line feed; a last line may lack one.
    public borrowing func forEachLine<E: Error>(
        _ body: (Int, borrowing Span<UInt8>) throws(E) -> Void
    ) throws(E) {
        try withBytes { text throws(E) in
            var start = 0
            var number = 1
            while start < text.count {
                var end = start
                while end < text.count && text[end] != UInt8(ascii: "\n") { end += 1 }
                try body(number, text.extracting(start..<end))
                start = end + 1
                number += 1
            }
        }
    }

    /// Adds the UTF-8 bytes of a text that is not secret.
    public mutating func append(text: String) {
        for byte in text.utf8 { append(byte) }
    }
}

extension Span where Element == UInt8 {
    /// True when the bytes begin with those of `text`.
    public func starts(with text: String) -> Bool {
        let start = Array(text.utf8)
        return count >= start.count && start.indices.allSatisfy { self[$0] == start[$0] }
    }

    /// A copy as text, for bytes that are not secret; nil unless they are UTF-8.
    public func text() -> String? {
        String(validating: indices.map { self[$0] }, as: UTF8.self)
    }
}
