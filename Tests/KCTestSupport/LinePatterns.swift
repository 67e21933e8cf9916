import Foundation

/// Patterns for the lines of a text: `…` matches any text within a line, and a line `...` any number of lines.
struct LinePatterns {
    private let patterns: [String]

    init(_ patterns: [String]) {
        self.patterns = patterns
    }

    /// Returns true if the patterns match all lines of `text`.
    func match(_ text: String) -> Bool {
        var lines = text.components(separatedBy: "\n")
        // Every line ends with a line feed, except for a secret, which is written verbatim.
        if lines.last == "" { lines.removeLast() }
        return Self.match(lines[...], patterns[...])
    }

    private static func match(_ lines: ArraySlice<String>, _ patterns: ArraySlice<String>) -> Bool {
        guard let pattern = patterns.first else { return lines.isEmpty }
        if pattern == "..." {
            return (lines.startIndex...lines.endIndex).contains { match(lines[$0...], patterns.dropFirst()) }
        }
        guard let line = lines.first, match(line, pattern) else { return false }
        return match(lines.dropFirst(), patterns.dropFirst())
    }

    private static func match(_ line: String, _ pattern: String) -> Bool {
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
