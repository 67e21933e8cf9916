import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

/// A device with an archive, and the pages that are made from it.
struct ReportHome {
    let home: TestHome

    /// Names that are markup, script, or not what they look like.
    static let hostileNames = [
        "</script><script>document.documentElement.dataset.canary='x'</script>",
        "<img src=x onerror=\"document.documentElement.dataset.canary='x'\">",
        "\"><svg onload=document.documentElement.dataset.canary=1>", "' onmouseover='alert(1)' x='",
        "</td></table><h1>",
        "</style></title><!--", "]]>", "&lt;b&gt; &amp; &#0; &quot", "javascript:alert(1)", "\u{202e}gnp.exe",
        "NUL\u{0}NUL", "\u{200b}zero\u{feff}", "line\u{2028}sep\u{2029}", "\r\n\ttab", "${alert(1)}", "`", "\\u{3c}b>",
        "\u{1b}[2J", "👩‍👩‍👧 é", "  spaces  ", "__proto__", "a%22b#&q=1", String(repeating: "<", count: 3_000),
    ]

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
        let made = home.run(["create", "-r", recipient, "--keychain", "file:items.jsonl", "-o", archive])
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
