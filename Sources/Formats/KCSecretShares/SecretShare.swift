internal import KCByteStreams

/// Why words are no share.
package enum ShareProblem: Error, Hashable, Sendable {
    /// No share has this number of words.
    case length(Int)
    /// At least one word is wrong.
    case checksum
    /// The checksum is right, and what the words say contradicts itself.
    case malformed
}

/// A part of a secret, which tells nothing about it alone (SLIP-0039).
package final class SecretShare: Sendable {
    /// The values that all shares of a secret have in common.
    package struct Family: Hashable, Sendable {
        /// 15 random bits.
        let identifier: UInt16
        /// True if the identifier has no part in how the secret is stretched.
        let isExtendable: Bool
        /// Stretching takes 10,000 × 2^this rounds.
        let iterationExponent: UInt8
        let groupThreshold: Int
        let groupCount: Int
    }

    package let family: Family
    /// From 0 on; kits have one group.
    package let groupIndex: Int
    /// From 0 on.
    package let memberIndex: Int
    /// How many shares of the group are needed.
    package let memberThreshold: Int
    let value: SecretBytes

    /// The number of words of a share of a secret of 32 bytes.
    package static let usualWordCount = 33

    // 160,000 rounds, a tenth of a second; the largest that a share can name would take minutes.
    private static let exponentLimit: UInt8 = 4
    // Two words of the family, two of the share.
    private static let headLength = 4
    private static let shortest = 20
    // The largest secret that the specification names has 32 bytes; ours are no larger.
    private static let longest = 59

    init(
        _ family: Family, groupIndex: Int, memberIndex: Int, memberThreshold: Int, value: consuming SecretBytes
    ) {
        self.family = family
        self.groupIndex = groupIndex
        self.memberIndex = memberIndex
        self.memberThreshold = memberThreshold
        self.value = value
    }

    /// Decodes the words of a share.
    package init(_ words: borrowing WordNumbers) throws(ShareProblem) {
        let count = words.count
        let padding = 10 * (count - Self.headLength - ShareChecksum.length) % 16
        guard Self.shortest...Self.longest ~= count, padding <= 8 else { throw .length(count) }
        let isExtendable = words[1] >> 4 & 1 == 1
        var checksum = ShareChecksum(isExtendable: isExtendable)
        for index in 0..<count { checksum.add(words[index]) }
        guard checksum.isValid else { throw .checksum }
        let head = UInt32(words[2]) << 10 | UInt32(words[3])
        func field(_ index: Int) -> Int { Int(head >> UInt32(16 - 4 * index) & 15) }
        family = Family(
            identifier: words[0] << 5 | words[1] >> 5, isExtendable: isExtendable,
            iterationExponent: UInt8(words[1] & 15), groupThreshold: field(1) + 1, groupCount: field(2) + 1)
        groupIndex = field(0)
        memberIndex = field(3)
        memberThreshold = field(4) + 1
        var value = SecretBytes(capacity: 32)
        var pending: UInt32 = 0
        // The padding comes first; it is shorter than a word.
        var bits = -padding
        for index in Self.headLength..<(count - ShareChecksum.length) {
            pending = (pending << 10 | UInt32(words[index])) & 0xf_ffff
            bits += 10
            // A padding that is not zero would give several spellings of one share.
            if index == Self.headLength, pending >> UInt32(bits) != 0 { throw .malformed }
            while bits >= 8 {
                bits -= 8
                value.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        self.value = value
        guard family.groupThreshold <= family.groupCount, groupIndex < family.groupCount else { throw .malformed }
    }

    /// The numbers of its words.
    package var words: WordNumbers {
        var words = WordNumbers()
        words.append(family.identifier >> 5)
        words.append(family.identifier << 5 & 1_023 | (family.isExtendable ? 16 : 0) | UInt16(family.iterationExponent))
        var head = UInt32(groupIndex)
        for field in [family.groupThreshold - 1, family.groupCount - 1, memberIndex, memberThreshold - 1] {
            head = head << 4 | UInt32(field)
        }
        words.append(UInt16(head >> 10))
        words.append(UInt16(head & 1_023))
        value.withBytes { bytes in
            var pending: UInt32 = 0
            var bits = (10 - bytes.count * 8 % 10) % 10
            for index in bytes.indices {
                pending = (pending << 8 | UInt32(bytes[index])) & 0xf_ffff
                bits += 8
                if bits >= 10 {
                    bits -= 10
                    words.append(UInt16(pending >> UInt32(bits) & 1_023))
                }
            }
        }
        var checksum = ShareChecksum(isExtendable: family.isExtendable)
        for index in 0..<words.count { checksum.add(words[index]) }
        for word in checksum.finalize() { words.append(word) }
        return words
    }

    /// True if the secret is split in one group, and not stretched much more than ours.
    package var isOrdinary: Bool {
        family.groupThreshold == 1 && family.groupCount == 1 && family.iterationExponent <= Self.exponentLimit
    }

    /// True if both are of one set.
    package func belongs(with other: SecretShare) -> Bool {
        family == other.family && memberThreshold == other.memberThreshold && value.count == other.value.count
    }

    /// The first three words, by which people tell sets of shares apart; they are not secret.
    package var setName: String {
        let words = words
        return (0..<3).map { ShareWords.publicWord(words[$0]) }.joined(separator: " ")
    }
}
