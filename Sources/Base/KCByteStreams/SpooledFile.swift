/// A sink that writes to an unnamed file and returns it when finished.
package struct UnnamedFileSink: ByteSink, ~Copyable {
    private let target: UnnamedFile
    private var buffer: SecretBytes
    /// The number of bytes written so far.
    package private(set) var length: UInt64 = 0

    // Large enough to amortize system calls, small enough to stay in the cache.
    private static let bufferSize = 262_144

    /// Writes from the beginning of `target`.
    package init(_ target: UnnamedFile) {
        self.target = target
        buffer = SecretBytes(capacity: Self.bufferSize)
    }

    /// Writes all of `bytes`.
    package mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        length += UInt64(bytes.count)
        if bytes.count >= Self.bufferSize {
            try flush()
            try target.file.write(bytes)
            return
        }
        if buffer.count + bytes.count > Self.bufferSize { try flush() }
        buffer.append(bytes)
    }

    /// Flushes the buffer and returns the file with its length.
    package consuming func finish() throws(StreamFailure) -> SpooledFile {
        try flush()
        return SpooledFile(file: target.file, length: length)
    }

    private mutating func flush() throws(StreamFailure) {
        let target = self.target
        try buffer.withBytes { bytes throws(StreamFailure) in try target.file.write(bytes) }
        buffer.removeAll()
    }
}

/// A complete unnamed file, kept open for reading back.
package struct SpooledFile: Sendable {
    /// The file; it disappears with its last owner.
    package let file: OpenFile
    /// Its length in bytes.
    package let length: UInt64

    /// The entire file as a source.
    package var source: FileSlice { FileSlice(file, offset: 0, length: length) }
}
