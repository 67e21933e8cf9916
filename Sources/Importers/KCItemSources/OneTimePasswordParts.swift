package import KCByteStreams

/// The parts of an address such as `otpauth://totp/Example:ada?secret=…`; the seed is not copied.
package struct OneTimePasswordParts: Hashable, Sendable {
    /// The position of the base32 seed.
    package let seed: Range<Int>
    package let parameters: OneTimePasswordParameters
    package let issuer: String?
    package let userName: String?
    /// The position of what Ente Auth knows beyond that: JSON, percent-encoded, which may contain a note.
    package let display: Range<Int>?
    /// True for an address that every authenticator understands alike: with a label, and no parameter twice.
    let isPlain: Bool

    /// Parses an address; nil for one whose codes are of an unknown kind, or that is not one.
    package init?(_ secret: borrowing SecretBytes) {
        let found: OneTimePasswordParts? = secret.withBytes { OneTimePasswordParts($0) }
        guard let found else { return nil }
        self = found
    }

    /// Parses an address.
    package init?(_ bytes: borrowing Span<UInt8>) {
        guard let pieces = OneTimePasswordPieces(bytes), let values = pieces.values(in: bytes),
            let names = pieces.names(in: bytes), let parameters = Self.parameters(pieces.type, values)
        else { return nil }
        let seeds = pieces.all("secret").map { Self.seed($0.value, bytes) }
        // Of two seeds, either may be the right one.
        guard let first = seeds.first, let seed = first,
            seeds.allSatisfy({ $0.map { Self.isEqual($0, seed, in: bytes) } ?? false })
        else { return nil }
        self.seed = seed
        self.parameters = parameters
        display = pieces.all("codedisplay").first?.value
        issuer = values["issuer"] ?? names.issuer
        userName = names.user
        isPlain = pieces.label != nil && Set(pieces.parameters.map(\.name.exact)).count == pieces.parameters.count
    }

    /// How the codes are made, by the kind of address and the values of its parameters; nil for an unknown kind.
    static func parameters(_ type: String, _ values: [ExactText: String]) -> OneTimePasswordParameters? {
        guard let period = Int(values["period"] ?? "\(OneTimePasswordParameters.standardPeriod)"),
            let digits = Int(values["digits"] ?? "\(OneTimePasswordParameters.standardDigits)"),
            let algorithm = OneTimePasswordParameters.algorithm(named: values["algorithm"] ?? "SHA1")
        else { return nil }
        let isSteam = type == "steam" || values["encoder"]?.lowercased() == "steam"
        switch type {
        case "totp", "steam":
            // A counter, or another encoder, would give other codes; some programs write the zero of their form.
            guard values["counter"] ?? "0" == "0", isSteam || values["encoder"] == nil else { return nil }
            return OneTimePasswordParameters(
                isSteam ? .steam(period: period) : .time(period: period), algorithm: algorithm, digits: digits)
        case "hotp":
            guard let counter = UInt64(values["counter"] ?? "0"), values["encoder"] == nil else { return nil }
            return OneTimePasswordParameters(.counter(counter), algorithm: algorithm, digits: digits)
        default: return nil
        }
    }

    /// The position of a base32 seed, without padding that is percent-encoded; nil if it is not one.
    private static func seed(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Range<Int>? {
        var end = range.upperBound
        while end - range.lowerBound > 3, bytes[end - 3] == UInt8(ascii: "%"),
            bytes.byte(ofHexadecimalAt: end - 2) == 0x3d
        {
            end -= 3
        }
        let seed = range.lowerBound..<end
        guard !seed.isEmpty, seed.allSatisfy({ isBase32(bytes[$0]) }) else { return nil }
        return seed
    }

    private static func isEqual(_ one: Range<Int>, _ other: Range<Int>, in bytes: borrowing Span<UInt8>) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { bytes[$0] == bytes[$1] }
    }

    private static func isBase32(_ byte: UInt8) -> Bool {
        let letter = byte & 0xdf
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte) || byte == UInt8(ascii: "=")
    }
}
