package import KCByteStreams
package import KCCryptography

/// Why shares do not give a secret.
package enum SharingFailure: Error, Hashable, Sendable {
    /// They are not of one secret.
    case mixed
    /// A share is there twice.
    case twice
    /// Some are missing, or there are more than needed.
    case count
    /// They are of one set, and what they give is not what was split.
    case digest
    case cryptography(CryptographyFailure)
}

/// Splits a secret into shares of which some number gives it back (SLIP-0039).
///
/// ```swift
/// let shares = try SecretSharing.split(secret, threshold: 2, count: 3)
/// let same = try SecretSharing.combine([shares[0], shares[2]])
/// ```
package enum SecretSharing {
    /// The largest number of shares.
    package static let countLimit = 16

    // Where a polynomial has the secret, and where it has what proves it.
    private static let secretPosition: UInt8 = 255
    private static let digestPosition: UInt8 = 254
    private static let digestLength = 4
    private static let roundCount: UInt8 = 4
    // Of one round of the cipher, with an exponent of 0.
    private static let iterations = 2_500
    // The same as the reference implementation; a random secret needs no stretching.
    private static let exponent: UInt8 = 1

    /// Splits a secret of an even number of bytes, at least 16, in one group without a passphrase.
    ///
    /// - Parameters:
    ///   - threshold: how many shares give it back, at least 2.
    ///   - count: how many there are, at least `threshold`, at most `countLimit`.
    package static func split(
        _ secret: borrowing SecretBytes, threshold: Int, count: Int
    ) throws(CryptographyFailure) -> [SecretShare] {
        precondition(2...count ~= threshold && count <= countLimit && secret.count >= 16 && secret.count % 2 == 0)
        let random = try RandomBytes.bytes(count: 2)
        let family = SecretShare.Family(
            identifier: UInt16(random[0] & 0x7f) << 8 | UInt16(random[1]), isExtendable: true,
            iterationExponent: exponent, groupThreshold: 1, groupCount: 1)
        let sealed = try Cipher(family).encrypt(secret, passphrase: SecretBytes(capacity: 0))
        return try points(of: sealed, threshold: threshold, count: count).map { point in
            SecretShare(
                family, groupIndex: 0, memberIndex: Int(point.position), memberThreshold: threshold,
                value: point.value.copy())
        }
    }

    /// Returns the secret that was split, from exactly as many shares as are needed.
    ///
    /// - Parameter passphrase: that with which it was split; a wrong one gives another secret.
    package static func combine(
        _ shares: [SecretShare], passphrase: borrowing SecretBytes = SecretBytes(capacity: 0)
    ) throws(SharingFailure) -> SecretBytes {
        guard let family = shares.first?.family else { throw .count }
        guard shares.allSatisfy({ $0.family == family && $0.value.count == shares[0].value.count }) else {
            throw .mixed
        }
        let groups = Dictionary(grouping: shares, by: \.groupIndex).sorted { $0.key < $1.key }
        for (_, members) in groups {
            guard members.allSatisfy({ $0.memberThreshold == members[0].memberThreshold }) else { throw .mixed }
            guard Set(members.map(\.memberIndex)).count == members.count else { throw .twice }
            guard members.count == members[0].memberThreshold else { throw .count }
        }
        guard groups.count == family.groupThreshold else { throw .count }
        var sums: [Point] = []
        for (index, members) in groups {
            let points = members.map { Point(UInt8($0.memberIndex), $0.value.copy()) }
            sums.append(Point(UInt8(index), try secret(at: points)))
        }
        let sealed = try secret(at: sums)
        do throws(CryptographyFailure) {
            return try Cipher(family).decrypt(sealed, passphrase: passphrase)
        } catch {
            throw .cryptography(error)
        }
    }

    /// A point of the polynomials, one for each byte.
    private final class Point {
        let position: UInt8
        let value: SecretBytes

        init(_ position: UInt8, _ value: consuming SecretBytes) {
            self.position = position
            self.value = value
        }
    }

    /// The points 0, 1, … of random polynomials that have the secret and its digest at their positions.
    private static func points(
        of secret: borrowing SecretBytes, threshold: Int, count: Int
    ) throws(CryptographyFailure) -> [Point] {
        var points: [Point] = []
        for position in 0..<(threshold - 2) {
            points.append(Point(UInt8(position), try RandomBytes.secret(count: secret.count)))
        }
        let random = try RandomBytes.secret(count: secret.count - digestLength)
        var digest = try self.digest(of: secret, random)
        random.withBytes { digest.append($0) }
        let known = points + [Point(digestPosition, digest), Point(secretPosition, secret.copy())]
        for position in (threshold - 2)..<count {
            points.append(Point(UInt8(position), interpolated(known, at: UInt8(position))))
        }
        return points
    }

    /// The secret of the polynomials through all of `points`.
    private static func secret(at points: [Point]) throws(SharingFailure) -> SecretBytes {
        // A single point is the secret itself.
        if points.count == 1 { return points[0].value.copy() }
        let secret = interpolated(points, at: secretPosition)
        var random = interpolated(points, at: digestPosition)
        let claimed = random.withBytes { SecretBytes($0.extracting(..<digestLength)) }
        random.removeFirst(digestLength)
        let digest: SecretBytes
        do throws(CryptographyFailure) {
            digest = try self.digest(of: secret, random)
        } catch {
            throw .cryptography(error)
        }
        guard constantTimeEqual(claimed, digest) else { throw .digest }
        return secret
    }

    private static func digest(
        of secret: borrowing SecretBytes, _ random: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        var code = SecretBytes(capacity: 32)
        var hmac = try HMAC(.sha256, key: random)
        try hmac.update(secret)
        try hmac.finalize(into: &code)
        code.removeLast(code.count - digestLength)
        return code
    }

    /// The value at `position` of the polynomials of the lowest degree through `points` (Lagrange's formula).
    ///
    /// The positions are public, the values are not.
    private static func interpolated(_ points: [Point], at position: UInt8) -> SecretBytes {
        let count = points[0].value.count
        var sum = SecretBytes(copying: repeatElement(UInt8(0), count: count))
        for point in points {
            var weight: UInt8 = 1
            for other in points where other.position != point.position {
                let quotient = GaloisField.multiply(
                    position ^ other.position, GaloisField.inverse(point.position ^ other.position))
                weight = GaloisField.multiply(weight, quotient)
            }
            point.value.withBytes { value in
                sum.withMutableBytes { sum in
                    for index in 0..<count { sum[index] ^= GaloisField.multiply(value[index], weight) }
                }
            }
        }
        return sum
    }

    /// The cipher under the passphrase, four rounds of a Feistel network with PBKDF2.
    private struct Cipher {
        private let family: SecretShare.Family

        init(_ family: SecretShare.Family) { self.family = family }

        func encrypt(
            _ secret: borrowing SecretBytes, passphrase: borrowing SecretBytes
        ) throws(CryptographyFailure) -> SecretBytes {
            try run(secret, passphrase, rounds: Array(0..<roundCount))
        }

        func decrypt(
            _ sealed: borrowing SecretBytes, passphrase: borrowing SecretBytes
        ) throws(CryptographyFailure) -> SecretBytes {
            try run(sealed, passphrase, rounds: (0..<roundCount).reversed())
        }

        private func run(
            _ input: borrowing SecretBytes, _ passphrase: borrowing SecretBytes, rounds: [UInt8]
        ) throws(CryptographyFailure) -> SecretBytes {
            let half = input.count / 2
            var left = input.withBytes { SecretBytes($0.extracting(..<half)) }
            var right = input.withBytes { SecretBytes($0.extracting(half...)) }
            for round in rounds {
                var key = SecretBytes(capacity: passphrase.count + 1)
                key.append(round)
                passphrase.withBytes { key.append($0) }
                var salt = SecretBytes(capacity: 64)
                if !family.isExtendable {
                    salt.append(utf8: "shamir")
                    salt.append(UInt8(family.identifier >> 8))
                    salt.append(UInt8(truncatingIfNeeded: family.identifier))
                }
                right.withBytes { salt.append($0) }
                let mask = try salt.withBytes { salt throws(CryptographyFailure) in
                    try PBKDF2.derive(
                        password: key, salt: salt, rounds: iterations << Int(family.iterationExponent), hash: .sha256,
                        count: half)
                }
                mask.withBytes { mask in
                    left.withMutableBytes { left in for index in 0..<half { left[index] ^= mask[index] } }
                }
                swap(&left, &right)
            }
            var output = SecretBytes(capacity: input.count)
            right.withBytes { output.append($0) }
            left.withBytes { output.append($0) }
            return output
        }
    }
}
