internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
internal import KCGzipStreams

/// Writes the lines of one stream: hashed, compressed, encrypted by age, and spooled.
struct StreamWriter: ~Copyable {
    private var gzip: GzipEncoder<ProtectedSink>
    private var hash = SHA256()
    /// Opens the stream for reading once it is written.
    let opener: StreamOpener

    /// Writes to `file`, unencrypted if there is no key.
    init(_ file: UnnamedFile, under key: NewFileKey?) throws {
        let sink = try ProtectedSink(file, under: key)
        let opener = sink.opener
        gzip = try GzipEncoder(to: sink)
        self.opener = opener
    }

    /// Writes `line`, which ends in a line feed.
    mutating func write(_ line: borrowing SecretBytes) throws(StreamFailure) {
        try line.withBytes { bytes throws(StreamFailure) in try write(bytes) }
    }

    /// Writes `line`, which ends in a line feed.
    mutating func write(_ line: borrowing Span<UInt8>) throws(StreamFailure) {
        hash.update(line)
        try gzip.write(line)
    }

    /// Writes `line`, which ends in a line feed, but hashes `text` and a line feed, which `line` should consist of.
    ///
    /// The hash then covers the intended data, even if `line` is corrupted on the way.
    mutating func write(_ line: borrowing SecretBytes, of text: borrowing Span<UInt8>) throws(StreamFailure) {
        hash.update(text)
        hash.update(Self.lineFeed.span)
        try line.withBytes { bytes throws(StreamFailure) in try gzip.write(bytes) }
    }

    private static let lineFeed = [UInt8(ascii: "\n")]

    /// The hash of all lines so far; lines written later are not hashed.
    mutating func takeHash() -> SHA256Digest {
        var taken = SHA256()
        swap(&taken, &hash)
        return taken.finalize()
    }

    consuming func finish() throws(StreamFailure) -> SpooledFile {
        try gzip.finish()
    }
}
