package import ByteStreams
internal import Glibc

/// How hard a passcode is to guess, as zxcvbn estimates it (Wheeler, USENIX Security 2016), and what makes it easy.
///
/// The estimate is of somebody who knows how people choose passcodes, and holds the keychain and its device key. It is
/// a floor for bad passcodes and no proof for good ones.
package struct PasscodeStrength: Hashable, Sendable {
    /// 0 to 4: below 10^3, 10^6, 10^8 and 10^10 guesses, and beyond, the steps that zxcvbn's authors set.
    package let score: Int
    /// The base-two logarithm of the guesses that it takes, 0 or more.
    package let bits: Double
    /// What matters most for the score, as a clause without a full stop; it never quotes the passcode.
    package let reason: String

    /// Bytes of the passcode that are judged; of these, zxcvbn looks for words and patterns in the first 100.
    ///
    /// The time grows faster than the square of the length, and what is strong so far only gets stronger.
    package static let judgedLength = 256
    /// Guesses in a second that `crackTime` assumes: 10 on each of 1,000 cores.
    ///
    /// Scrypt with 2^17 takes a core of today 0.4 s, so this is an attacker with some 4,000 of them.
    package static let guessesPerSecond = 10_000.0

    /// Judges a passcode; nothing of it stays behind but in the stack and heap of the library, which are not wiped.
    ///
    /// - Parameters:
    ///   - passcode: any bytes. All of the first `judgedLength` count, also behind a zero byte and in invalid UTF-8.
    ///   - words: what an attacker would try first, such as the names of keychain and user. Words of fewer than 3
    ///     or more than 64 bytes and all after the 16th are left out.
    package init(judging passcode: borrowing SecretBytes, knowing words: [String]) {
        let estimate = Estimate(passcode, words)
        bits = estimate.bits
        score = Self.steps.count { estimate.bits >= log2($0) }
        reason = Reason(of: estimate, score: score).rawValue
    }

    /// How long guessing takes, in words, at `guessesPerSecond` and if luck neither helps nor hinders: after half of
    /// the guesses.
    package var crackTime: String {
        // Beyond this, the number says no more than the word.
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
