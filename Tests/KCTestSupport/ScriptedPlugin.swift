import Foundation
import KCByteStreams

/// A plugin of age that behaves as its recipients and identities say, installed for one user.
package struct ScriptedPlugin {
    /// True if there is what it is written for.
    package static let isRunnable = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    private let home: String
    /// The path of the program.
    package var path: String { home + "/.local/bin/age-plugin-scripted" }

    /// Installs the plugin in a home folder.
    package init(in home: String) throws {
        self.home = home
        try Path.makeFolder(home + "/.local/bin")
        try FileManager.default.copyItem(
            atPath: Project.path("Tests/KCTestSupport/age-plugin-scripted"), toPath: path)
        // Whatever the repository was checked out with.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// A recipient and an identity of one key.
    ///
    /// - Parameters:
    ///   - key: says which key it is.
    ///   - behavior: what the plugin does, as written in it; normal if it is empty.
    package static func recipient(_ key: UInt8 = 1, _ behavior: String = "") -> String {
        encoded("age1scripted", key, behavior, uppercase: false)
    }

    /// A recipient of a plugin that is not installed.
    package static var absentRecipient: String { encoded("age1absent", 1, "", uppercase: false) }

    /// See `recipient(_:_:)`.
    package static func identity(_ key: UInt8 = 1, _ behavior: String = "") -> String {
        encoded("age-plugin-scripted-", key, behavior, uppercase: true)
    }

    private static func encoded(_ prefix: String, _ key: UInt8, _ behavior: String, uppercase: Bool) -> String {
        var text: [UInt8] = []
        let data = [UInt8](repeating: key, count: 16) + Array(behavior.utf8)
        Bech32.encode(prefix: prefix, data.span, uppercase: uppercase, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The kind of each run so far, and the variables that it had.
    package func runs() throws -> [(machine: String, variables: [String])] {
        let path = home + "/plugin.log"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            let words = line.split(separator: " ").map { String($0) }
            return (words[0], Array(words.dropFirst()))
        }
    }
}
