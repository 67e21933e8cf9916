internal import KCByteStreams

/// The formats in which macOS's `security` prints bytes: as text if they are printable, otherwise in hexadecimal.
extension ByteBuffer where Self: ~Copyable {
    /// Appends bytes as in a listing.
    ///
    /// If all bytes are readable, they are appended as `"text"`. Otherwise they are appended as `0x` with hexadecimal
    /// digits and a space and, if any byte is readable, another space and `"text"` with octal escapes for the other
    /// bytes. Nothing is appended for no bytes.
    mutating func appendListed(_ bytes: borrowing Span<UInt8>) {
        let readable = bytes.indices.count { isReadable(bytes[$0]) }
        if readable < bytes.count {
            append(utf8: "0x")
            for index in bytes.indices { appendHexadecimal(bytes[index], digits: upperCase) }
            append(UInt8(ascii: " "))
            if readable > 0 { append(UInt8(ascii: " ")) }
        }
        guard readable > 0 else { return }
        append(UInt8(ascii: "\""))
        for index in bytes.indices {
            let byte = bytes[index]
            if isReadable(byte) {
                append(byte)
            } else {
                append(UInt8(ascii: "\\"))
                for shift in [6, 3, 0] { append(UInt8(ascii: "0") + (byte >> UInt8(shift)) & 7) }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends bytes as `-w` prints them: unchanged if all are printable ASCII, otherwise as hexadecimal digits.
    mutating func appendBare(_ bytes: borrowing Span<UInt8>) {
        if bytes.indices.allSatisfy({ isPrintable(bytes[$0]) }) {
            append(bytes)
        } else {
            for index in bytes.indices { appendHexadecimal(bytes[index], digits: lowerCase) }
        }
    }

    private mutating func appendHexadecimal(_ byte: UInt8, digits: [UInt8]) {
        append(digits[Int(byte >> 4)])
        append(digits[Int(byte & 15)])
    }
}

private let upperCase = Array("0123456789ABCDEF".utf8)
private let lowerCase = Array("0123456789abcdef".utf8)

private func isPrintable(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }

/// A backslash is not readable, since it would look like the beginning of an escape.
private func isReadable(_ byte: UInt8) -> Bool { isPrintable(byte) && byte != UInt8(ascii: "\\") }
