internal import KCByteStreams
package import KCCryptography

/// How the codes of a one-time password are made from its seed.
package struct OneTimePasswordParameters: Hashable, Sendable {
    /// The value that a code depends on, besides the seed.
    package enum Kind: Hashable, Sendable {
        /// The time (RFC 6238): there is a new code every `period` seconds.
        case time(period: Int)
        /// The number of codes made before (RFC 4226).
        case counter(UInt64)
        /// The time, written as five letters and digits, as Steam does.
        case steam(period: Int)
    }

    /// The period in seconds and the number of digits that authenticators assume where none is given.
    package static let standardPeriod = 30
    package static let standardDigits = 6
    private static let steamDigits = 5
    // The bounds keep arithmetic safe; no service has a longer period, and 31 bits have ten digits.
    private static let periods = 1...86_400
    private static let digitCounts = 1...10

    package let kind: Kind
    package let algorithm: HashFunction
    package let digits: Int

    /// Creates parameters; nil for a period beyond a day, or more than ten digits.
    ///
    /// - Parameters:
    ///   - algorithm: the hash of the HMAC; Steam's is always SHA-1.
    ///   - digits: the number of digits; Steam's codes always have five characters.
    package init?(_ kind: Kind, algorithm: HashFunction = .sha1, digits: Int = standardDigits) {
        var (algorithm, digits) = (algorithm, digits)
        switch kind {
        case .time(let period): guard Self.periods.contains(period) else { return nil }
        case .counter: break
        case .steam(let period):
            guard Self.periods.contains(period) else { return nil }
            (algorithm, digits) = (.sha1, Self.steamDigits)
        }
        guard Self.digitCounts.contains(digits) else { return nil }
        self.kind = kind
        self.algorithm = algorithm
        self.digits = digits
    }

    /// The hash function that an authenticator calls `name`, such as `SHA1`, `sha-256` or `HmacSHA512`; nil for others.
    package static func algorithm(named name: String) -> HashFunction? {
        var name = name.uppercased().exact.replacing("-", with: "")
        if let hash = name.exact.removingPrefix("HMAC") { name = hash }
        return HashFunction(rawValue: name)
    }

    /// The parameters as they follow the seed in an address; empty for the usual ones.
    var query: String {
        var query = ""
        if algorithm != .sha1 { query += "&algorithm=\(algorithm.rawValue)" }
        if digits != Self.standardDigits { query += "&digits=\(digits)" }
        switch kind {
        case .time(let period), .steam(let period): if period != Self.standardPeriod { query += "&period=\(period)" }
        case .counter(let counter): query += "&counter=\(counter)"
        }
        if case .steam = kind { query += "&encoder=steam" }
        return query
    }
}
