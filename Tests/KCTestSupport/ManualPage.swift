import Foundation

/// A manual page in `docs/man`, written in mdoc(7).
package struct ManualPage: Sendable {
    /// Its file name, such as `kcbackup-create.1`.
    package let file: String
    /// The complete text.
    package let text: String
    /// The titles of its sections, in order.
    package let titles: [String]
    private let sections: [String: [String]]

    /// Reads a page from `docs/man`.
    ///
    /// - Throws: `CocoaError` if it does not exist.
    package init(_ file: String) throws {
        self.file = file
        text = try Project.text("docs/man/\(file)")
        var titles: [String] = []
        var sections: [String: [String]] = [:]
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix(".Sh ") {
                titles.append(String(line.dropFirst(4)))
            } else if let title = titles.last {
                sections[title, default: []].append(line)
            }
        }
        self.titles = titles
        self.sections = sections
    }

    /// All pages, by name.
    ///
    /// - Throws: `CocoaError`.
    package static func all() throws -> [ManualPage] {
        try FileManager.default.contentsOfDirectory(atPath: Project.path("docs/man")).sorted().map { try Self($0) }
    }

    /// The lines of a section; empty if there is no such section.
    package func lines(of title: String) -> [String] { sections[title] ?? [] }

    /// The commands that the page shows after a `$`.
    package var commands: [String] {
        text.replacing(/\\e\n +/, with: "").components(separatedBy: "\n").compactMap { line in
            line.firstMatch(of: /^(?:\.Dl )?\$ (.*)$/).map { String($0.1) }
        }
    }

    /// The flags that an mdoc line names with `Fl`, as typed on a command line.
    package static func flags(in line: String) -> [String] {
        var flags: [String] = []
        var isFlag = false
        for word in line.split(separator: " ") where line.hasPrefix(".") {
            if word == "Fl" || word == ".Fl" {
                isFlag = true
            } else if word.wholeMatch(of: /\.?[A-Z][a-z]/) != nil {
                isFlag = false
            } else if isFlag, word.contains(/[a-zA-Z]/) {
                flags.append("-" + word)
            }
        }
        return flags
    }
}
