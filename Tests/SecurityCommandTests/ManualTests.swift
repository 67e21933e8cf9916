import Foundation
import TestSupport
import Testing

@testable import SecurityCommand

@Suite("The manual of the security command")
struct SecurityManualTests {
    private static let marks = ("<!-- reference -->\n", "<!-- end of reference -->\n")

    @Test("The reference says what the commands declare")
    func referenceIsTheProgram() throws {
        let text = try Project.text("docs/security-command.md")
        let start = try #require(text.range(of: Self.marks.0)).upperBound
        let end = try #require(text.range(of: Self.marks.1)).lowerBound
        let reference = Command.all.map { "\n### \($0.name)\n\n```\n\($0.usage)```\n" }.joined() + "\n"
        try Golden.compare(
            text.replacingCharacters(in: start..<end, with: reference), with: "docs/security-command.md")
    }

    @Test(
        "Every command line in a code block of the manual and the README parses",
        arguments: [
            "docs/security-command.md", "README.md",
        ])
    func commandLinesParse(name: String) throws {
        var count = 0
        for block in try Project.text(name).components(separatedBy: "\n```").enumerated() where block.offset % 2 == 1 {
            for line in block.element.components(separatedBy: "\n") where line.hasPrefix("security ") {
                let words = Array(Story.words(line.replacing(/\ +#.*$/, with: "")).dropFirst())
                let command = try #require(Command.named(words[0]), "\(line)")
                #expect(throws: Never.self, "\(line)") { _ = try command.parse(words.dropFirst()) }
                count += 1
            }
        }
        #expect(count > 2)
    }

    @Test("No line of a usage is wider than a terminal with room to spare, but for the first")
    func usageFits() {
        for command in Command.all {
            for line in command.usage.split(separator: "\n").dropFirst() { #expect(line.count <= 110, "\(line)") }
        }
    }
}
