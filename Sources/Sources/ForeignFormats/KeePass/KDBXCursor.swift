internal import ByteStreams
internal import ItemSources

/// A place in bytes, which moves forward by what is taken.
struct KDBXCursor {
    private(set) var position = 0

    init(at position: Int = 0) {
        self.position = position
    }

    /// The next `count` bytes.
    ///
    /// - Throws: `ForeignFailure.damaged`.
    mutating func take(_ count: UInt64, of bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Range<Int> {
        guard count <= UInt64(bytes.count - position) else { throw .damaged("it ends early") }
        defer { position += Int(count) }
        return position..<position + Int(count)
    }

    /// The next bytes as a number, the lowest first.
    ///
    /// - Throws: `ForeignFailure.damaged`.
    mutating func number(_ count: UInt64, of bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt64 {
        try take(count, of: bytes).reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    /// The next `count` bytes, which are not secret.
    ///
    /// - Throws: `ForeignFailure.damaged`.
    mutating func array(_ count: UInt64, of bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [UInt8] {
        try take(count, of: bytes).map { bytes[$0] }
    }
}
