import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("States of listed archives")
struct ListedStateTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try #require(home.run("keychain create --no-passcode").status == .ok)
        try #require(home.run("create --unencrypted --to b").status == .ok)
    }

    private func states() throws -> [String] {
        let outcome = home.run("list b --columns state")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        return outcome.text.split(separator: "\n").dropFirst().map(String.init)
    }

    @Test("An archive of a newer version is listed as that, known or not, and not as damaged or as no archive")
    func newer() throws {
        let name = try #require(try Path.names(in: home.path("b")).first { $0.hasSuffix(".kcb") })
        let known = Data(#""version":1"#.utf8)
        var bytes = try Data(contentsOf: URL(filePath: home.path("b/" + name)))
        bytes.replaceSubrange(try #require(bytes.range(of: known)), with: Data(#""version":2"#.utf8))
        try home.write("b/" + name, Array(bytes))
        try home.write("b/other.kcb", Array(bytes))
        #expect(try states() == ["newer", "newer"])
    }

    @Test(
        "A file that cannot be read is listed as that, since nobody knows whether it is damaged", .waitsForPrograms,
        .traced)
    func unreadable() throws {
        let folder = try TemporaryFolder()
        let outcome = try ExternalProgram.run(
            "bash",
            [
                "-c",
                """
                set -e
                "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
                "$KCBACKUP" create --unencrypted --to b -q
                $STRACE -f -qq -o /dev/null -P "$PWD"/b/*.kcb -e trace=openat -e inject=openat:error=EIO "$KCBACKUP" list "$PWD/b" --json
                """,
            ],
            environment: [
                "HOME": folder.path, "PATH": "/usr/bin:/bin", "KCBACKUP": try ExternalProgram.built("kcbackup"),
                "STRACE": Strace.command.joined(separator: " "),
            ], in: folder.path)
        #expect(outcome.text.contains(#""state":"unreadable""#), "\(outcome.text)\(outcome.errorText)")
    }
}
