internal import KCByteStreams

/// The kinds of frames that the reader sends (docs/reader.md).
enum ReaderFrame: UInt8 {
    case format = 1
    case item, text, marked, report, outline, failure
    case password, tried, keyFile, keyring, gpg, codes, plugins

    /// The largest content in bytes.
    var limit: Int {
        switch self {
        case .item: ItemFrame.limit
        case .marked: 16
        case .report: 64 << 20
        case .plugins: 16 << 20
        case .format, .text, .outline, .failure, .password, .tried, .keyFile, .keyring, .gpg, .codes: 1 << 20
        }
    }
}

/// The kinds of frames that the reader is sent.
enum AnswerFrame: UInt8 {
    case request = 65
    case secret, end, failure

    /// The largest content in bytes.
    var limit: Int {
        switch self {
        case .request, .failure, .end: 1 << 20
        // A decrypted file may be as large as any file.
        case .secret: Int(UInt32.max)
        }
    }
}

/// Why a frame cannot be read.
enum FrameFailure: Error {
    /// There is none, or only a part of it.
    case ended
    /// The other side broke this rule.
    case breach(String)
    case stream(StreamFailure)
}

/// Reads frames: a byte for the kind, four bytes for the size of the content, the highest first, and the content.
struct FrameReader<Source: ByteSource> {
    private var source: Source
    private var buffer = SecretBox(capacity: sizeInBytes)
    private var position = 0

    private static var sizeInBytes: Int { 65_536 }

    init(_ source: Source) { self.source = source }

    /// Reads the next frame.
    ///
    /// Memory grows with what arrives, and not with the size that a frame claims to have.
    ///
    /// - Parameter content: is replaced by its content.
    mutating func next<Kind: RawRepresentable>(
        _ kind: Kind.Type, limit: KeyPath<Kind, Int>, into content: inout SecretBytes
    ) throws(FrameFailure) -> Kind where Kind.RawValue == UInt8 {
        let raw = try byte()
        var size = 0
        for _ in 0..<4 { size = size << 8 | Int(try byte()) }
        guard let kind = Kind(rawValue: raw) else { throw .breach("a frame has the unknown kind \(raw)") }
        guard size <= kind[keyPath: limit] else { throw .breach("a frame of kind \(raw) has \(size) bytes") }
        content.removeAll()
        try take(size, into: &content)
        return kind
    }

    private mutating func byte() throws(FrameFailure) -> UInt8 {
        if position == buffer.bytes.count { try fill() }
        position += 1
        return buffer.bytes.withBytes { $0[position - 1] }
    }

    private mutating func take(_ count: Int, into content: inout SecretBytes) throws(FrameFailure) {
        var left = count
        while left > 0 {
            if position == buffer.bytes.count { try fill() }
            let piece = position..<min(position + left, buffer.bytes.count)
            buffer.bytes.withBytes { content.append($0.extracting(piece)) }
            position = piece.upperBound
            left -= piece.count
        }
    }

    private mutating func fill() throws(FrameFailure) {
        position = 0
        buffer.bytes.removeAll()
        do throws(StreamFailure) {
            try buffer.bytes.append(upTo: Self.sizeInBytes) { output throws(StreamFailure) in
                try source.read(into: &output)
            }
        } catch {
            throw .stream(error)
        }
        if buffer.bytes.isEmpty { throw .ended }
    }
}

/// Holds bytes that a copyable value owns.
final class SecretBox {
    var bytes: SecretBytes

    init(capacity: Int) { bytes = SecretBytes(capacity: capacity) }

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// Gathers frames, and writes many small ones at once.
struct FrameWriter {
    private var buffer = SecretBox(capacity: sizeInBytes)
    private let output: (borrowing Span<UInt8>) throws(StreamFailure) -> Void

    private static var sizeInBytes: Int { 65_536 }

    init(to output: @escaping (borrowing Span<UInt8>) throws(StreamFailure) -> Void) { self.output = output }

    /// Adds a frame, which `flush` sends.
    mutating func add<Kind: RawRepresentable>(
        _ kind: Kind, _ content: borrowing Span<UInt8>
    ) throws(StreamFailure) where Kind.RawValue == UInt8 {
        precondition(content.count <= UInt32.max, "a frame is larger than its size can say")
        buffer.bytes.append(kind.rawValue)
        for shift in [24, 16, 8, 0] { buffer.bytes.append(UInt8(truncatingIfNeeded: content.count >> shift)) }
        if content.count < Self.sizeInBytes {
            buffer.bytes.append(content)
        } else {
            try flush()
            try output(content)
        }
        if buffer.bytes.count > Self.sizeInBytes / 2 { try flush() }
    }

    mutating func flush() throws(StreamFailure) {
        try buffer.bytes.withBytes { bytes throws(StreamFailure) in
            if !bytes.isEmpty { try output(bytes) }
        }
        buffer.bytes.removeAll()
    }
}
