/// The one kind of tar header that archives have.
public enum TarProfile {
    /// Members of a container: an archive has six.
    public static let memberLimit = 16
    /// Bytes of a member: what eleven octal digits can say, 8 GiB less one.
    public static let sizeLimit: UInt64 = 0o77_777_777_777
    /// Seconds since 1970: what eleven octal digits can say, until the year 2242.
    public static let timeRange: ClosedRange<Int64> = 0...0o77_777_777_777
    /// Bytes of a block: a header, and the unit to which data is padded.
    static let blockSize = 512

    /// The 512 bytes of a member's header, every one of them decided by name, length and time.
    ///
    /// The spelling of each field is libarchive's, which writes them: octal digits, and then a blank, a NUL or both.
    static func header(name: [UInt8], length: UInt64, modified: UInt64) -> [UInt8] {
        func octal(_ value: UInt64, _ digits: Int) -> [UInt8] {
            (0..<digits).map { UInt8(48 + value >> UInt64(3 * (digits - 1 - $0)) & 7) }
        }
        func padded(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
            bytes + [UInt8](repeating: 0, count: size - bytes.count)
        }
        let blankAndNul: [UInt8] = [0x20, 0]
        let beforeChecksum =
            padded(name, 100) + octal(0o600, 6) + blankAndNul + octal(0, 6) + blankAndNul + octal(0, 6) + blankAndNul
            + octal(length, 11) + [0x20] + octal(modified, 11) + [0x20]
        let afterChecksum =
            [UInt8(ascii: "0")] + [UInt8](repeating: 0, count: 100) + Array("ustar".utf8) + [0, 0x30, 0x30]
            + [UInt8](repeating: 0, count: 64) + octal(0, 6) + blankAndNul + octal(0, 6) + blankAndNul
            + [UInt8](repeating: 0, count: 167)
        // The checksum counts its own field as eight blanks.
        let sum = (beforeChecksum + afterChecksum).reduce(8 * 0x20) { $0 + UInt64($1) }
        return beforeChecksum + octal(sum, 6) + [0, 0x20] + afterChecksum
    }

    /// The bytes that fill up a member's last block.
    static func padding(_ length: UInt64) -> UInt64 {
        (UInt64(blockSize) - length % UInt64(blockSize)) % UInt64(blockSize)
    }
}
