import KCByteStreams
import KCItemSources
import KCTestSupport
import Testing

@testable import KCStoreTasks

@Suite(
    "Decrypting files with gpg", .waitsForPrograms, .enabled(if: ExternalProgram.locate("gpg") != nil, "gpg is needed"))
struct GPGTests {
    /// A GnuPG home folder with a key, whose agent is stopped when the test ends.
    private final class Home {
        let folder: TemporaryFolder
        let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            environment = ["GNUPGHOME": folder.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C"]
            // Without s2k-count, the agent spends seconds on calibration. The agent must not show a prompt.
            try folder.write("gpg-agent.conf", Array("s2k-count 65536\npinentry-program /bin/false\n".utf8))
            try run(
                "gpg", ["--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "ada", "future-default"])
        }

        deinit {
            do {
                try run("gpgconf", ["--kill", "gpg-agent"])
            } catch {
                Issue.record("the agent still runs: \(error)")
            }
        }

        @discardableResult
        func run(_ program: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
            let outcome = try ExternalProgram.run(program, arguments, input: input, environment: environment)
            #expect(outcome.status == 0, "\(outcome.errorText)")
            return outcome.output
        }

        func encrypted(_ text: String) throws -> [UInt8] {
            try run("gpg", ["--batch", "--quiet", "--always-trust", "-r", "ada", "-e"], input: Array(text.utf8))
        }

        func opened(_ bytes: [UInt8], limit: Int = 100) throws -> String? {
            let path = try folder.write("it's; a file", bytes)
            return try GPG.decrypted(path, environment: environment, limit: limit).utf8Text
        }
    }

    @Test("A truncated file is refused, even where gpg reports success")
    func cut() throws {
        let home = try Home()
        let file = try home.encrypted("secret\n")
        #expect(try home.opened(file) == "secret\n")
        for count in [0, 1, 20, 60, 100, file.count - 30, file.count - 1] {
            #expect(throws: UnopenedFile.damaged, "\(count) of \(file.count)") {
                try home.opened(Array(file.prefix(count)))
            }
        }
        var flipped = file
        flipped[file.count - 5] ^= 1
        #expect(throws: UnopenedFile.damaged) { try home.opened(flipped) }
        #expect(throws: UnopenedFile.tooLarge(limit: 3)) { try home.opened(file, limit: 3) }
        // gpg reports that the first of two messages was decrypted.
        #expect(throws: UnopenedFile.damaged) { try home.opened(file + flipped) }
        #expect(throws: UnopenedFile.damaged) { try home.opened(flipped + file) }
    }

    @Test("What is before a message is skipped, as in a KDE wallet")
    func skipping() throws {
        let home = try Home()
        let path = try home.folder.write(
            "a.kwl", Array("KWALLET\n\r\0\r\n\0\0\u{2}\0".utf8) + home.encrypted("secret\n"))
        let opened = try GPG.decrypted(path, skipping: 16, environment: home.environment, limit: 100)
        #expect(opened.utf8Text == "secret\n")
        #expect(throws: UnopenedFile.damaged) {
            _ = try GPG.decrypted(path, environment: home.environment, limit: 100)
        }
        #expect(throws: UnopenedFile.damaged) {
            _ = try GPG.decrypted(path, skipping: 10_000, environment: home.environment, limit: 100)
        }
    }

    @Test("The name of a file is no part of a command, and the file is decrypted")
    func names() throws {
        let home = try Home()
        let file = try home.encrypted("secret\n")
        let hostile = [
            "'\u{301}", "'", "\"\u{301}", "`\u{301}", "$(", "\\\u{301}", "\r\n", "\n\u{308}", "-\u{301}", "\u{1fef}",
        ]
        for mark in hostile {
            for name in ["\(mark);touch ran;\(mark)", "\(mark)touch ran\(mark)", "\(mark)\(mark);exit 9;#"] {
                let path = try home.folder.write(name, file)
                let opened = try GPG.decrypted(path, environment: home.environment, limit: 100)
                #expect(opened.utf8Text == "secret\n", "\(name)")
            }
        }
    }

    @Test("A file for another key, a damaged file and a missing gpg are distinguished")
    func keys() throws {
        let home = try Home()
        let other = try Home()
        let foreign = try other.encrypted("x")
        #expect(throws: UnopenedFile.noKey) { try home.opened(foreign) }
        let path = try home.folder.write("file", foreign)
        #expect(throws: ForeignFailure.needsProgram("gpg", problem: "it is not installed")) {
            _ = try GPG.decrypted(path, environment: ["PATH": home.folder.path], limit: 100)
        }
    }

    @Test("If the agent cannot ask for the passphrase, all files fail at once")
    func agent() throws {
        let home = try Home()
        let key = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "walnut"]
        try home.run("gpg", key + ["--quick-gen-key", "bob", "future-default"])
        let file = try home.run(
            "gpg", ["--batch", "--quiet", "--always-trust", "-r", "bob", "-e"], input: Array("x".utf8))
        try home.run("gpgconf", ["--kill", "gpg-agent"])
        let failure = #expect(throws: ForeignFailure.self) { try home.opened(file) }
        #expect(failure == .needsProgram("gpg", problem: "its agent did not open the key"))
    }

    @Test("A file with a passphrase of its own is the only one that fails")
    func symmetric() throws {
        let home = try Home()
        let file = try home.run(
            "gpg",
            [
                "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "walnut", "--s2k-count", "65536",
                "--symmetric",
            ], input: Array("x".utf8))
        try home.run("gpgconf", ["--kill", "gpg-agent"])
        #expect(throws: UnopenedFile.needsPassphrase) { try home.opened(file) }
    }
}
