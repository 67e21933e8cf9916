import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The screens that users see on terminals of three sizes; the expected ones are in `Screens`.
@Suite("Screens", .waitsForPrograms)
struct ScreenTests {
    private static let sizes = [(80, 24), (120, 40), (40, 20)]

    /// A command, the name under which its screen is stored, what is typed at its prompts, and the last line if it is
    /// not the shell's prompt.
    private struct Scene {
        let name: String
        let line: String
        var typed: String?
        var ending = "$"
    }

    private static var today: String { String(Date().ISO8601Format().prefix(10)) }
    /// The day on which the test began, which may be over when the screen is read.
    private let begun = today

    private static let scenes = [
        Scene(name: "list", line: "kcbackup item list --account ada"),
        Scene(name: "inspect", line: "kcbackup inspect laptop.kcb -i key.txt --server vpn.example.com"),
        Scene(name: "restore", line: "kcbackup restore laptop.kcb -i key.txt --dry-run"),
        Scene(name: "error", line: "kcbackup restore laptop.kcb -i other.txt"),
        Scene(name: "prompt", line: "kcbackup keychain create work", typed: "password", ending: "Enter it again:"),
    ]

    @Test(
        "Lists, archives, plans, errors and prompts look as in the stored screens",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"), arguments: sizes)
    func screens(columns: Int, rows: Int) throws {
        let home = try TemporaryFolder()
        let environment = [
            "HOME": home.path, "TERM": "screen", "LC_ALL": "C.UTF-8", "PS1": "$ ", "NO_COLOR": "1",
            "PATH": URL(filePath: try ExternalProgram.built("kcbackup")).deletingLastPathComponent().path
                + ":/usr/bin:/bin",
        ]
        try prepare(home, environment)
        let terminal = try TmuxTerminal(
            columns: columns, rows: rows, ["bash", "--norc", "-i"], environment: environment, in: home.path)
        for scene in Self.scenes {
            try terminal.wait(for: { $0 == "$" })
            // The screen of the previous scene must be gone, or it could be mistaken for this one's.
            try terminal.type(.key("C-l"))
            try terminal.wait(until: { $0.components(separatedBy: "\n").dropLast() == ["$"] })
            try terminal.type(.text(scene.line), .key("Enter"))
            if let typed = scene.typed {
                try terminal.wait(until: { $0.contains("Enter the new passcode") && $0.hasSuffix(":\n") })
                try terminal.type(.text(typed), .key("Enter"))
            }
            let screen = try terminal.wait(until: { screen in
                let lines = screen.components(separatedBy: "\n").dropLast()
                return lines.count > 1 && lines.last == scene.ending
            })
            let name = "\(scene.name)-\(columns)x\(rows)"
            try Golden.compare(known(screen), with: "Tests/kcbackupTests/Screens/\(name).txt")
            for line in screen.components(separatedBy: "\n") {
                #expect(line.unicodeScalars.count <= columns, "\(name)")
            }
            if columns == 80, ["list", "inspect"].contains(scene.name) {
                let shown = known(screen).replacing(/\n\$\n$/, with: "\n")
                try Golden.compare(picture(of: shown, columns), with: "docs/pictures/\(scene.name).svg")
            }
        }
    }

    /// Makes a keychain without a passcode, an archive, some items that are missing since, and two identities.
    private func prepare(_ home: TemporaryFolder, _ environment: [String: String]) throws {
        let script = """
            set -eu
            umask 077
            grep -v '"akpu"' "$samples" >items.jsonl
            kcbackup keychain create --no-passcode --quiet 2>/dev/null
            kcbackup import items.jsonl
            kcbackup keygen -o key.txt 2>/dev/null
            kcbackup keygen -o other.txt 2>/dev/null
            kcbackup create -r "$(grep -o 'age1[a-z0-9]*' key.txt)" laptop.kcb
            kcbackup item delete --server imap.example.com --yes
            kcbackup item delete --service "Example Bank" --yes
            kcbackup item update --server shop.example.org --account ada --set comment="a new one" --yes
            """
        let outcome = try ExternalProgram.run(
            "bash", ["-c", script],
            environment: environment.merging(["samples": Project.path("Samples/keychain.jsonl")]) { $1 }, in: home.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
    }

    /// Replaces what differs from run to run with constant text of the same width.
    private func known(_ screen: String) -> String {
        screen.replacing(/KC(-[A-Z2-7]{4}){5}/, with: "KC-ABCD-EFGH-IJKL-MNOP-QRST")
            .replacing(begun, with: "2026-01-01").replacing(Self.today, with: "2026-01-01")
            .replacing(/\d\d:\d\d:\d\d/, with: "09:30:00")
            // The terminal may break a line within a UUID.
            .replacing(/UUID\s+[0-9a-f\n-]{36,38}/) { match in
                String(match.output.map { "0123456789abcdef".contains($0) ? "0" : $0 })
            }
            .replacing(/size        \d+\.\d KiB/, with: "size        22.5 KiB")
    }

    /// The screen as an SVG picture, which browsers show with their own monospaced font.
    private func picture(of screen: String, _ columns: Int) -> String {
        let lines = screen.components(separatedBy: "\n").dropLast()
        let (width, height) = (columns * 8 + 32, lines.count * 18 + 30)
        let rows = lines.enumerated().filter { !$0.element.isEmpty }.map { number, line in
            let text = line.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            let fill = line.hasPrefix("$ ") ? "#9ece6a" : "#e6e6e6"
            let length = line.count * 8
            return "<text x=\"16\" y=\"\(number * 18 + 28)\" fill=\"\(fill)\" textLength=\"\(length)\">\(text)</text>\n"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
            role="img" xml:space="preserve" font-family="monospace" font-size="13">
            <rect width="100%" height="100%" rx="8" fill="#1e1e24"/>
            \(rows.joined())</svg>

            """
    }
}
