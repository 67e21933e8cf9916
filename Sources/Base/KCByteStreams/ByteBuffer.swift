/// A buffer that encoders append to: `[UInt8]`, or `SecretBytes` where the bytes may include a secret.
package protocol ByteBuffer: ~Copyable {
    /// The number of bytes.
    var count: Int { get }

    /// Adds one byte.
    mutating func append(_ byte: UInt8)
    /// Adds all of `bytes`.
    mutating func append(_ bytes: borrowing Span<UInt8>)
    /// Appends what `body` writes, at most `limit` bytes; if `body` throws, nothing is appended.
    mutating func append<E: Error>(
        upTo limit: Int, _ body: (inout OutputSpan<UInt8>) throws(E) -> Void
    ) throws(E)
    /// Drops the last `length` bytes.
    mutating func removeLast(_ length: Int)
}

extension ByteBuffer where Self: ~Copyable {
    /// Adds text as UTF-8.
    package mutating func append(utf8 text: String) {
        append(text.utf8.span)
    }

    /// Adds a number in decimal digits, without a text of it on the way.
    package mutating func append(decimal number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        if magnitude > 9 { append(decimal: Int(magnitude / 10)) }
        append(UInt8(ascii: "0") + UInt8(magnitude % 10))
    }
}

extension SecretBytes: ByteBuffer {}

extension [UInt8] {
    /// Copies `bytes`.
    package init(copying bytes: borrowing Span<UInt8>) {
        self.init(capacity: bytes.count) { output in output.append(copying: bytes) }
    }
}

extension [UInt8]: ByteBuffer {
    /// Adds all of `bytes`.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends what `body` writes, at most `limit` bytes; if `body` throws, nothing is appended.
    package mutating func append<E: Error>(
        upTo limit: Int, _ body: (inout OutputSpan<UInt8>) throws(E) -> Void
    ) throws(E) {
        let before = count
        do {
            try append(addingCapacity: limit, initializingWith: body)
        } catch {
            // The array keeps what was written before the throw.
            removeLast(count - before)
            throw error
        }
    }
}
