import Foundation

/// A manual page of `docs/man`, in mdoc(7).
package struct ManualPage: Sendable {
    /// Its file, such as `kcbackup-create.1`.
    package let file: String
    /// The whole page.
    package let text: String
    /// The titles of its sections, in order.
    package let titles: [String]
    private let sections: [String: [String]]

    /// Reads a page of `docs/man`.
    ///
    /// - Throws: `CocoaError` when there is none.
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

    /// The lines of a section; none when there is no such section.
    package func lines(of title: String) -> [String] { sections[title] ?? [] }

    /// The commands that the page shows, as they are typed after a `$`.
    package var commands: [String] {
        text.replacing(/\\e\n +/, with: "").components(separatedBy: "\n").compactMap { line in
            line.firstMatch(of: /^(?:\.Dl )?\$ (.*)$/).map { String($0.1) }
        }
    }

    /// The flags that a line of mdoc names with `Fl`, as they are typed.
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
