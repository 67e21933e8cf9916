import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Files that are nested without end")
struct NestingTests {
    private static let levels = 20_000

    private static func nested(_ open: String, _ inner: String = "", _ close: String = "") -> String {
        String(repeating: open, count: levels) + inner + String(repeating: close, count: levels)
    }

    private static let list = nested("[", "1", "]")
    private static let files = [
        ("lists", list), ("objects", nested(#"{"a":"#, "1", "}")), ("openings", nested("[")),
        ("bitwarden", #"{"encrypted":false,"items":[],"new":"# + list + "}"),
        ("bitwarden item", #"{"encrypted":false,"items":[{"type":1,"name":"a","login":"# + list + "}]}"),
        ("kubernetes", #"{"apiVersion":"v1","kind":"Secret","metadata":"# + list + "}"),
        ("kubernetes list", nested(#"{"apiVersion":"v1","kind":"List","items":["#, "", "]}")),
        ("yaml flow", "apiVersion: v1\nkind: Secret\nmetadata: " + list + "\n"),
        ("yaml block", "apiVersion: v1\nkind: Secret\nmetadata:\n" + nested("- ", "a") + "\n"),
        ("cxf", #"{"version":{"major":1,"minor":0},"exporterRpId":"a","accounts":[{"collections":"# + list + "}]}"),
        ("keepass", "<KeePassFile><Root>" + nested("<Group>", "", "</Group>") + "</Root></KeePassFile>"),
        ("kwallet", "<wallet name=\"a\">" + nested("<folder>", "", "</folder>") + "</wallet>"),
        ("property list", "<plist version=\"1.0\">" + nested("<array>", "", "</array>") + "</plist>"),
    ]

    @Test("One line says why it is not read, or what is not in it", arguments: files)
    func refused(name: String, text: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("file", text)
        for line in ["import file", "inspect file:file"] {
            let outcome = home.run(line)
            #expect(![.ok, .internal].contains(outcome.status), "\(name): \(line): \(outcome.messages)")
            let errors = outcome.messages.split(separator: "\n").filter { $0.hasPrefix("kcbackup: error: ") }
            #expect(errors.count <= 1 && outcome.messages.utf8.count < 1_000, "\(name): \(line): \(outcome.messages)")
            #expect(!errors.isEmpty || outcome.messages.contains("kcbackup: warning: "), "\(name): \(line)")
        }
        #expect(home.run("create --keychain file:file x.kcb").status != .internal, "\(name)")
    }
}
