import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// A recovery kit typed into the real program, with every mistake that somebody may make.
@Suite("A recovery kit typed on a real terminal", .waitsForPrograms)
struct RecoveryTypingTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm-256color",
            "KCBACKUP": try ExternalProgram.built("kcbackup"),
        ]
    }

    private func run(_ script: String) throws -> String {
        let outcome = try ExternalProgram.run("/bin/sh", ["-c", script], environment: environment, in: folder.path)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text
    }

    /// Starts the check in a terminal that stays when it has ended.
    private func start() throws -> TmuxTerminal {
        try TmuxTerminal(
            columns: 150, rows: 60,
            ["sh", "-c", "trap : INT; \"$KCBACKUP\" recovery check; echo ended with $?; exec cat"],
            environment: environment, in: folder.path)
    }

    /// Types a line, and waits for what is said about it.
    private func type(_ line: String, in terminal: TmuxTerminal, until expected: String) throws {
        try terminal.type(.text(line), .key("Enter"))
        try terminal.wait(until: { $0.contains(expected) })
    }

    @Test(
        "Wrong lengths, letters, characters and neighbors are named or found, and a yes ends it",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"))
    func lines() throws {
        _ = try run("umask 077; \"$KCBACKUP\" keychain create --no-passcode; \"$KCBACKUP\" recovery make -o kit.txt")
        let sheet = String(decoding: try folder.read("kit.txt"), as: UTF8.self)
        let lines = sheet.matches(of: /(?m)^  [1-4]   [A-Z0-9 ]+$/).map { String($0.0) }
        try #require(lines.count == 4)
        let terminal = try start()
        try terminal.wait(until: { $0.contains("Line 1:") })
        try type("QQQQ", in: terminal, until: "Line 1 has 17 characters, including the one at its end; you typed 4.")
        var letters = Array(lines[0])
        letters[7] = "O"
        try type(
            String(letters), in: terminal, until: "Character 2 is typed as 'O', which no kit has: '0' looks like it")
        letters[7] = "*"
        try type(String(letters), in: terminal, until: "Character 2 is one that no kit has")
        let wrong = try #require(misread(lines[0], number: 1))
        try type(wrong, in: terminal, until: "does not fit the character at its end")
        try type(lines[0].lowercased(), in: terminal, until: "Line 2:")
        letters = Array(lines[1])
        for index in [6, 7, 8] { letters[index] = "?" }
        try type(String(letters), in: terminal, until: "3 characters are missing")
        for index in [7, 8] { letters[index] = Array(lines[1])[index] }
        try type(String(letters), in: terminal, until: "looked for at the end")
        try terminal.wait(until: { $0.contains("Line 3:") })
        let doubtful = try #require(misread(lines[2], number: 3))
        try terminal.type(.text(doubtful), .key("Enter"))
        try terminal.wait(until: { $0.components(separatedBy: "does not fit").count == 3 })
        try terminal.type(.text(doubtful), .key("Enter"))
        try terminal.wait(until: { $0.contains("Line 4:") })
        try type(lines[3], in: terminal, until: "Does the sheet say that? [y/N]")
        let screen = try terminal.screen()
        #expect(screen.contains("these lines would be right:"))
        for line in lines[1...2] { #expect(screen.components(separatedBy: "\n").contains(line)) }
        try type("y", in: terminal, until: "ended with 0")
        #expect(try terminal.screen().contains(/recovery kit [0-9a-f-]{9} is right/))
    }

    @Test(
        "Words of shares are taken as they come, and a stop with Ctrl-C keeps no date",
        .enabled(if: TmuxTerminal.isAvailable, "tmux is needed: .ci/install-packages test"))
    func words() throws {
        _ = try run(
            """
            umask 077
            "$KCBACKUP" keychain create --no-passcode
            "$KCBACKUP" recovery make --qr --shares 2of2 -o kit.pdf
            pdftoppm -r 150 -png kit.pdf page
            zbarimg --quiet --raw -Sdisable -Sqrcode.enable page*.png > words
            """)
        let shares = String(decoding: try folder.read("words"), as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
        try #require(shares.map(\.count) == [33, 33])
        let terminal = try start()
        try terminal.wait(until: { $0.contains("Line 1:") })
        try type(shares[0][..<11].joined(separator: " "), in: terminal, until: "Words from 12 on:")
        try type(shares[0][11...].joined(separator: " "), in: terminal, until: "1 more share needed")
        try type("1 \(shares[1][0]) 2 laptop", in: terminal, until: "Word 2 is not in the list of words; go on with it")
        try terminal.type(.key("C-c"))
        try terminal.wait(until: { $0.contains("ended with 130") })
        #expect(try run("\"$KCBACKUP\" recovery list").contains("never"))
        let second = try start()
        try second.wait(until: { $0.contains("Line 1:") })
        try type(shares[1].joined(separator: " "), in: second, until: "1 more share needed")
        try type(shares[0].joined(separator: " "), in: second, until: "ended with 0")
        #expect(try !run("\"$KCBACKUP\" recovery list").contains("never"))
    }
}
