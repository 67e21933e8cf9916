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
        let expected = text.utf8.span
        return count >= expected.count && extracting(first: expected.count).isEqual(to: expected)
    }

    /// True if the bytes at `start` equal `expected`.
    package func matches(_ expected: some Collection<UInt8>, at start: Int = 0) -> Bool {
        start + expected.count <= count && zip(start..<count, expected).allSatisfy { self[$0] == $1 }
    }

    /// True if these are the same bytes; not for comparing with a secret, which takes constant time.
    package func isEqual(to other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBufferPointer { one in
            unsafe other.withUnsafeBufferPointer { two in
                guard let first = one.baseAddress, let second = two.baseAddress else { return true }
                return unsafe memcmp(first, second, one.count) == 0
            }
        }
    }

    /// Compares bytes as unsigned numbers, a prefix before its extension; not for secrets, as `isEqual`.
    ///
    /// - Returns: a negative number, 0 or a positive one.
    package func order(with other: borrowing Span<UInt8>) -> Int {
        let shared = min(count, other.count)
        let order = unsafe withUnsafeBufferPointer { one in
            unsafe other.withUnsafeBufferPointer { two in
                guard let first = one.baseAddress, let second = two.baseAddress else { return Int32(0) }
                return unsafe memcmp(first, second, shared)
            }
        }
        return order == 0 ? count - other.count : Int(order)
    }

    /// True if `text` is somewhere in the bytes.
    package func holds(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first else { return true }
        var start = 0
        while let found = firstIndex(of: first, from: start) {
            if matches(text, at: found) { return true }
            start = found + 1
        }
        return false
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

extension SecretBytes {
    /// True if these are the same bytes; the time that it takes may tell where they differ.
    package func isEqual(to other: borrowing SecretBytes) -> Bool {
        withBytes { one in other.withBytes { one.isEqual(to: $0) } }
    }
}
