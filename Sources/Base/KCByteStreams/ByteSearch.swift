internal import Glibc

extension Span<UInt8> {
    /// The index of the first `byte` at or after `start`, or nil.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        unsafe withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress, start < buffer.count else { return nil }
            guard let found = unsafe memchr(base + start, Int32(byte), buffer.count - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }
}

extension Span<UInt8> {
    /// True when the bytes begin with those of `text`.
    package func starts(with text: String) -> Bool {
        let start = text.utf8.span
        return count >= start.count && start.indices.allSatisfy { self[$0] == start[$0] }
    }

    /// Calls `body` with each line, without its line feed, and its number from 1; the last line may lack a line feed.
    package func forEachLine<E: Error>(
        _ body: (_ line: borrowing Span<UInt8>, _ number: Int) throws(E) -> Void
    ) throws(E) {
        var number = 0
        var start = 0
        while start < count {
            number += 1
            let end = firstIndex(of: UInt8(ascii: "\n"), from: start) ?? count
            try body(extracting(start..<end), number)
            start = end + 1
        }
    }
}
