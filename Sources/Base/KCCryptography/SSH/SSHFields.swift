internal import KCByteStreams

/// Reads the fields of SSH's encoding (RFC 4251, section 5), each of which begins with its length in four bytes.
struct SSHFields {
    private var position: Int
    private let end: Int

    /// Starts at the beginning of `range`.
    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next four bytes as a number.
    mutating func count(in bytes: borrowing Span<UInt8>) throws(SSHKeyFailure) -> Int {
        guard end - position >= 4 else { throw .malformed }
        var value = 0
        for index in position..<position + 4 { value = value << 8 | Int(bytes[index]) }
        position += 4
        return value
    }

    /// Where the content of the next field is.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(SSHKeyFailure) -> Range<Int> {
        let length = try count(in: bytes)
        guard length <= end - position else { throw .malformed }
        defer { position += length }
        return position..<position + length
    }

    /// The content of a public field.
    mutating func field(in bytes: borrowing Span<UInt8>) throws(SSHKeyFailure) -> [UInt8] {
        [UInt8](copying: bytes.extracting(try next(in: bytes)))
    }

    /// Where the next number is, which must be positive and in its one spelling.
    mutating func number(in bytes: borrowing Span<UInt8>) throws(SSHKeyFailure) -> Range<Int> {
        let range = try next(in: bytes)
        guard let first = range.first, bytes[first] < 0x80 else { throw .malformed }
        if bytes[first] == 0, range.count == 1 || bytes[first + 1] < 0x80 { throw .malformed }
        return range
    }

    /// The name of a type of key or of an algorithm.
    mutating func name(in bytes: borrowing Span<UInt8>) throws(SSHKeyFailure) -> String {
        let name = String(decoding: try field(in: bytes), as: UTF8.self)
        guard !name.isEmpty, name.utf8.count <= 64, name.exact.isASCIILettersAndDigits(or: "-@.") else {
            throw .malformed
        }
        return name
    }

    /// Where everything that is left is.
    var rest: Range<Int> { position..<end }

    /// Checks that nothing is left.
    func expectEnd() throws(SSHKeyFailure) {
        guard position == end else { throw .malformed }
    }

    /// Encodes public bytes.
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }
}
