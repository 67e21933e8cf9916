package import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// The code of a one-time password at a point in time.
package final class OneTimePasswordCode: Sendable {
    /// Digits; for Steam, letters and digits.
    package let text: SecretBytes
    /// The number of seconds for which it is valid, from 1 to its period.
    package let secondsLeft: Int

    /// Why there is no code.
    package enum Problem: String, Error, Hashable, Sendable {
        /// The secret is not an `otpauth:` address of a known kind.
        case notAnAddress = "not-an-address"
        /// The code depends on a counter, which would have to be increased in every place that makes codes.
        case counter
        /// Its hash is not one of RFC 6238.
        case algorithm
        /// Its seed is not base32.
        case seed
    }

    /// Steam's digits: those that are not mistaken for each other.
    private static let steamAlphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)

    /// Makes the code of an `otpauth:` address.
    ///
    /// - Throws: `Problem`, `CryptographyFailure`.
    package init(of secret: borrowing SecretBytes, at time: Timestamp) throws {
        guard secret.withBytes({ OneTimePasswordPieces($0) != nil }) else { throw Problem.notAnAddress }
        let address = OneTimePasswordAddress.make(of: secret, issuer: "", user: nil)
        guard let parts = OneTimePasswordParts(address) else { throw Problem.notAnAddress }
        let parameters = parts.parameters
        guard [.sha1, .sha256, .sha512].contains(parameters.algorithm) else { throw Problem.algorithm }
        let period: Int
        switch parameters.kind {
        case .counter: throw Problem.counter
        case .time(let seconds), .steam(let seconds): period = seconds
        }
        let seed = address.withBytes { Base32.decode($0.extracting(parts.seed)) }
        guard let seed, !seed.isEmpty else { throw Problem.seed }
        let seconds = time.microseconds.floored(by: 1_000_000)
        let steps = seconds.floored(by: Int64(period))
        secondsLeft = period - Int(seconds - steps * Int64(period))
        text = try Self.code(seed, UInt64(bitPattern: steps), parameters)
    }

    /// The code of a seed at a value of its moving factor (RFC 4226, section 5.3).
    static func code(
        _ seed: borrowing SecretBytes, _ factor: UInt64, _ parameters: OneTimePasswordParameters
    ) throws(CryptographyFailure) -> SecretBytes {
        let message = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: factor >> $0) }
        var hmac = try HMAC(parameters.algorithm, key: seed)
        try hmac.update(message.span)
        var mac = SecretBytes(capacity: parameters.algorithm.length)
        try hmac.finalize(into: &mac)
        var number = mac.withBytes { mac in
            let offset = Int(mac[mac.count - 1] & 15)
            return (0..<4).reduce(UInt64(0)) { $0 << 8 | UInt64(mac[offset + $1]) } & 0x7fff_ffff
        }
        var code = SecretBytes(copying: repeatElement(0, count: parameters.digits))
        code.withMutableBytes { code in
            // Steam writes the lowest digit first.
            if case .steam = parameters.kind {
                for index in 0..<code.count {
                    code[index] = steamAlphabet[Int(number % UInt64(steamAlphabet.count))]
                    number /= UInt64(steamAlphabet.count)
                }
            } else {
                for index in stride(from: code.count - 1, through: 0, by: -1) {
                    code[index] = UInt8(ascii: "0") + UInt8(number % 10)
                    number /= 10
                }
            }
        }
        return code
    }
}

extension Int64 {
    /// The quotient, rounded down.
    fileprivate func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
