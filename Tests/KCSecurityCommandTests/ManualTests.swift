import Foundation
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("The manual of the security command")
struct SecurityManualTests {
    private static let marks = ("<!-- reference -->\n", "<!-- end of reference -->\n")

    @Test("The reference matches what the commands declare")
    func referenceIsTheProgram() throws {
        let text = try Project.text("docs/security-command.md")
        let start = try #require(text.range(of: Self.marks.0)).upperBound
        let end = try #require(text.range(of: Self.marks.1)).lowerBound
        let reference = Command.all.map { "\n### \($0.name)\n\n```\n\($0.usage)```\n" }.joined() + "\n"
        try Golden.compare(
            text.replacingCharacters(in: start..<end, with: reference), with: "docs/security-command.md")
    }

    @Test("The manual page matches what the commands declare")
    func pageIsTheProgram() throws {
        let marks = (".\\\" reference\n", ".\\\" end of reference\n")
        let text = try ManualPage("security.1").text
        let start = try #require(text.range(of: marks.0)).upperBound
        let end = try #require(text.range(of: marks.1)).lowerBound
        let reference = Command.all.map(page).joined()
        try Golden.compare(text.replacingCharacters(in: start..<end, with: reference), with: "docs/man/security.1")
        let flags = text.components(separatedBy: ".Sh COMMANDS")[0].components(separatedBy: ".Sh OPTIONS")[1]
            .components(separatedBy: "\n").flatMap(ManualPage.flags)
        let usage = programUsage.matches(of: /(?m)^    (-\w)/).map { String($0.1) }
        #expect(Set(flags) == Set(usage))
    }

    /// A command in the markup of the page.
    private func page(of command: Command) -> String {
        func macro(_ flag: Flag) -> String {
            switch flag.argument {
            case .none: "Fl \(flag.letter)"
            case .value(let name), .secret(let name): "Fl \(flag.letter) Ar \(name)"
            }
        }
        let operands = command.operands.trimmingCharacters(in: ["[", "]"]).replacing("...", with: " ...")
        let form =
            command.flags.map { ".Op \(macro($0))\n" }.joined()
            + (operands.isEmpty ? "" : ".\(command.operands.hasPrefix("[") ? "Op " : "")Ar \(operands)\n")
        let flags = command.flags.map { ".It \(macro($0))\n\(sentences($0.help))" }.joined()
        return ".Ss \(command.name)\n.Cm \(command.name)\n\(form).Pp\n\(sentences(command.summary))"
            + command.notes.map(sentences).joined()
            + (flags.isEmpty ? "" : ".Pp\n.Bl -tag -width \"-P passphrase\" -compact\n\(flags).El\n")
    }

    /// A text with each sentence on lines of its own, none of them long, as is usual in mdoc.
    private func sentences(_ text: String) -> String {
        (text.hasSuffix(".") ? text : text + ".").components(separatedBy: ". ").map { sentence in
            var lines = [""]
            for word in sentence.split(separator: " ") {
                let line = lines[lines.count - 1]
                if line.isEmpty {
                    lines[lines.count - 1] = String(word)
                } else if line.count + word.count < 79 {
                    lines[lines.count - 1] += " " + word
                } else {
                    lines.append(String(word))
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: ".\n") + "\n"
    }

    @Test("Every command line of the manual page parses")
    func examplesParse() throws {
        for line in try ManualPage("security.1").commands {
            let words = Array(Story.words(line).dropFirst())
            let command = try #require(Command.named(words[0]), "\(line)")
            #expect(throws: Never.self, "\(line)") { _ = try command.parse(words.dropFirst()) }
        }
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

    @Test("No usage line after the first is longer than 110 characters")
    func usageFits() {
        for command in Command.all {
            for line in command.usage.split(separator: "\n").dropFirst() { #expect(line.count <= 110, "\(line)") }
        }
    }
}
