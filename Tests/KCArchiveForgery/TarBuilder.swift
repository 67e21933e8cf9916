/// A member of a tar archive as a hostile writer may encode it; the defaults are those of a genuine archive.
package struct TarEntry: Sendable {
    package var name: String
    package var bytes: [UInt8]
    package var type = UInt8(ascii: "0")
    package var mode = 0o600
    package var user = 0
    package var userName = ""
    package var linkName = ""
    package var time: Int64
    /// Replaces the size field, twelve bytes.
    package var sizeField: [UInt8]?
    /// The byte used to pad the data.
    package var padding: UInt8 = 0

    var encoded: [UInt8] {
        var header = padded(name, 100) + octal(mode, 6) + blankNul + octal(user, 6) + blankNul + octal(0, 6) + blankNul
        header += sizeField ?? octal(bytes.count, 11) + [0x20]
        header += octal(Int(time), 11) + [0x20]
        let rest =
            [type] + padded(linkName, 100) + Array("ustar".utf8) + [0, 0x30, 0x30] + padded(userName, 32)
            + padded("", 32) + octal(0, 6) + blankNul + octal(0, 6) + blankNul + padded("", 167)
        let sum = (header + rest).reduce(8 * 0x20) { $0 + Int($1) }
        header += octal(sum, 6) + [0, 0x20] + rest
        let fill = [UInt8](repeating: padding, count: (512 - bytes.count % 512) % 512)
        return header + bytes + fill
    }

    private let blankNul: [UInt8] = [0x20, 0]

    private func octal(_ value: Int, _ digits: Int) -> [UInt8] {
        (0..<digits).map { UInt8(48 + value >> (3 * (digits - 1 - $0)) & 7) }
    }

    private func padded(_ text: String, _ size: Int) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
    }

    package init(_ name: String, _ bytes: [UInt8], time: Int64) {
        self.name = name
        self.bytes = bytes
        self.time = time
    }
}

/// The bytes of a tar archive with `entries` and two zero blocks.
func tar(_ entries: [TarEntry]) -> [UInt8] {
    entries.flatMap(\.encoded) + [UInt8](repeating: 0, count: 1024)
}

/// A gzip member that stores `bytes` uncompressed, so that texts of equal length make members of equal length.
///
/// - Parameter name: if given, sets the flag for a file name and writes it.
package func storedGzip(_ bytes: [UInt8], name: String? = nil) -> [UInt8] {
    var member: [UInt8] = [0x1f, 0x8b, 8, name == nil ? 0 : 8, 0, 0, 0, 0, 0, 3]
    if let name { member += Array(name.utf8) + [0] }
    var offset = 0
    repeat {
        let count = min(bytes.count - offset, 0xffff)
        let isLast: UInt8 = offset + count == bytes.count ? 1 : 0
        member += [isLast] + littleEndian(UInt16(count)) + littleEndian(~UInt16(count))
        member += bytes[offset..<offset + count]
        offset += count
    } while offset < bytes.count
    return member + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
}

private func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: 0, to: value.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: value >> $0) }
}

/// CRC-32 of RFC 1952, section 8.
private func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~UInt32(0)
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
    return ~crc
}
