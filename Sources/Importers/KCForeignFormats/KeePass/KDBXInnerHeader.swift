internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources

/// The data before the XML in KDBX 4: the cipher of protected values, and the attachments.
struct KDBXInnerHeader {
    let stream: KDBX.Stream
    let streamKey: [UInt8]
    /// The positions of the attachments in the bytes that they were appended to.
    let binaries: [Range<Int>]

    private static let fieldStart = 5

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - piece: gets the first bytes of the XML.
    ///   - binaries: gets the attachments.
    /// - Throws: `ForeignFailure` (`damaged`, `unknownVariant`), and what `content` throws.
    init(
        _ content: inout KDBXOpening, _ piece: inout SecretBytes, binaries secrets: inout SecretBytes
    ) throws {
        var (number, key): (UInt64?, [UInt8]?) = (nil, nil)
        var binaries: [Range<Int>] = []
        var position = 0
        while true {
            try Self.require(Self.fieldStart, from: &position, of: &content, &piece)
            let (type, size) = piece.withBytes { bytes in
                (bytes[position], (1...4).reversed().reduce(0) { $0 << 8 | Int(bytes[position + $1]) })
            }
            try Self.require(Self.fieldStart + size, from: &position, of: &content, &piece)
            let range = position + Self.fieldStart..<position + Self.fieldStart + size
            position = range.upperBound
            switch type {
            case 0:
                guard let number, let key, let stream = KDBX.Stream(rawValue: UInt32(truncatingIfNeeded: number)) else {
                    throw ForeignFailure.unknownVariant("an unknown stream cipher")
                }
                piece.removeFirst(position)
                (self.stream, streamKey, self.binaries) = (stream, key, binaries)
                return
            case 1 where number == nil && size == 4:
                number = piece.withBytes { bytes in range.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) } }
            case 2 where key == nil && size <= 1_024: key = piece.withBytes { bytes in range.map { bytes[$0] } }
            case 3 where size > 0:
                binaries.append(secrets.count..<secrets.count + size - 1)
                piece.withBytes { secrets.append($0.extracting(range.lowerBound + 1..<range.upperBound)) }
            default: throw ForeignFailure.damaged("its inner header is malformed")
            }
        }
    }

    /// Reads until there are `count` bytes from `position` on.
    private static func require(
        _ count: Int, from position: inout Int, of content: inout KDBXOpening, _ piece: inout SecretBytes
    ) throws {
        if piece.count - position >= count { return }
        piece.removeFirst(position)
        position = 0
        while piece.count < count {
            guard try content.read(into: &piece) else { throw ByteCursor.early }
        }
    }
}
