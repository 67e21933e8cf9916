/// Finds the share that wrong words nearly are: some that are illegible, or a single wrong one, or two neighbors swapped.
///
/// Two different shares differ in at least four words, so whatever is wrong in one of these ways is found, and nothing
/// else is found in its place. A wrong proposal takes more than one mistake, and the sheet then has to refute it.
package enum ShareRepair {
    /// Returns the words of the share; nil if there is none, or more than one.
    ///
    /// - Parameter illegible: the indices of at most two words whose numbers in `typed` mean nothing.
    package static func repaired(_ typed: borrowing WordNumbers, illegible: [Int]) -> WordNumbers? {
        var found: [[(index: Int, word: UInt16)]] = []
        switch illegible.count {
        case 0:
            for index in 0..<typed.count { found += words(for: [index], in: typed) }
            found += swaps(in: typed)
        case 1, 2: found = words(for: illegible, in: typed)
        default: break
        }
        guard found.count == 1 else { return nil }
        var repaired = typed.copy()
        for change in found[0] { repaired[change.index] = change.word }
        return repaired
    }

    /// The words that, at one or two places, make the checksum right.
    private static func words(
        for indices: [Int], in typed: borrowing WordNumbers
    ) -> [[(index: Int, word: UInt16)]] {
        let wrong = remainder(typed)
        // The remainder is linear, so each bit of a word always changes it in the same way.
        let changes = indices.map { index in
            (0..<10).map { bit in
                var other = typed.copy()
                other[index] ^= 1 << UInt16(bit)
                return remainder(other) ^ wrong
            }
        }
        let sums = changes.map { changes in
            (0..<1_024).map { word in (0..<10).reduce(UInt32(0)) { $0 ^ (word >> $1 & 1 == 1 ? changes[$1] : 0) } }
        }
        var found: [[(index: Int, word: UInt16)]] = []
        for (first, sum) in sums[0].enumerated() {
            let rest = sum ^ wrong ^ 1
            if indices.count == 1 {
                if rest == 0 { found.append([(indices[0], typed[indices[0]] ^ UInt16(first))]) }
                continue
            }
            for (second, other) in sums[1].enumerated() where other == rest {
                found.append([
                    (indices[0], typed[indices[0]] ^ UInt16(first)), (indices[1], typed[indices[1]] ^ UInt16(second)),
                ])
            }
        }
        return found
    }

    /// The swaps of two neighbors that make the checksum right.
    private static func swaps(in typed: borrowing WordNumbers) -> [[(index: Int, word: UInt16)]] {
        var found: [[(index: Int, word: UInt16)]] = []
        for index in 0..<(typed.count - 1) where typed[index] != typed[index + 1] {
            var other = typed.copy()
            other[index] = typed[index + 1]
            other[index + 1] = typed[index]
            if remainder(other) == 1 { found.append([(index, other[index]), (index + 1, other[index + 1])]) }
        }
        return found
    }

    /// The state of the checksum after all words, which is 1 if it is right.
    private static func remainder(_ words: borrowing WordNumbers) -> UInt32 {
        var checksum = ShareChecksum(isExtendable: words[1] >> 4 & 1 == 1)
        for index in 0..<words.count { checksum.add(words[index]) }
        return checksum.state
    }
}
