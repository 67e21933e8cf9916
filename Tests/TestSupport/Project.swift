package import Foundation

/// The files of this repository, which some tests compare with what the code says.
package enum Project {
    /// The folder of Package.swift.
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where `name` is, a path from the folder of Package.swift.
    package static func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The text of `name`, a path from the folder of Package.swift.
    package static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
