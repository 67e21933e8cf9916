import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Follows the README and the pages for users word for word: types the lines into a terminal and answers the prompts.
@Suite("Following the README", .waitsForPrograms)
struct ReadmeTests {
    /// A block of code: lines to type, or expected output.
    private struct Block {
        let lines: [String]
        let isTyped: Bool
    }

    /// The blocks of the tour to type and the blocks of expected output, in order.
    private func tour() throws -> [Block] {
        let blocks = try Project.text("README.md").matches(of: /(<!-- tour -->\n)?```(\w*)\n([^`]*)\n```\n/)
        return blocks.compactMap { match in
            let lines = match.3.components(separatedBy: "\n")
            if match.1 != nil { return Block(lines: lines, isTyped: true) }
            return match.2.isEmpty ? Block(lines: lines, isTyped: false) : nil
        }
    }

    /// Replaces what differs from run to run with constant text.
    private func known(_ text: String) -> String {
        text.replacing(/KC(-[A-Z2-7]{4}){5}/, with: "KC-…").replacing(/[0-9.]+ KiB/, with: "… KiB")
    }

    @Test(
        "The tour shows what it promises in an empty home folder, and leaves the user's own keychains alone",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"))
    func tourIsTrue() throws {
        let home = try TemporaryFolder()
        let reader = try Reader(home: home, in: Project.folder.path)
        var seen = 0
        for block in try tour() {
            if block.isTyped {
                try block.lines.forEach(reader.type)
                continue
            }
            let screen = known(try reader.screen()).components(separatedBy: "\n")
            for line in block.lines {
                let place = screen[seen...].firstIndex(of: known(line))
                seen = try #require(place, "'\(line)' does not appear:\n\(screen.joined(separator: "\n"))") + 1
            }
        }
        #expect(try reader.failures() == [])
        // The outer shell is not affected by the tour.
        #expect(!FileManager.default.fileExists(atPath: home.path(".local")))
        let keychains = try reader.output(of: "kcbackup keychain list")
        #expect(!keychains.contains("login"))
    }

    @Test(
        "The recipes in the README and the pages for users work on each machine that they name",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"),
        arguments: ["README.md", "docs/home.md", "docs/keys.md", "docs/moving.md", "docs/protect.md"])
    func recipesWork(page: String) throws {
        let home = try TemporaryFolder()
        let files = home.path("files")
        try prepare(home, for: page)
        var readers: [String: Reader] = [:]
        let blocks = try Project.text(page).matches(of: /<!-- follow: ([a-z ]+) -->\n```sh\n([^`]*)\n```\n/)
        #expect(!blocks.isEmpty)
        for block in blocks {
            let machine = String(block.1)
            let reader = try readers[machine] ?? Reader(home: home, in: files, data: home.path(machine))
            readers[machine] = reader
            for line in block.2.components(separatedBy: "\n") {
                let key = (try? home.read("files/restore-key.txt")).flatMap { bytes in
                    String(decoding: bytes, as: UTF8.self).firstMatch(of: /age1[a-z0-9]+/)
                }
                try reader.type(line.replacing("age1…", with: key.map { String($0.0) } ?? "age1…"))
            }
        }
        for (machine, reader) in readers {
            let shown = try reader.screen()
            #expect(try reader.failures() == [], "\(machine): \(shown)")
            let list = try reader.output(of: "kcbackup item list --columns service,travels")
            #expect(list.contains(/Home Wi-Fi +anywhere/), "\(machine): \(list)")
            #expect(list.contains(/VPN +this device/) == (machine != "a new machine"), "\(machine): \(list)")
        }
    }

    /// Prepares the machine `here`: a keychain with two items; for the README, an archive that was restored once; for the
    /// files of the home, two of them.
    private func prepare(_ home: TemporaryFolder, for page: String) throws {
        let script = """
            set -eu
            umask 077
            mkdir files here
            echo "\(Reader.passcode)" >passcode
            echo "\(Reader.passphrase)" >passphrase
            export XDG_DATA_HOME="$PWD/here"
            kcbackup keychain create --passcode file:passcode 2>/dev/null
            add() { kcbackup item add --account ada --secret file:passphrase --passcode file:passcode "$@"; }
            add --service "Home Wi-Fi"
            add --service VPN --accessible aku
            if [ "$page" = README.md ]; then
                kcbackup create files/laptop.kcb --passphrase file:passphrase --passcode file:passcode
                kcbackup item update --service VPN --set comment=changed --passcode file:passcode
                kcbackup restore files/laptop.kcb --passphrase file:passphrase --passcode file:passcode \\
                    --on-conflict overwrite --keychain login
            fi
            if [ "$page" = docs/home.md ]; then
                mkdir .ssh
                ssh-keygen -q -t ed25519 -N passphrase -f .ssh/id_ed25519
                echo https://ada:tulip@example.net >.git-credentials
            fi
            """
        let environment = ["HOME": home.path, "PATH": try Reader.path(), "page": page]
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: home.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
    }
}

/// Types lines into a shell, and answers prompts.
private final class Reader {
    static let passcode = "walnut cactus velvet 7 thunder"
    static let passphrase = "lantern orbit 9 quarry mist"
    private static let prompt = "reader>"

    private let terminal: TmuxTerminal
    private var prompts = 1

    static func path() throws -> String {
        URL(filePath: try ExternalProgram.built("kcbackup")).deletingLastPathComponent().path + ":/usr/bin:/bin"
    }

    init(home: TemporaryFolder, in folder: String, data: String? = nil) throws {
        var environment = [
            "HOME": home.path, "PATH": try Self.path(), "TERM": "screen", "LC_ALL": "C.UTF-8", "TMPDIR": home.path,
            "PROMPT_COMMAND": "PS1='\(Self.prompt) '; echo \"status $?\"",
        ]
        environment["XDG_DATA_HOME"] = data
        terminal = try TmuxTerminal(
            columns: 130, rows: 500, ["bash", "--norc", "-i"], environment: environment, in: folder)
    }

    /// Types a line, and answers prompts until the shell is ready for the next line.
    func type(_ line: String) throws {
        try terminal.wait(until: isReady)
        var asked = try questions(terminal.screen()).count
        try terminal.type(.text(line), .key("Enter"))
        prompts += 1
        var last = ""
        while true {
            let screen = try terminal.wait(until: { isReady($0) || questions($0).count > asked })
            let found = questions(screen)
            guard found.count > asked else { return }
            last = answer(found[asked], last: last)
            asked += 1
            try terminal.type(.text(last), .key("Enter"))
        }
    }

    /// The output of a line.
    func output(of line: String) throws -> String {
        try type(line)
        return try screen().components(separatedBy: "\(Self.prompt) \(line)\n").last ?? ""
    }

    /// The screen once the shell is ready.
    func screen() throws -> String { try terminal.wait(until: isReady) }

    /// The nonzero exit statuses.
    func failures() throws -> [String] {
        try screen().components(separatedBy: "\n").filter { $0.hasPrefix("status ") && $0 != "status 0" }
    }

    private func isReady(_ screen: String) -> Bool {
        let lines = screen.components(separatedBy: "\n").dropLast()
        return lines.last == Self.prompt && lines.filter { $0.hasPrefix(Self.prompt) }.count == prompts
    }

    private func questions(_ screen: String) -> [String] {
        screen.components(separatedBy: "\n").filter {
            $0.hasPrefix("Enter ") && $0.hasSuffix(":") || $0.contains("[y/N]")
        }
    }

    private func answer(_ question: String, last: String) -> String {
        if question.contains("[y/N]") { return "y" }
        if question.contains("again") { return last }
        if question.contains("passcode") { return Self.passcode }
        if question.contains("passphrase") { return Self.passphrase }
        return "secret of the Wi-Fi"
    }
}
