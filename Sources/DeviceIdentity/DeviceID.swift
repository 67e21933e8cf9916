internal import Cryptography

/// The public name of a device: `KC-` and 20 characters of base 32 in groups of four.
///
/// It is 100 bits of the SHA-256 of the device's public signing key, so that a key proves that the name is its own.
public struct DeviceID: Hashable, Sendable, LosslessStringConvertible {
    /// The canonical spelling, such as `KC-ABCD-EFGH-IJKL-MNOP-QRST`.
    public let description: String

    // RFC 4648, section 6.
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let length = 20

    /// The name that belongs to a public key.
    public init(publicKey: [UInt8]) {
        let hash = SHA256.hash(publicKey.span).bytes
        var characters: [UInt8] = []
        for index in 0..<Self.length {
            let bit = index * 5
            let pair = UInt16(hash[bit / 8]) << 8 | UInt16(hash[bit / 8 + 1])
            characters.append(Self.alphabet[Int(pair >> UInt16(11 - bit % 8) & 31)])
        }
        description = Self.grouped(characters)
    }

    /// Parses a name in any case, with or without dashes; nil for anything else.
    public init?(_ text: String) {
        let characters = text.utf8.filter { $0 != UInt8(ascii: "-") }
            .map { (97...122).contains($0) ? $0 - 32 : $0 }
        guard characters.starts(with: "KC".utf8), characters.count == Self.length + 2 else { return nil }
        let name = Array(characters.dropFirst(2))
        guard name.allSatisfy(Self.alphabet.contains) else { return nil }
        description = Self.grouped(name)
    }

    private static func grouped(_ characters: [UInt8]) -> String {
        stride(from: 0, to: length, by: 4).reduce("KC") { text, start in
            text + "-" + String(decoding: characters[start..<start + 4], as: UTF8.self)
        }
    }
}
