/// An element of DER (X.690): a tag byte, a length and the content.
struct DERElement {
    /// The identifier octet; multi-byte tags are not supported.
    let tag: UInt8
    /// The range of header and content.
    let whole: Range<Int>
    /// The range of the content.
    let content: Range<Int>
}

/// Reads consecutive elements, such as the content of a SEQUENCE, checking each length against the end.
///
/// Only definite lengths in their shortest form are accepted, so that each value has one encoding.
struct DERReader {
    private var position: Int
    private let end: Int

    /// Starts at the beginning of `range`.
    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next element; nil at the end.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(CertificateFailure) -> DERElement? {
        guard position < end else { return nil }
        let start = position
        guard let header = DERHeader(in: bytes, at: start, end: end), let length = header.length,
            header.isShortest, length <= end - header.end
        else { throw .malformed("a value is not DER") }
        position = header.end + length
        return DERElement(tag: header.tag, whole: start..<position, content: header.end..<position)
    }

    /// The next element, which must exist and have `tag`.
    mutating func expect(_ tag: UInt8, in bytes: borrowing Span<UInt8>) throws(CertificateFailure) -> DERElement {
        guard let element = try next(in: bytes), element.tag == tag else {
            throw .malformed("a value is not of the expected type")
        }
        return element
    }

    /// Checks that nothing is left.
    func expectEnd() throws(CertificateFailure) {
        guard position == end else { throw .malformed("something follows the end") }
    }
}

/// The tag and length of an element, in BER or DER.
struct DERHeader {
    let tag: UInt8
    /// Bytes of the content; nil for the indefinite form of BER.
    let length: Int?
    /// Where the content starts.
    let end: Int
    /// True if the length is in the form that DER requires.
    let isShortest: Bool

    /// Reads a header; nil if it extends past `end`, or is larger than a file can be.
    init?(in bytes: borrowing Span<UInt8>, at start: Int, end limit: Int) {
        guard limit - start >= 2, bytes[start] & 0x1f != 0x1f else { return nil }
        tag = bytes[start]
        let first = Int(bytes[start + 1])
        switch first {
        case ..<0x80:
            length = first
            end = start + 2
            isShortest = true
        case 0x80:
            length = nil
            end = start + 2
            isShortest = false
        case 0x81...0x84:
            let count = first - 0x80
            guard limit - start >= 2 + count else { return nil }
            var value = 0
            for index in 0..<count { value = value << 8 | Int(bytes[start + 2 + index]) }
            length = value
            end = start + 2 + count
            isShortest = value >= (count == 1 ? 0x80 : 1 << (8 * (count - 1)))
        default: return nil
        }
    }
}

/// Tags of ASN.1 (X.680), as identifier octets.
enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0c
    static let numericString: UInt8 = 0x12
    static let printableString: UInt8 = 0x13
    static let teletexString: UInt8 = 0x14
    static let videotexString: UInt8 = 0x15
    static let ia5String: UInt8 = 0x16
    static let visibleString: UInt8 = 0x1a
    static let generalString: UInt8 = 0x1b
    static let universalString: UInt8 = 0x1c
    static let bmpString: UInt8 = 0x1e
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
}

/// Writes elements.
enum DER {
    /// The tag and length of `count` bytes of content.
    static func header(_ tag: UInt8, count: Int) -> [UInt8] {
        if count < 0x80 { return [tag, UInt8(count)] }
        var length: [UInt8] = []
        var rest = count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length
    }

    /// An element with its header.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        header(tag, count: content.count) + content
    }
}
