internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// Reads DER (X.690) with single-byte tags and lengths in their shortest form, so that each value has one encoding.
extension ByteCursor {
    /// The tag and the content of the next element.
    mutating func element(
        in bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (tag: UInt8, content: Range<Int>) {
        let tag = bytes[try take(1).lowerBound]
        let first = Int(bytes[try take(1).lowerBound])
        if first < 0x80 { return (tag, try take(first)) }
        let count = first - 0x80
        guard (1...4).contains(count) else { throw .damaged("a length is wrong") }
        let digits = try take(count)
        let length = digits.reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard length >= 0x80, bytes[digits.lowerBound] != 0 else {
            throw .damaged("a length is not in its shortest form")
        }
        return (tag, try take(length))
    }

    /// The content of the next element, which must have a given tag.
    mutating func element(_ tag: UInt8, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Range<Int> {
        let (found, content) = try element(in: bytes)
        guard found == tag else { throw .damaged("a value is not of the kind that belongs there") }
        return content
    }

    /// The elements of the next sequence.
    mutating func sequence(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> ByteCursor {
        ByteCursor(try element(0x30, in: bytes))
    }

    /// The next element, an INTEGER that is not negative; it must fit into 63 bits.
    mutating func integer(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Int {
        let content = try element(0x02, in: bytes)
        guard (1...8).contains(content.count), bytes[content.lowerBound] < 0x80 else {
            throw .damaged("a number is negative or too large")
        }
        return content.reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    /// The next element, an OBJECT IDENTIFIER, as the hexadecimal digits of its content.
    mutating func identifier(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String {
        Hexadecimal.encode(bytes.array(try element(0x06, in: bytes)))
    }

    /// The next element, an OCTET STRING that is not secret.
    mutating func octets(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [UInt8] {
        bytes.array(try element(0x04, in: bytes))
    }
}
