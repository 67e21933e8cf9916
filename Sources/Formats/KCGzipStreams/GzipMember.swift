/// The fixed parts of a gzip member (RFC 1952 §2.3), as written and as accepted.
enum GzipMember {
    /// The size of the header in bytes, without optional fields.
    static let headerSize = 10
    /// The size of the trailer in bytes: the CRC-32 and the size of the plaintext, little-endian.
    static let trailerSize = 8

    /// The magic, deflate, no flags, no time, no extra flags, operating system unknown.
    static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    /// The operating system that gzip on Linux writes in the last byte; the only other value accepted.
    static let unix: UInt8 = 3

    /// The rule that the header byte at `index` breaks, or nil.
    static func rule(brokenBy byte: UInt8, at index: Int) -> String? {
        if byte == header[index] || index == 9 && byte == unix { return nil }
        switch index {
        case 0, 1: return "a member starts with the magic of gzip"
        case 2: return "a member is compressed with deflate"
        case 3: return "a member has no flags"
        case 4...7: return "a member has no time"
        case 8: return "a member has no extra flags"
        default: return "the operating system is unknown or Unix"
        }
    }

    /// `number` as four little-endian bytes.
    static func bytes(of number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
