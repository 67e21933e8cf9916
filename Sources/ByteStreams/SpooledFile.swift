/// A sink that writes to an unnamed file and hands it over when finished.
public struct UnnamedFileSink: ByteSink, ~Copyable {
    private let target: UnnamedFile
    private var buffer: SecretBytes
    /// How many bytes were written so far.
    public private(set) var length: UInt64 = 0

    // Large enough that system calls do not count, small enough to stay in the cache.
    private static let bufferSize = 262_144

    /// Starts at the beginning of `target`.
    public init(_ target: UnnamedFile) {
        self.target = target
        buffer = SecretBytes(capacity: Self.bufferSize)
    }

    /// Takes all of `bytes`.
    public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        length += UInt64(bytes.count)
        if bytes.count >= Self.bufferSize {
            try flush()
            try target.file.write(bytes)
            return
        }
        if buffer.count + bytes.count > Self.bufferSize { try flush() }
        buffer.append(bytes)
    }

    /// Writes what is held back and returns the file with its length.
    public consuming func finish() throws(StreamFailure) -> SpooledFile {
        try flush()
        return SpooledFile(file: target.file, length: length)
    }

    private mutating func flush() throws(StreamFailure) {
        let target = self.target
        try buffer.withBytes { bytes throws(StreamFailure) in try target.file.write(bytes) }
        buffer.removeAll()
    }
}

/// A finished file without a name, kept open for reading back.
public struct SpooledFile: Sendable {
    /// The file; it disappears with its last user.
    public let file: OpenFile
    /// Its length in bytes.
    public let length: UInt64

    /// All of it, as a source.
    public var source: FileSlice { FileSlice(file, offset: 0, length: length) }
}
