import Testing

@testable import KCSecretShares

/// The number of a word; nil if it is in no list.
func wordNumber(_ word: some StringProtocol) -> UInt16? {
    let bytes = Array(word.utf8)
    return ShareWords.number(of: bytes.span)
}

extension SecretShare {
    /// Decodes the words of a share.
    convenience init(text: String) throws {
        var words = WordNumbers()
        for word in text.split(separator: " ") { words.append(try #require(wordNumber(word))) }
        try self.init(words)
    }

    /// Its words.
    var text: String {
        let words = words
        return (0..<words.count).map { ShareWords.publicWord(words[$0]) }.joined(separator: " ")
    }
}
