import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// A device with an archive, and the pages that are made from it.
struct ReportHome {
    let home: TestHome

    /// A line of an import, whose secret is the canary.
    static func line(_ attributes: [String: String], class itemClass: String = "genp") throws -> String {
        let object: [String: Any] = ["class": itemClass, "attributes": attributes, "secret": Self.canary]
        return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self) + "\n"
    }

    static let canary = "canary-secret-5d1c"

    /// Makes `a.kcb`, which `key` opens, from these lines.
    init(_ lines: [String], archive: String = "a.kcb") throws {
        home = try TestHome()
        try home.write("items.jsonl", lines.joined())
        for line in ["keychain create --no-passcode", "keygen -o key"] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        let made = home.run(["create", "-r", recipient, "--keychain", "file:items.jsonl", archive])
        #expect(made.status == .ok, "\(made.messages)")
    }

    /// The page of `a.kcb`.
    func page(_ more: [String] = [], archive: String = "a.kcb", name: String = "a.html") throws -> String {
        let outcome = home.run(["inspect", archive, "-i", "key", "--html", name] + more)
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.text == "")
        return String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
    }
}
