/// The word that a misspelled one probably means, the first among equally similar ones; nil if none is similar.
package func similarWord(to text: String, among words: [String]) -> String? {
    // Longer than any word, even with its mistakes.
    guard text.utf8.count <= 40 else { return nil }
    let typed = Array(text.lowercased().utf8)
    let allowed = max(1, min(2, typed.count / 3))
    let distances = words.map { ($0, mistakes(in: typed, for: Array($0.utf8))) }
    return distances.filter { $0.1 <= allowed }.min { $0.1 < $1.1 }?.0
}

/// The number of letters omitted, added, replaced or swapped with the next one (optimal string alignment).
private func mistakes(in typed: [UInt8], for word: [UInt8]) -> Int {
    var rows = [Array(0...word.count)]
    for row in 0..<typed.count {
        var next = [row + 1]
        for column in 0..<word.count {
            let replaced = rows[row][column] + (typed[row] == word[column] ? 0 : 1)
            var least = min(replaced, rows[row][column + 1] + 1, next[column] + 1)
            if row > 0, column > 0, typed[row] == word[column - 1], typed[row - 1] == word[column] {
                least = min(least, rows[row - 1][column - 1] + 1)
            }
            next.append(least)
        }
        rows.append(next)
    }
    return rows[typed.count][word.count]
}
