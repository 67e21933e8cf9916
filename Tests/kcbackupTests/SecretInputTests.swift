import Foundation
import KCByteStreams
import KCConsole
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Where secrets come from")
struct SecretInputTests {
    private let home: TestHome
    private static let what = "passphrase"

    init() throws {
        home = try TestHome()
    }

    private func read(
        _ source: String?, isContent: Bool = false, environment: [String: String] = [:],
        terminal: ScriptedTerminal = ScriptedTerminal()
    ) throws -> [UInt8] {
        let input = SecretInput(world: home.world(terminal, environment: environment))
        let wanted = WantedSecret(
            what: Self.what, flag: .passphrase, source: source.map { SecretSource(argument: $0) }, isContent: isContent)
        return try input.existing(wanted).bytesForTest()
    }

    @Test(
        "The first line of a file is the secret, without its line feed and otherwise unchanged",
        arguments: [("one\ntwo\n", "one"), ("one", "one"), (" one \r\n", " one \r"), ("ö\n\n", "ö")])
    func firstLineCounts(text: String, expected: String) throws {
        try home.write("secret", text)
        #expect(try read("file:secret") == Array(expected.utf8))
    }

    @Test("An empty passphrase and one with a zero byte are refused")
    func emptyIsRefused() throws {
        for (text, problem) in [
            ("", SecretProblem.empty(what: Self.what)), ("\nx", .empty(what: Self.what)),
            ("a\0b\n", .holdsNUL(what: Self.what)),
        ] {
            try home.write("secret", text)
            #expect(throws: problem) { try read("file:secret") }
        }
    }

    @Test("The secret of an item may be empty or contain any byte, and several lines are refused")
    func contentIsWhole() throws {
        try home.write("secret", "a\0b\n")
        #expect(try read("file:secret", isContent: true) == [97, 0, 98])
        try home.write("empty", "\n")
        #expect(try read("file:empty", isContent: true) == [])
        try home.write("lines", "a\nb")
        #expect(throws: SecretProblem.severalLines(what: Self.what)) { try read("file:lines", isContent: true) }
        #expect(throws: SecretProblem.severalLines(what: Self.what)) {
            try read("cmd:printf 'a\\nb\\n'", isContent: true)
        }
    }

    @Test("A source of an item's secret that has nothing is refused, so that a failed pipe replaces no password")
    func nothingIsNoContent() throws {
        try home.write("nothing", "")
        for source in ["file:nothing", "cmd:true"] {
            #expect(throws: SecretProblem.noLine(what: Self.what)) { try read(source, isContent: true) }
        }
        #expect(try read("cmd:echo", isContent: true) == [])
    }

    @Test(
        "An invalid source is refused and not repeated",
        arguments: ["swordfish", "", "tty:", "file:", "fd:", "fd:-1", "fd:x", "cmd:", "cred:", "cred:../x", "env:X"])
    func unknownSourcesAreRefused(text: String) throws {
        #expect(SecretSource(argument: text) == .unknown)
        #expect(throws: SecretProblem.notASource(.passphrase)) { try read(text) }
    }

    @Test("Two secrets can come through one descriptor, one line each")
    func descriptorIsReadLineByLine() throws {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("one\ntwo\nrest".utf8))
        try pipe.fileHandleForWriting.close()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        // Inherited, as from a shell.
        #expect(fcntl(descriptor, F_SETFD, 0) == 0)
        let source = "fd:\(descriptor)"
        #expect(try read(source) == Array("one".utf8))
        #expect(try read(source) == Array("two".utf8))
        #expect(try read(source) == Array("rest".utf8))
        #expect(throws: SecretProblem.empty(what: Self.what)) { try read(source) }
        withExtendedLifetime(pipe) {}
    }

    @Test("A descriptor that is not open is named in the error")
    func closedDescriptorIsNamed() {
        #expect(throws: SecretProblem.descriptorClosed(999_999)) { try read("fd:999999") }
    }

    @Test("The first line that a command prints is the secret; its failure is not an empty secret")
    func commandsAreRun() throws {
        #expect(try read("cmd:printf 'a b\\nc\\n'") == Array("a b".utf8))
        #expect(try read("cmd:echo $WORD", environment: ["WORD": "x"]) == Array("x".utf8))
        #expect(throws: SecretProblem.commandFailed(status: 3)) { try read("cmd:echo secret; exit 3") }
        #expect(throws: SecretProblem.commandFailed(status: 143)) { try read("cmd:kill -TERM $$") }
        #expect(throws: SecretProblem.commandFailed(status: 127)) { try read("cmd:no-such-program-here 2>/dev/null") }
        #expect(throws: SecretProblem.tooLong(what: Self.what, limit: WantedSecret.limit)) {
            try read("cmd:head -c 70000 /dev/zero")
        }
    }

    @Test("A systemd credential is read from its folder, whatever its mode")
    func credentialsAreRead() throws {
        try home.write("backup", "orbit\n", mode: 0o440)
        let folder = ["CREDENTIALS_DIRECTORY": home.folder.path("work")]
        #expect(try read("cred:backup", environment: folder) == Array("orbit".utf8))
        #expect(throws: SecretProblem.noCredentialsFolder) { try read("cred:backup") }
        #expect(throws: FileFailure(home.path("none"), .notFound)) { try read("cred:none", environment: folder) }
    }

    @Test("Without a source, the user is asked; without a terminal, the run ends at once")
    func peopleAreAsked() throws {
        let terminal = ScriptedTerminal(answers: ["orbit"])
        #expect(try read(nil, terminal: terminal) == Array("orbit".utf8))
        #expect(terminal.asked == ["Enter the passphrase: "])
        #expect(throws: SecretProblem.noSource(what: Self.what, .passphrase)) { try read(nil) }
        #expect(throws: TerminalFailure.unavailable) { try read("tty") }
    }

    @Test("A new secret that is typed once more is not judged once more")
    func judgedOnce() throws {
        let wanted = WantedSecret(what: Self.what, flag: .passphrase)
        func judged(_ answers: [String]) throws -> [[UInt8]] {
            var secrets: [[UInt8]] = []
            let input = SecretInput(world: home.world(ScriptedTerminal(answers: answers)))
            _ = try input.new(wanted, judge: { secrets.append($0.bytesForTest()) })
            return secrets
        }
        #expect(try judged(["a", "b", "a", "c", "a", "a"]) == [[97]])
        #expect(try judged(["a", "b", "b", "b"]) == [[97], [98]])
    }

    @Test("A new secret must be typed twice, identically")
    func newSecretsAreTypedTwice() throws {
        let wanted = WantedSecret(what: Self.what, note: "empty for none", flag: .passphrase)
        func typed(_ answers: [String]) throws -> [UInt8]? {
            let input = SecretInput(world: home.world(ScriptedTerminal(answers: answers)))
            switch try input.new(wanted) {
            case .some(let secret): return secret.bytesForTest()
            case .none: return nil
            }
        }
        #expect(try typed(["a", "a"]) == [97])
        #expect(try typed([""]) == nil)
        #expect(try typed(["a", "b", "a", "a"]) == [97])
        #expect(try typed(["a", "b", ""]) == nil)
        #expect(throws: SecretProblem.differ(what: Self.what)) { try typed(["a", "b", "a", "", "b", "c"]) }
        #expect(throws: TerminalFailure.closed) { try typed(["a"]) }
    }

    @Test("The end of the input at a prompt is no mistake of the command line")
    func endOfInput() {
        let outcome = home.run(["keychain", "create", "work"], terminal: ScriptedTerminal(answers: []))
        #expect(outcome.status == .refused)
        #expect(outcome.messages.contains("the input of the terminal ended before a line was typed"))
        #expect(home.run("keychain info --keychain work").status == .notFound)
    }
}
