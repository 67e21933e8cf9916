package import Foundation

/// The files of this repository, some of which tests compare with the code.
package enum Project {
    /// The folder of Package.swift.
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The absolute path of `name`, a path relative to the folder of Package.swift.
    package static func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The text of the file `name`, a path relative to the folder of Package.swift.
    package static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
