import Foundation
import KCTestSupport
import Testing

/// Compares the table "When it stops" in docs/recovery.md with the script.
@Suite("The messages of the recovery script and their table")
struct RecoveryManualTests {
    /// The messages of the script, with `…` in place of names.
    private let messages: [String]
    /// The first column of the table, without messages of the tools.
    private let rows: [String]

    init() throws {
        let script = try Project.text("docs/recover.sh")
        let quoted = /\b(fail|refuse)[ (](?:"([^"]*)"|'([^']*)')/
        messages = script.matches(of: quoted).map { match in
            let text = String(match.2 ?? match.3 ?? "").replacing(/\$(?:_\[\d\]|\w+|\{[^}]*\}|!)(?:\[\d\])?/, with: "…")
            return match.1 == "refuse" ? text + ": the archive is damaged or forged" : text
        }
        let text = try Project.text("docs/recovery.md")
        let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("When it stops") })
        rows = section.split(separator: "\n").compactMap { $0.firstMatch(of: /^\| `([^`]*)` \|/).map { String($0.1) } }
    }

    private func covers(_ row: String, _ message: String) throws -> Bool {
        let pieces = row.components(separatedBy: "…").map(NSRegularExpression.escapedPattern)
        return try Regex(pieces.joined(separator: ".*")).wholeMatch(in: message) != nil
    }

    @Test("Every message with which the script stops is in the table")
    func everyMessageIsInTheTable() throws {
        #expect(messages.count > 50)
        for message in messages where message != "…" && !message.hasPrefix("…[") {
            #expect(try rows.contains { try covers($0, message) }, "not in the table: \(message)")
        }
    }

    @Test("Every message in the table is one of the script")
    func everyRowIsSaid() throws {
        for row in rows {
            #expect(try messages.contains { try covers(row, $0) }, "the script does not say: \(row)")
        }
    }
}
