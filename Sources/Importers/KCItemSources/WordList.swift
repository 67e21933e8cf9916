internal import KCByteStreams
internal import KCKeychainModel

/// A word of each of many values, which tells in eight bytes a value whether some of them may be equal.
struct WordList {
    private var words: [UInt64] = []

    /// Adds the word of a value.
    mutating func append(_ word: UInt64) { words.append(word) }

    /// The words that there are several times; the list is empty then.
    mutating func repeated() -> Set<UInt64> {
        words.sort()
        let repeated = Set(zip(words, words.dropFirst()).lazy.filter { $0 == $1 }.map { $0.0 })
        words = []
        return repeated
    }
}

extension ItemUUID {
    /// A word that different UUIDs have by chance alone, also those that differ only in their ordinals.
    var word: UInt64 { high ^ (low << 32 | low >> 32) }
}

extension HashedBytes {
    /// A word that different bytes have by chance alone; another one in each run.
    var word: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
