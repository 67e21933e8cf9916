package import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// The parts of an address such as `otpauth://totp/Example:ada?secret=…`; the seed is not copied.
package struct OneTimePasswordParts: Hashable, Sendable {
    /// The position of the base32 seed.
    package let seed: Range<Int>
    package let parameters: OneTimePasswordParameters
    package let issuer: String?
    package let userName: String?
    /// The position of what Ente Auth knows beyond that: JSON, percent-encoded, which may contain a note.
    package let display: Range<Int>?

    private static let scheme = Array("otpauth://".utf8)

    /// Parses an address; nil for one whose codes are of an unknown kind, or that is not one.
    package init?(_ secret: borrowing SecretBytes) {
        let found: OneTimePasswordParts? = secret.withBytes { OneTimePasswordParts($0) }
        guard let found else { return nil }
        self = found
    }

    /// Parses an address.
    package init?(_ bytes: borrowing Span<UInt8>) {
        // The scheme may be in upper case too, as in codes of a denser kind.
        guard bytes.count > Self.scheme.count,
            Self.scheme.indices.allSatisfy({ Self.lowercased(bytes[$0]) == Self.scheme[$0] })
        else { return nil }
        var position = Self.scheme.count
        guard let type = Self.text(Self.take(until: UInt8(ascii: "/"), &position, bytes), bytes)?.lowercased(),
            let label = Self.text(Self.take(until: UInt8(ascii: "?"), &position, bytes), bytes)
        else { return nil }
        var (seed, display): (Range<Int>?, Range<Int>?)
        var values: [ExactText: String] = [:]
        while position < bytes.count {
            let pair = Self.take(until: UInt8(ascii: "&"), &position, bytes)
            var start = pair.lowerBound
            let name = Self.take(until: UInt8(ascii: "="), &start, bytes.extracting(..<pair.upperBound))
            guard let key = Self.text(name, bytes)?.lowercased(), values.updateValue("", forKey: key.exact) == nil
            else {
                return nil
            }
            switch key {
            case "secret":
                guard let found = Self.seed(start..<pair.upperBound, bytes) else { return nil }
                seed = found
            case "codedisplay": display = start..<pair.upperBound
            default:
                guard let value = Self.text(start..<pair.upperBound, bytes, isQuery: true) else { return nil }
                values[key.exact] = value
            }
        }
        guard let seed, let parameters = Self.parameters(type, values) else { return nil }
        let parts = label.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.last ?? "").drop { $0 == " " }
        self.seed = seed
        self.display = display
        self.parameters = parameters
        issuer = values["issuer"] ?? (parts.count == 2 ? String(parts[0]) : nil)
        userName = name.isEmpty ? nil : String(name)
    }

    private static func parameters(_ type: String, _ values: [ExactText: String]) -> OneTimePasswordParameters? {
        guard let period = Int(values["period"] ?? "\(OneTimePasswordParameters.standardPeriod)"),
            let digits = Int(values["digits"] ?? "\(OneTimePasswordParameters.standardDigits)"),
            let algorithm = OneTimePasswordParameters.algorithm(named: values["algorithm"] ?? "SHA1")
        else { return nil }
        let isSteam = type == "steam" || values["encoder"]?.lowercased() == "steam"
        switch type {
        case "totp", "steam":
            // A counter, or another encoder, would give other codes.
            guard values["counter"] == nil, isSteam || values["encoder"] == nil else { return nil }
            return OneTimePasswordParameters(
                isSteam ? .steam(period: period) : .time(period: period), algorithm: algorithm, digits: digits)
        case "hotp":
            guard let counter = UInt64(values["counter"] ?? "0"), values["encoder"] == nil else { return nil }
            return OneTimePasswordParameters(.counter(counter), algorithm: algorithm, digits: digits)
        default: return nil
        }
    }

    /// The range up to `end`, which is skipped.
    private static func take(
        until end: UInt8, _ position: inout Int, _ bytes: borrowing Span<UInt8>
    ) -> Range<Int> {
        let start = position
        while position < bytes.count, bytes[position] != end { position += 1 }
        defer { position = min(bytes.count, position + 1) }
        return start..<position
    }

    /// - Parameter isQuery: true for a value behind `?`, in which some programs write a space as `+`.
    private static func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>, isQuery: Bool = false) -> String? {
        String(validating: range.map { isQuery && bytes[$0] == UInt8(ascii: "+") ? 0x20 : bytes[$0] }, as: UTF8.self)
            .flatMap { WebAddress.percentDecoded($0) }
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

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }

    private static func isBase32(_ byte: UInt8) -> Bool {
        let letter = byte & 0xdf
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte) || byte == UInt8(ascii: "=")
    }
}
