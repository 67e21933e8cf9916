internal import Glibc
package import KCByteStreams
package import KCCryptography

/// How hard a passcode is to guess, as zxcvbn estimates it (Wheeler, USENIX Security 2016), and what makes it easy.
///
/// The estimate assumes an attacker who knows how people choose passcodes and has the keychain and its device key. The
/// estimate is a lower bound for bad passcodes and proves nothing for good ones.
package struct PasscodeStrength: Hashable, Sendable {
    /// 0 to 4: below 10^3, 10^6, 10^8 and 10^10 guesses, and above; the steps are those of zxcvbn's authors.
    package let score: Int
    /// The binary logarithm of the number of guesses, 0 or more.
    package let bits: Double
    /// The most important reason for the score, as a clause without a full stop; it never quotes the passcode.
    package let reason: String

    /// The number of bytes that are judged; in the first 100, zxcvbn looks for words and patterns.
    ///
    /// The time grows faster than the square of the length, and more bytes can only make a strong passcode stronger.
    package static let judgedLength = 256
    /// Guesses per second assumed by `crackTime`: 10 on each of 1,000 cores.
    ///
    /// Scrypt with 2^17 takes 0.4 s on a current core, so this attacker has about 4,000 cores.
    package static let guessesPerSecond = 10_000.0

    /// Judges a passcode; copies remain only in the library's stack and heap, which are not wiped.
    ///
    /// - Parameters:
    ///   - passcode: any bytes. All of the first `judgedLength` count, even after a zero byte or in invalid UTF-8.
    ///   - words: what an attacker would try first, such as the names of keychain and user. Words of fewer than 3 or more
    ///     than 64 bytes and all after the 16th are ignored.
    package init(judging passcode: borrowing SecretBytes, knowing words: [String]) throws(CryptographyFailure) {
        let estimate = try Estimate(passcode, words)
        bits = estimate.bits
        score = Self.steps.count { estimate.bits >= log2($0) }
        reason = Reason(of: estimate, score: score).rawValue
    }

    /// The average time to guess the passcode, in words, at `guessesPerSecond`: half of the guesses.
    package var crackTime: String {
        // Beyond this, a number would say no more than the word.
        let seconds = exp2(min(bits, 100) - 1) / Self.guessesPerSecond
        for (limit, unit, length) in Self.units where seconds < limit {
            let count = Int(max(1, (seconds / length).rounded()))
            return "\(count) \(unit)\(count == 1 ? "" : "s")"
        }
        return "centuries"
    }

    private static let steps = [1e3, 1e6, 1e8, 1e10]
    private static let year = 365.25 * 86_400
    private static let units: [(limit: Double, unit: String, length: Double)] = [
        (60, "second", 1), (3600, "minute", 60), (86_400, "hour", 3600), (year / 12, "day", 86_400),
        (year, "month", year / 12), (year * 100, "year", year),
    ]
}
