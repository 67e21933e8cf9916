import Foundation
import KCBackupTasks
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
        let input = SecretInput(world: home.world(terminal, environment: environment), warn: { _ in })
        let wanted = WantedSecret(
            what: Self.what, flag: .passphrase, source: source.flatMap { SecretSource($0) }, isContent: isContent)
        if isContent {
            switch try input.new(wanted) {
            case .some(let secret): return secret.bytesForTest()
            case .none: return []
            }
        }
        var first: [UInt8] = []
        try input.existing(wanted).tried(isSpared: false, isWrong: { _ in true }, onOther: {}) {
            first = $0.bytesForTest()
        }
        return first
    }

    /// What is tried of a secret, one after the other.
    private func readings(_ text: String, isSpared: Bool = false, mayBeEmpty: Bool = false) throws -> [String] {
        struct Wrong: Error {}
        let wanted = WantedSecret(what: Self.what, flag: .passphrase, mayBeEmpty: mayBeEmpty)
        let secret = try SecretReadings(SecretBytes(copying: Array(text.utf8)), wanted)
        var tried: [String] = []
        #expect(throws: Wrong.self) {
            try secret.tried(isSpared: isSpared, isWrong: { $0 is Wrong }, onOther: {}) { (bytes) throws in
                tried.append(String(decoding: bytes.bytesForTest(), as: UTF8.self))
                throw Wrong()
            }
        }
        return tried
    }

    @Test("A secret that is wrong is tried with what Windows adds to lines and files, and without")
    func allReadings() throws {
        let all = ["one", "one\r", "\u{feff}one", "\u{feff}one\r"]
        func isSame(_ found: [String], _ wanted: [String]) -> Bool { found.map(\.exact) == wanted.map(\.exact) }
        #expect(isSame(try readings("one"), all))
        #expect(isSame(try readings("one\r"), all))
        #expect(isSame(try readings("\u{feff}one"), ["one", "\u{feff}one", "one\r", "\u{feff}one\r"]))
        #expect(isSame(try readings("one\r\r"), ["one", "one\r\r"] + all[1...]))
        #expect(isSame(try readings("one\r", isSpared: true), ["one", "one\r"]))
        #expect(isSame(try readings("one", isSpared: true), ["one"]))
        #expect(isSame(try readings("\r"), ["\r"]))
        #expect(isSame(try readings("", mayBeEmpty: true), [""]))
    }

    @Test(
        "A new secret that will be hard to type is warned of, and set as it is, without the marks of Windows",
        arguments: [
            ("one\r\n", "one", nil), ("\u{feff}one\n", "one", nil), ("\u{feff}one\r\n", "one", nil),
            ("caf\u{e9} x\n", "caf\u{e9} x", nil), ("one \n", "one ", "begins or ends with a blank"),
            ("\tone\n", "\tone", "begins or ends with a blank"),
            ("\u{a0}one\n", "\u{a0}one", "begins or ends with a blank"),
            ("o\u{200b}ne\n", "o\u{200b}ne", "invisible characters"),
            ("o\u{7}ne\n", "o\u{7}ne", "invisible characters"),
            ("one\u{ad}\n", "one\u{ad}", "invisible characters"), ("cafe\u{301}\n", "cafe\u{301}", "(NFD)"),
        ] as [(String, String, String?)])
    func newSecretsAreJudged(text: String, expected: String, warning: String?) throws {
        try home.write("secret", text)
        let warnings = CollectedOutput()
        let input = SecretInput(world: home.world(), warn: { try? warnings.write($0.utf8.span) })
        let wanted = WantedSecret(what: Self.what, flag: .passphrase, source: .file("secret"))
        switch try input.new(wanted) {
        case .some(let secret): #expect(secret.bytesForTest() == Array(expected.utf8))
        case .none: Issue.record("no secret")
        }
        #expect(
            warnings.text.isEmpty == (warning == nil) && (warning.map { warnings.text.contains($0) } ?? true),
            "\(warnings.text)")
    }

    @Test("A new secret that is no text is warned of")
    func noText() throws {
        try home.write("secret", [0x61, 0xe9, 0x0a])
        let outcome = home.run("keychain create work --passcode file:secret")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains("warning: the passcode of keychain 'work' is not UTF-8 text"))
    }

    @Test(
        "The first line of a file is the secret, without the end of the line and otherwise unchanged",
        arguments: [("one\ntwo\n", "one"), ("one", "one"), (" one \r\n", " one "), ("ö\n\n", "ö")])
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
        #expect(SecretSource(text) == nil)
        let outcome = home.run(["create", "--passphrase=\(text)", "x.kcb"])
        #expect(outcome.status == .usage)
        #expect(outcome.messages.hasPrefix("kcbackup: error: the value of '--passphrase' is not a source\n"))
        #expect(!outcome.messages.contains("swordfish"))
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
            let input = SecretInput(world: home.world(ScriptedTerminal(answers: answers)), warn: { _ in })
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
            let input = SecretInput(world: home.world(ScriptedTerminal(answers: answers)), warn: { _ in })
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

    @Test("The end of the input at a prompt is an answer that is missing, and no refusal by a rule")
    func endOfInput() {
        let outcome = home.run(["keychain", "create", "work"], terminal: ScriptedTerminal(answers: []))
        #expect(outcome.status == .usage)
        #expect(outcome.messages.contains("the input of the terminal ended before a line was typed"))
        #expect(home.run("keychain info --keychain work").status == .notFound)
    }
}
