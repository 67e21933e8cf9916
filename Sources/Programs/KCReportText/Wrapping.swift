/// Returns lines broken between words so that they fit a terminal; continuation lines are indented.
///
/// Text in single quotes, such as a command to type, is not broken. Lines whose words are too long stay too long.
///
/// - Parameter width: the width of the terminal in columns.
package func wrapped(_ text: String, to width: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { displayWidth(String($0)) > width ? wrappedLine(String($0), to: width) : String($0) }
        .joined(separator: "\n")
}

private func wrappedLine(_ line: String, to width: Int) -> String {
    let indent = String(line.prefix { $0 == " " })
    var lines = [indent]
    var used = indent.count
    var isFirst = true
    for word in unbrokenWords(of: String(line.dropFirst(indent.count))) {
        let size = displayWidth(word)
        if !isFirst, used + 1 + size > width {
            lines.append("\(indent)  \(word)")
            used = indent.count + 2 + size
        } else {
            lines[lines.count - 1] += (isFirst ? "" : " ") + word
            used += (isFirst ? 0 : 1) + size
        }
        isFirst = false
    }
    return lines.joined(separator: "\n")
}

/// Splits a line at single spaces outside single quotes; an apostrophe within a word begins no quotation.
private func unbrokenWords(of line: String) -> [String] {
    var words: [String] = []
    for word in line.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
        // Several spaces are the gap between a title and what it is about.
        if let last = words.last, isOpen(last) || word.isEmpty || last.hasSuffix(" ") {
            words[words.count - 1] = last + " " + word
        } else {
            words.append(word)
        }
    }
    guard let last = words.last, isOpen(last) else { return words }
    // An apostrophe that looked like a quotation must not hold the rest of the line together.
    let pieces = last.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let ends = pieces.indices.first { !isOpen(pieces[...$0].joined(separator: " "), hasShellWords: false) }
    let count = (ends ?? 0) + 1
    words[words.count - 1] = pieces.prefix(count).joined(separator: " ")
    return count == pieces.count ? words : words + unbrokenWords(of: pieces.dropFirst(count).joined(separator: " "))
}

/// True if a quotation begins at the start of the text and does not end with it.
///
/// - Parameter hasShellWords: false if a word of a command in double quotes may have begun that never ends.
private func isOpen(_ text: String, hasShellWords: Bool = true) -> Bool {
    let body = text.drop { "([".contains($0) }
    guard body.first == "'" else { return false }
    let end = body.dropFirst().lastIndex { !",;:.)]?!…".contains($0) }
    return end.map { body[$0] != "'" || hasShellWords && isInDoubleQuotes(body[..<$0]) } ?? true
}

/// True if the text ends within a word of a shell command that is in double quotes.
private func isInDoubleQuotes(_ command: Substring) -> Bool {
    var (isInside, isEscaped) = (false, false)
    for letter in command {
        if letter == "\"", !isEscaped { isInside.toggle() }
        isEscaped = letter == "\\" && !isEscaped
    }
    return isInside
}
