import Foundation
import KCByteStreams
import KCConsole
import KCTaskSupport
import KCTestSupport
import Testing

@testable import KCAsking

@Suite("Where secrets come from")
struct SecretInputTests {
    private let folder: TemporaryFolder
    private static let question = SecretQuestion.passphraseOfNewArchive

    init() throws {
        folder = try TemporaryFolder()
    }

    private func input(
        _ asking: ScriptedAsking = ScriptedAsking(), environment: [String: String] = [:],
        warn: @escaping (SecretOddity) -> Void = { _ in }
    ) -> SecretInput {
        let places = SecretPlaces(
            environment: environment.merging(["PATH": "/usr/bin:/bin"]) { given, _ in given },
            resolve: { [folder] in folder.path($0) })
        return SecretInput(asking: asking, places: places) { event in
            if case SecretEvent.oddity(let oddity, _) = event { warn(oddity) }
        }
    }

    private func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try folder.write(name, Array(text.utf8), mode: mode)
    }

    private func read(
        _ source: String?, isContent: Bool = false, environment: [String: String] = [:],
        _ asking: ScriptedAsking = ScriptedAsking()
    ) throws -> [UInt8] {
        let input = input(asking, environment: environment)
        let wanted = WantedSecret(
            isContent ? .itemSecret : Self.question, .passphrase, from: source.flatMap { SecretSource($0) })
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

    /// The readings of a secret that are tried, in order.
    private func readings(_ text: String, isSpared: Bool = false, mayBeEmpty: Bool = false) throws -> [String] {
        struct Wrong: Error {}
        let wanted = WantedSecret(mayBeEmpty ? .foreign(nil) : Self.question, .passphrase, from: nil)
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
            ("caf\u{e9} x\n", "caf\u{e9} x", nil), ("one \n", "one ", .blank),
            ("\tone\n", "\tone", .blank),
            ("\u{a0}one\n", "\u{a0}one", .blank),
            ("o\u{200b}ne\n", "o\u{200b}ne", .invisible),
            ("o\u{7}ne\n", "o\u{7}ne", .invisible),
            ("one\u{ad}\n", "one\u{ad}", .invisible), ("cafe\u{301}\n", "cafe\u{301}", .decomposed),
        ] as [(String, String, SecretOddity?)])
    func newSecretsAreJudged(text: String, expected: String, warning: SecretOddity?) throws {
        try write("secret", text)
        var warnings: [SecretOddity] = []
        let wanted = WantedSecret(Self.question, .passphrase, from: .file("secret"))
        switch try input(warn: { warnings.append($0) }).new(wanted) {
        case .some(let secret): #expect(secret.bytesForTest() == Array(expected.utf8))
        case .none: Issue.record("no secret")
        }
        #expect(warning.map { warnings.contains($0) } ?? warnings.isEmpty, "\(warnings)")
    }

    @Test(
        "The first line of a file is the secret, without the end of the line and otherwise unchanged",
        arguments: [("one\ntwo\n", "one"), ("one", "one"), (" one \r\n", " one "), ("ö\n\n", "ö")])
    func firstLineCounts(text: String, expected: String) throws {
        try write("secret", text)
        #expect(try read("file:secret") == Array(expected.utf8))
    }

    @Test("An empty passphrase and one with a zero byte are refused")
    func emptyIsRefused() throws {
        for (text, problem) in [
            ("", SecretProblem.empty(Self.question)), ("\nx", .empty(Self.question)),
            ("a\0b\n", .holdsNUL(Self.question)),
        ] {
            try write("secret", text)
            #expect(throws: problem) { try read("file:secret") }
        }
    }

    @Test("The secret of an item may be empty or contain any byte, and several lines are refused")
    func contentIsWhole() throws {
        try write("secret", "a\0b\n")
        #expect(try read("file:secret", isContent: true) == [97, 0, 98])
        try write("empty", "\n")
        #expect(try read("file:empty", isContent: true) == [])
        try write("lines", "a\nb")
        #expect(throws: SecretProblem.severalLines(.itemSecret)) { try read("file:lines", isContent: true) }
        #expect(throws: SecretProblem.severalLines(.itemSecret)) {
            try read("cmd:printf 'a\\nb\\n'", isContent: true)
        }
    }

    @Test("A source of an item's secret that has nothing is refused, so that a failed pipe replaces no password")
    func nothingIsNoContent() throws {
        try write("nothing", "")
        for source in ["file:nothing", "cmd:true"] {
            #expect(throws: SecretProblem.noLine(.itemSecret)) { try read(source, isContent: true) }
        }
        #expect(try read("cmd:echo", isContent: true) == [])
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
        #expect(throws: SecretProblem.empty(Self.question)) { try read(source) }
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
        #expect(throws: SecretProblem.tooLong(Self.question, limit: SecretInput.limit)) {
            try read("cmd:head -c 70000 /dev/zero")
        }
    }

    @Test("A systemd credential is read from its folder, whatever its mode")
    func credentialsAreRead() throws {
        try write("backup", "orbit\n", mode: 0o440)
        let variables = ["CREDENTIALS_DIRECTORY": folder.path("")]
        #expect(try read("cred:backup", environment: variables) == Array("orbit".utf8))
        #expect(throws: SecretProblem.noCredentialsFolder) { try read("cred:backup") }
        #expect(throws: FileFailure(folder.path("") + "/none", .notFound)) {
            try read("cred:none", environment: variables)
        }
    }

    @Test("Without a source, a person is asked; with nobody to ask, the task ends at once")
    func peopleAreAsked() throws {
        let asking = ScriptedAsking(["orbit"])
        #expect(try read(nil, asking) == Array("orbit".utf8))
        #expect(asking.asked == [Self.question])
        #expect(throws: SecretProblem.noSource(Self.question, .passphrase)) { try read(nil) }
        #expect(throws: TerminalFailure.unavailable) { try read("tty") }
    }

    @Test("A new secret that is typed once more is not judged once more")
    func judgedOnce() throws {
        let wanted = WantedSecret(Self.question, .passphrase, from: nil)
        func judged(_ answers: [String]) throws -> [[UInt8]] {
            var secrets: [[UInt8]] = []
            let input = input(ScriptedAsking(answers))
            _ = try input.new(wanted, judge: { secrets.append($0.bytesForTest()) })
            return secrets
        }
        #expect(try judged(["a", "b", "a", "c", "a", "a"]) == [[97]])
        #expect(try judged(["a", "b", "b", "b"]) == [[97], [98]])
    }

    @Test("A new secret must be typed twice, identically")
    func newSecretsAreTypedTwice() throws {
        let wanted = WantedSecret(Self.question, .passphrase, from: nil)
        func typed(_ answers: [String]) throws -> [UInt8]? {
            let input = input(ScriptedAsking(answers))
            switch try input.new(wanted) {
            case .some(let secret): return secret.bytesForTest()
            case .none: return nil
            }
        }
        #expect(try typed(["a", "a"]) == [97])
        #expect(try typed([""]) == nil)
        #expect(try typed(["a", "b", "a", "a"]) == [97])
        #expect(try typed(["a", "b", ""]) == nil)
        #expect(throws: SecretProblem.differ(Self.question)) { try typed(["a", "b", "a", "", "b", "c"]) }
        #expect(throws: TerminalFailure.closed) { try typed(["a"]) }
    }
}
