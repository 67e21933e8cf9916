package import KCAgeEncryption
internal import KCByteStreams
package import KCCryptography
package import KCSecretShares

/// How many shares a kit has, and how many of them open backups.
package struct ShareScheme: Hashable, Sendable, CustomStringConvertible {
    /// How many are needed, at least 2.
    package let needed: Int
    /// How many there are, at most `SecretSharing.countLimit`.
    package let count: Int

    /// Parses what `description` returns, such as `2of3`; nil for anything else, and for numbers that no kit can have.
    package init?(_ text: String) {
        let parts = text.exact.split(separator: "o", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let digits = parts[1].exact.removingPrefix("f"), let needed = Int(parts[0]),
            let count = Int(digits), 2...SecretSharing.countLimit ~= count, 2...count ~= needed
        else { return nil }
        self.needed = needed
        self.count = count
        // Only one spelling is accepted.
        if description.exact != text.exact { return nil }
    }

    package var description: String { "\(needed)of\(count)" }
}

extension NativeIdentity {
    /// Splits the key of the identity into shares.
    package func shares(_ scheme: ShareScheme) throws(CryptographyFailure) -> [SecretShare] {
        try SecretSharing.split(key(), threshold: scheme.needed, count: scheme.count)
    }
}

/// Shares of one kit that are collected until there are enough.
package struct KitShares {
    /// Why a share is not taken.
    package enum Problem: Hashable, Sendable {
        /// The share is of another set than those that begin with these words.
        case otherSet(String)
        /// The share with this number, from 1, is there already.
        case twice(Int)
        /// The share is of several groups, or stretched more than that of any kit.
        case foreign
    }

    /// The shares collected so far.
    package private(set) var shares: [SecretShare] = []

    /// Begins without a share.
    package init() {}

    /// The number of shares that are missing; nil if the first one is.
    package var missing: Int? { shares.first.map { $0.memberThreshold - shares.count } }

    /// Adds a share.
    package mutating func add(_ share: SecretShare) -> Problem? {
        guard share.isOrdinary else { return .foreign }
        if let first = shares.first {
            guard first.belongs(with: share) else { return .otherSet(first.setName) }
            guard !shares.contains(where: { $0.memberIndex == share.memberIndex }) else {
                return .twice(share.memberIndex + 1)
            }
        }
        shares.append(share)
        return nil
    }

    /// The identity that was split, in each kind that it may have; none if the shares do not belong together, or are not
    /// of a kit.
    ///
    /// Shares tell 32 bytes, which can be the key of an identity of either kind.
    ///
    /// - Parameter known: the public keys of kits, which decide.
    package func identities(known: [NativeRecipient]) throws(AgeFailure) -> [NativeIdentity] {
        let key: SecretBytes
        do throws(SharingFailure) {
            key = try SecretSharing.combine(shares)
        } catch .cryptography(let failure) {
            throw .cryptography(failure)
        } catch {
            return []
        }
        var identities: [NativeIdentity] = []
        for kind in NativeIdentity.Kind.allCases {
            guard let identity = try NativeIdentity.of(key.copy(), kind) else { continue }
            if known.contains(identity.recipient) { return [identity] }
            identities.append(identity)
        }
        return identities
    }
}
