/// The checksum of the words of a share: a Reed-Solomon code over 1,024 elements, three words (SLIP-0039, "Checksum").
///
/// The checksum finds any three wrong words. Its time depends on no word.
struct ShareChecksum {
    /// The number of words at the end of a share.
    static let length = 3

    private static let generator: [UInt32] = [
        0xe0_e040, 0x1c1_c080, 0x383_8100, 0x707_0200, 0xe0e_0009, 0x1c0c_2412, 0x3808_6c24, 0x3090_fc48, 0x21b1_f890,
        0x3f3f_120,
    ]

    /// The remainder of the words so far.
    private(set) var state: UInt32 = 1
    private let generator = Self.generator

    /// Starts with the name of the kind of shares.
    init(isExtendable: Bool) {
        for byte in (isExtendable ? "shamir_extendable" : "shamir").utf8 { add(UInt16(byte)) }
    }

    /// Adds the number of a word.
    mutating func add(_ word: UInt16) {
        let top = state >> 20
        state = (state & 0xf_ffff) << 10 ^ UInt32(word)
        for bit in 0..<10 { state ^= generator[bit] & (0 &- (top >> UInt32(bit) & 1)) }
    }

    /// True if the words added last are the checksum of those before.
    var isValid: Bool { state == 1 }

    /// The three words that make it valid.
    consuming func finalize() -> [UInt16] {
        for _ in 0..<Self.length { add(0) }
        let code = state ^ 1
        return (0..<Self.length).map { UInt16(code >> UInt32(10 * (Self.length - 1 - $0)) & 1_023) }
    }
}
