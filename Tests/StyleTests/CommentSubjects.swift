/// Finds the sentences of comments that begin with a pronoun instead of their subject.
enum CommentSubjects {
    private static let pronouns: Set<Substring> = ["It", "That", "Those", "What", "One"]
    private static let ends: Set<Character> = [".", "!", "?"]

    /// The lines with such a sentence, as `path:line`.
    static func violations(in file: SourceFile) -> [String] {
        var found: [String] = []
        // False within a sentence that continues on the next line.
        var isBeginning = true
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let text = comment(in: line), !text.isEmpty else {
                isBeginning = true
                continue
            }
            var sentences = text.split(separator: " ", omittingEmptySubsequences: false)
            if sentences[0] == "-" {
                sentences.removeFirst()
                // The label of a parameter, or of what is returned or thrown.
                if let label = sentences.prefix(2).firstIndex(where: { $0.hasSuffix(":") }) {
                    sentences.removeFirst(label + 1 - sentences.startIndex)
                }
                isBeginning = true
            }
            for word in sentences {
                if isBeginning, isPronoun(word) { found.append("\(file.path):\(index + 1)") }
                isBeginning = word.last.map(ends.contains) ?? isBeginning
            }
        }
        return found
    }

    /// The text of a line that is a comment; nil for any other.
    private static func comment(in line: Substring) -> Substring? {
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("//") else { return nil }
        return text.drop { $0 == "/" }.drop { $0 == " " }
    }

    private static func isPronoun(_ word: Substring) -> Bool {
        pronouns.contains(word.prefix { $0.isLetter })
    }
}
