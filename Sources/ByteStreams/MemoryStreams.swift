/// Bytes in memory as a source.
public struct MemorySource: ByteSource, ~Copyable {
    private let bytes: SecretBytes
    private var offset = 0

    /// Takes over `bytes`.
    public init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// Copies `bytes`.
    public init(copying bytes: [UInt8]) {
        self.init(SecretBytes(bytes.span))
    }

    /// Appends the next bytes.
    public mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let end = min(bytes.count, offset + output.freeCapacity)
        bytes.withBytes { span in
            for index in offset..<end { output.append(span[index]) }
        }
        offset = end
    }
}

/// A sink that collects bytes which are not secret, such as ciphertext.
public struct MemorySink: ByteSink, ~Copyable {
    private var bytes: [UInt8] = []

    /// Starts empty.
    public init() {}

    /// Takes all of `bytes`.
    public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        for index in bytes.indices { self.bytes.append(bytes[index]) }
    }

    /// Returns what was collected.
    public consuming func finish() throws(StreamFailure) -> [UInt8] {
        bytes
    }
}
