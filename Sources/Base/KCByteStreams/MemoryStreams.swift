/// A byte source over bytes in memory.
package struct MemorySource: ByteSource, ~Copyable {
    private let bytes: SecretBytes
    private var offset = 0

    /// Takes ownership of `bytes`.
    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// Copies `bytes`.
    package init(copying bytes: [UInt8]) {
        self.init(SecretBytes(bytes.span))
    }

    /// Appends the next bytes.
    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let start = offset
        offset += min(bytes.count - start, output.freeCapacity)
        let end = offset
        bytes.withBytes { output.append(copying: $0.extracting(start..<end)) }
    }
}

/// A sink that collects public bytes, such as ciphertext.
package struct MemorySink: ByteSink, ~Copyable {
    private var bytes: [UInt8] = []

    /// Creates an empty sink.
    package init() {}

    /// Appends all of `bytes`.
    package mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        unsafe bytes.withUnsafeBufferPointer { unsafe self.bytes.append(contentsOf: $0) }
    }

    /// Returns the collected bytes.
    package consuming func finish() throws(StreamFailure) -> [UInt8] {
        bytes
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends all of `bytes`, which must fit into the free capacity.
    package mutating func append(copying bytes: borrowing Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "the bytes must fit")
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe withUnsafeMutableBufferPointer { target, count in
                let room = target.extracting(count...)
                count += unsafe room.update(fromContentsOf: source)
            }
        }
    }
}
