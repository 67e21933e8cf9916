import Foundation
package import Testing

/// Files in the repository that hold expected output; `UPDATE_GOLDEN=1` rewrites them.
package enum Golden {
    /// Compares `text` with the file at `path`, which is relative to the folder of Package.swift.
    package static func compare(
        _ text: String, with path: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: Project.folder.appending(path: path))
            return
        }
        guard let difference = difference(text, try Project.text(path)) else { return }
        Issue.record(
            """
            \(path) differs at \(difference)
            If that is intended, run the tests with UPDATE_GOLDEN=1.
            """, sourceLocation: sourceLocation)
    }

    /// The first line of `text` that differs from `expected`; nil if they are equal.
    static func difference(_ text: String, _ expected: String) -> String? {
        if text == expected { return nil }
        let (found, wanted) = (text.components(separatedBy: "\n"), expected.components(separatedBy: "\n"))
        let number = zip(found, wanted).prefix { $0 == $1 }.count
        return "line \(number + 1): \(number < found.count ? found[number] : "the text ends")"
    }
}
