import ByteStreams
import Foundation

@testable import SecurityCommand

/// A story: command lines in order, with what each must say and how it must end.
///
/// ```
/// -- NAME [MODE] --     a file of the working folder, up to the next line that begins with "--" or "$"
/// # …                   a comment
/// $ security …          a run, words quoted as in a shell; "<FILE" at the end is its standard input;
///                       "$tty security …" has a terminal
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
        let input: String?
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
            if line.hasPrefix("-- "), line.hasSuffix(" --") {
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
        // A line of nothing may lack the space that an editor removes.
        let body = String(line.dropFirst(2))
        if line.isEmpty || line.hasPrefix("#") { return }
        if line.hasPrefix("$") {
            let hasTerminal = line.hasPrefix("$tty ")
            var words = Self.words(hasTerminal ? String(line.dropFirst(5)) : body)
            guard words.first == "security" else { throw Malformed(line: number, text: line) }
            var input: String?
            if let last = words.last, last.hasPrefix("<") {
                input = String(last.dropFirst())
                words.removeLast()
            }
            steps.append(
                Step(line: number, words: Array(words.dropFirst()), input: input, hasTerminal: hasTerminal))
            return
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

    /// Splits a command line as the program's own interactive mode does.
    private static func words(_ line: String) -> [String] {
        (try? shellWords(.init(line.utf8.span))) ?? []
    }

    /// True when `text` consists of lines like `patterns`.
    static func matches(_ text: String, _ patterns: [String]) -> Bool {
        var lines = text.components(separatedBy: "\n")
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
