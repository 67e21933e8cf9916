/// The field of 256 elements of AES, polynomials modulo x⁸ + x⁴ + x³ + x + 1, without tables and branches: the time
/// depends on no element.
enum GaloisField {
    /// The product of two elements.
    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        var power = left
        for bit in 0..<8 {
            product ^= power & mask(right >> bit)
            power = power << 1 ^ (0x1b & mask(power >> 7))
        }
        return product
    }

    /// The inverse of an element other than 0, which is its 254th power.
    static func inverse(_ element: UInt8) -> UInt8 {
        var result = element
        // 254 is 11111110 in binary.
        for _ in 0..<6 { result = multiply(multiply(result, result), element) }
        return multiply(result, result)
    }

    /// All ones if the lowest bit is 1, otherwise 0.
    private static func mask(_ bit: UInt8) -> UInt8 { 0 &- (bit & 1) }
}
