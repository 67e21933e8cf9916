import Foundation
import TestSupport

@testable import kcbackup

/// A story: command lines in order, with what each must say and how it must end.
///
/// ```
/// -- NAME [MODE] --     a file of the working folder, up to the next line that begins with "--" or "$"
/// # …                   a comment
/// $ kcbackup …          a run, words quoted as in a shell; "$tty kcbackup …" has a terminal of 80 columns
/// < …                   a line that somebody types (which also makes standard input a terminal)
/// @ …                   a prompt, in order; when there is none, prompts are not compared
/// > …                   a line of standard output
/// ! …                   a line of standard error
/// = N                   the exit status, 0 when there is none
/// ```
///
/// Output must be exactly the lines given; `…` stands for any text within a line, and a line `...` for any lines.
struct Story {
    /// One command line.
    struct Step {
        let line: Int
        let words: [String]
        let hasTerminal: Bool
        var typed: [String] = []
        var prompts: [String] = []
        var output: [String] = []
        var messages: [String] = []
        var status: Int32 = 0
    }

    struct Malformed: Error {
        let line: Int
        let text: String
    }

    private(set) var files: [(name: String, mode: Int, text: String)] = []
    private(set) var steps: [Step] = []

    init(_ text: String) throws {
        var file: (name: String, mode: Int, text: String)?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("-- "), line.hasSuffix(" --") || file == nil {
                if let file { files.append(file) }
                let parts = line.split(separator: " ")
                file = (String(parts[1]), parts.count > 3 ? Int(parts[2], radix: 8) ?? 0o600 : 0o600, "")
                continue
            }
            if line.hasPrefix("$") {
                if let file { files.append(file) }
                file = nil
            }
            if file != nil {
                file?.text += line + "\n"
            } else {
                try add(line, number: index + 1)
            }
        }
    }

    private mutating func add(_ line: String, number: Int) throws {
        let body = String(line.dropFirst(2))
        switch line.prefix(2) {
        case "", "# ", "#": return
        case "$ ", "$t":
            let hasTerminal = line.hasPrefix("$tty ")
            let words = Self.words(hasTerminal ? String(line.dropFirst(5)) : body)
            guard words.first == "kcbackup" else { throw Malformed(line: number, text: line) }
            steps.append(Step(line: number, words: Array(words.dropFirst()), hasTerminal: hasTerminal))
            return
        default: break
        }
        guard let last = steps.indices.last else { throw Malformed(line: number, text: line) }
        switch line.prefix(1) {
        case "<": steps[last].typed.append(body)
        case "@": steps[last].prompts.append(body)
        case ">": steps[last].output.append(body)
        case "!": steps[last].messages.append(body)
        case "=": steps[last].status = Int32(body) ?? -1
        default: throw Malformed(line: number, text: line)
        }
    }

    /// Splits a command line at spaces outside of quotation marks.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? ""
            case (" ", nil):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }

    /// True when `text` consists of lines like `patterns`.
    static func matches(_ text: String, _ patterns: [String]) -> Bool {
        var lines = text.components(separatedBy: "\n")
        // Every line ends in a line feed, but for a secret that is written as it is.
        if lines.last == "" { lines.removeLast() }
        return matches(lines[...], patterns[...])
    }

    private static func matches(_ lines: ArraySlice<String>, _ patterns: ArraySlice<String>) -> Bool {
        guard let pattern = patterns.first else { return lines.isEmpty }
        if pattern == "..." {
            return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], patterns.dropFirst()) }
        }
        guard let line = lines.first, matches(line, pattern) else { return false }
        return matches(lines.dropFirst(), patterns.dropFirst())
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "…")
        guard parts.count > 1 else { return line == pattern }
        guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.count >= parts[parts.count - 1].count
    }
}
