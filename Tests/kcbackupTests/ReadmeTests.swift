import Foundation
import TestSupport
import Testing

@testable import kcbackup

/// Somebody who follows the README word for word: the lines are typed into a terminal, the questions answered, and what
/// the README shows has to appear.
@Suite("The tour of the README")
struct ReadmeTests {
    /// A block of code: what is typed, or what appears.
    private struct Block {
        let lines: [String]
        let isTyped: Bool
    }

    /// The blocks of the tour, in order; of the others those that show what appears.
    private func tour() throws -> [Block] {
        let blocks = try Project.text("README.md").matches(of: /(<!-- tour -->\n)?```(\w*)\n([^`]*)\n```\n/)
        return blocks.compactMap { match in
            let lines = match.3.components(separatedBy: "\n")
            if match.1 != nil { return Block(lines: lines, isTyped: true) }
            return match.2.isEmpty ? Block(lines: lines, isTyped: false) : nil
        }
    }

    /// What differs from one run to the next is the same everywhere.
    private func known(_ text: String) -> String {
        text.replacing(/KC(-[A-Z2-7]{4}){5}/, with: "KC-…").replacing(/[0-9.]+ KiB/, with: "… KiB")
    }

    /// What one would type for the question, and the line feed.
    private func answer(_ question: String, last: String) -> String {
        if question.contains("again") { return last }
        if question.contains("passcode") { return "walnut cactus velvet 7 thunder" }
        if question.contains("passphrase") { return "lantern orbit 9 quarry mist" }
        return "secret of the Wi-Fi"
    }

    @Test(
        "Whoever types it into a shell in an empty home folder sees what it shows, and keeps their own keychains",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"))
    func tourIsTrue() throws {
        let home = try TemporaryFolder()
        let programs = URL(filePath: try ExternalProgram.built("kcbackup")).deletingLastPathComponent().path
        let prompt = "tour>"
        let terminal = try TmuxTerminal(
            columns: 130, rows: 500, ["bash", "--norc", "-i"],
            environment: [
                "HOME": home.path, "PATH": programs + ":/usr/bin:/bin", "TERM": "screen", "LC_ALL": "C.UTF-8",
                "TMPDIR": home.path, "PROMPT_COMMAND": "PS1='\(prompt) '; echo \"status $?\"",
            ], in: Project.folder.path)
        var prompts = 1
        var seen = 0
        for block in try tour() {
            guard block.isTyped else {
                let screen = known(try terminal.screen()).components(separatedBy: "\n")
                for line in block.lines {
                    let place = screen[seen...].firstIndex(of: known(line))
                    seen = try #require(place, "'\(line)' does not appear:\n\(screen.joined(separator: "\n"))") + 1
                }
                continue
            }
            for line in block.lines {
                try terminal.wait(until: { isReady($0, prompt, prompts) })
                try terminal.type(.text(line), .key("Enter"))
                prompts += 1
                var asked = 0
                var last = ""
                while true {
                    let screen = try terminal.wait(until: { screen in
                        isReady(screen, prompt, prompts) || questions(screen, after: "\(prompt) \(line)").count > asked
                    })
                    let found = questions(screen, after: "\(prompt) \(line)")
                    guard found.count > asked else { break }
                    last = answer(found[asked], last: last)
                    asked += 1
                    try terminal.type(.text(last), .key("Enter"))
                }
            }
        }
        let screen = try terminal.wait(until: { isReady($0, prompt, prompts) })
        let statuses = screen.components(separatedBy: "\n").filter { $0.hasPrefix("status ") }
        #expect(statuses == Array(repeating: "status 0", count: prompts), "\(screen)")
        // The shell that was there before knows nothing of the tour.
        #expect(!FileManager.default.fileExists(atPath: home.path(".local")))
        try terminal.type(.text("kcbackup keychain list --quiet"), .key("Enter"))
        let after = try terminal.wait(until: { isReady($0, prompt, prompts + 1) })
        #expect(!after.components(separatedBy: "keychain list --quiet")[1].contains("login"))
    }

    private func isReady(_ screen: String, _ prompt: String, _ count: Int) -> Bool {
        let lines = screen.components(separatedBy: "\n").dropLast()
        return lines.last == prompt && lines.filter { $0.hasPrefix(prompt) }.count == count
    }

    /// The questions of the last command.
    private func questions(_ screen: String, after line: String) -> [String] {
        (screen.components(separatedBy: line).last ?? "").components(separatedBy: "\n")
            .filter { $0.hasPrefix("Enter ") && $0.hasSuffix(":") }
    }
}
