internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The parts of an address such as `otpauth://totp/Example:ada?secret=…`; the seed is not copied.
struct OneTimePasswordParts: Hashable {
    /// The position of the base32 seed.
    let seed: Range<Int>
    let period: Int
    let digits: Int
    /// `sha1`, `sha256` or `sha512`.
    let algorithm: String
    let issuer: String?
    let userName: String?

    private static let prefix = Array("otpauth://totp/".utf8)

    /// Parses `secret`; nil if it contains anything that a CXF record cannot hold.
    init?(_ secret: borrowing SecretBytes) {
        let found: OneTimePasswordParts? = secret.withBytes { OneTimePasswordParts($0) }
        guard let found else { return nil }
        self = found
    }

    private init?(_ bytes: borrowing Span<UInt8>) {
        guard bytes.count > Self.prefix.count,
            Self.prefix.indices.allSatisfy({ bytes[$0] == Self.prefix[$0] })
        else { return nil }
        var position = Self.prefix.count
        let label = Self.take(until: UInt8(ascii: "?"), &position, bytes)
        var (seed, values): (Range<Int>?, [ExactText: String]) = (nil, [:])
        while position < bytes.count {
            let pair = Self.take(until: UInt8(ascii: "&"), &position, bytes)
            var start = pair.lowerBound
            let name = Self.take(until: UInt8(ascii: "="), &start, bytes.extracting(..<pair.upperBound))
            guard let key = Self.text(name, bytes)?.lowercased(), values[key.exact] == nil else { return nil }
            if key == "secret" {
                guard seed == nil, start < pair.upperBound else { return nil }
                // Base32 needs no percent-encoding, except for the padding.
                guard (start..<pair.upperBound).allSatisfy({ Self.isBase32(bytes[$0]) }) else { return nil }
                seed = start..<pair.upperBound
            } else {
                guard let value = Self.text(start..<pair.upperBound, bytes) else { return nil }
                values[key.exact] = value
            }
        }
        guard let seed, let label = Self.text(label, bytes), values["counter"] == nil else { return nil }
        guard let period = Int(values["period"] ?? "30"), let digits = Int(values["digits"] ?? "6"),
            (1...86_400).contains(period), (1...10).contains(digits)
        else { return nil }
        let algorithm = (values["algorithm"] ?? "SHA1").lowercased()
        guard ["sha1", "sha256", "sha512"].contains(algorithm) else { return nil }
        let parts = label.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.last ?? "").drop { $0 == " " }
        self.seed = seed
        self.period = period
        self.digits = digits
        self.algorithm = algorithm
        issuer = values["issuer"] ?? (parts.count == 2 ? String(parts[0]) : nil)
        userName = name.isEmpty ? nil : String(name)
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

    private static func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> String? {
        String(validating: range.map { bytes[$0] }, as: UTF8.self).flatMap { WebAddress.percentDecoded($0) }
    }

    private static func isBase32(_ byte: UInt8) -> Bool {
        let letter = byte & 0xdf
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte) || byte == UInt8(ascii: "=")
    }
}
