package import KCByteStreams
package import KCSecretShares

/// A share of a recovery kit that is typed, any number of words at a time.
package struct ShareEntry: ~Copyable {
    /// The mistake in the typed words; the words before it are taken.
    package enum Problem: Hashable, Sendable {
        /// The word at this position, from 1, is none of the list.
        case unknown(position: Int)
        /// More words are said to be illegible than the others tell.
        case illegible
        /// There are more words than a share has.
        case surplus
    }

    /// Typed in place of a word that is illegible.
    private static let erasure = UInt8(ascii: "?")
    // With three, the checksum could be made right for any other words.
    private static let erasureLimit = 2

    private var words = WordNumbers()
    private var illegible: [Int] = []

    /// Begins with the first word.
    package init() {}

    /// The position of the word to type next, from 1; nil if all are there.
    package var nextWord: Int? { words.count < SecretShare.usualWordCount ? words.count + 1 : nil }

    /// True if a line has words of shares rather than characters of a key.
    package static func isMeant(by line: borrowing SecretBytes) -> Bool {
        var count = 0
        var isLong = false
        var others = 0
        forEachWord(in: line) { word in
            // A word that cannot be read may be either.
            if word.count == 1, word[0] == Self.erasure { return true }
            if ShareWords.number(of: word) == nil {
                others += 1
            } else {
                count += 1
                // The groups of a key are shorter.
                if word.count > KitText.groupLength { isLong = true }
            }
            return true
        }
        return isLong || count > 0 && others == 0
    }

    /// Takes the next words: in full or their first four letters, with or without their numbers.
    package mutating func take(_ line: borrowing SecretBytes) -> Problem? {
        var problem: Problem?
        Self.forEachWord(in: line) { word in
            if words.count == SecretShare.usualWordCount {
                problem = .surplus
            } else if word.count == 1, word[0] == Self.erasure {
                if illegible.count == Self.erasureLimit { problem = .illegible }
                illegible.append(words.count)
                words.append(0)
            } else if let number = ShareWords.number(of: word) {
                words.append(number)
            } else {
                problem = .unknown(position: words.count + 1)
            }
            return problem == nil
        }
        return problem
    }

    /// The result of reading all words.
    package enum Reading {
        case share(SecretShare)
        /// They are this share if the words at these positions, from 1, are others.
        case repaired(SecretShare, positions: [Int])
        case nothing
    }

    /// Reads all words, and looks for what they may have to be if they are wrong.
    package consuming func finish() -> Reading {
        precondition(nextWord == nil, "words are missing")
        if illegible.isEmpty {
            do throws(ShareProblem) {
                return .share(try SecretShare(words))
            } catch {
                if error != .checksum { return .nothing }
            }
        }
        guard let repaired = ShareRepair.repaired(words, illegible: illegible) else { return .nothing }
        let positions = (0..<words.count).filter { repaired[$0] != words[$0] || illegible.contains($0) }
        do throws(ShareProblem) {
            return .repaired(try SecretShare(repaired), positions: positions.map { $0 + 1 })
        } catch {
            return .nothing
        }
    }

    /// Calls `body` with each word in small letters, until it returns false; numbers are left out.
    private static func forEachWord(in line: borrowing SecretBytes, _ body: (borrowing Span<UInt8>) -> Bool) {
        var word = SecretBytes(capacity: 64)
        var isGoingOn = true
        func end() {
            let isNumber = word.withBytes { word in
                word.indices.allSatisfy {
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= word[$0] || ".):".utf8.contains(word[$0])
                }
            }
            if !isNumber, isGoingOn { isGoingOn = word.withBytes { body($0) } }
            word.removeAll()
        }
        line.withBytes { line in
            for index in line.indices {
                switch line[index] {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: ","): end()
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(line[index] | 0x20)
                default: word.append(line[index])
                }
            }
        }
        end()
    }
}
