import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCSandbox
import KCTestSupport
import Testing

@testable import KCForeignReader

/// Runs `KCHostileReader`, whose parser does what the file says.
@Suite(
    "A hostile reader", .waitsForPrograms,
    .enabled(if: SandboxSupport().isComplete, "this kernel lacks Landlock or filters of system calls"))
struct HostileReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The failure of reading a file of this one word.
    private func failure(of word: String) throws -> ReaderFailure.Problem? {
        let path = try folder.write("file", Array(word.utf8))
        let program = try ExternalProgram.built("KCHostileReader")
        let reader = ReaderProgram(path: program, spoolingIn: folder.path)
        do {
            _ = try reader.read(ReaderInput(path, now: .reference), secrets: GivenSecrets())
            return nil
        } catch let failure as ReaderFailure {
            #expect(failure.kind == .bitwarden, "\(failure)")
            return failure.problem
        }
    }

    @Test(
        "A call for anything but reading ends it, and says what it wanted",
        arguments: [
            ("open", RefusedCall.openFile), ("create", .openFile), ("connect", .socket), ("fork", .startProgram),
            ("execute", .startProgram), ("trace", .trace), ("kill", .signal),
        ])
    func refused(word: String, call: RefusedCall) throws {
        #expect(try failure(of: word) == .stopped(call))
        #expect(try folder.list() == ["file"])
    }

    @Test("The file that it was given cannot be written to")
    func write() throws {
        #expect(try failure(of: "write") == .ended(status: 0))
        #expect(try folder.read("file") == Array("write".utf8))
    }

    @Test("A crash, an early end and want of memory are told apart from an empty file")
    func ends() throws {
        guard case .crashed = try failure(of: "crash") else { return #expect(Bool(false), "no crash") }
        guard case .crashed = try failure(of: "memory") else { return #expect(Bool(false), "no crash") }
        #expect(try failure(of: "exit") == .ended(status: 0))
        #expect(try failure(of: "nothing") == .ended(status: 0))
        #expect(try failure(of: "half") == .ended(status: 0))
        #expect(try failure(of: "read me") == nil)
    }

    @Test(
        "An answer outside the protocol is refused",
        arguments: [
            "other", "huge", "unknown", "again", "item", "items", "fields", "list", "tried", "outside", "failure",
            "password",
            "keyring", "gpg", "codes", "plugins", "interrupted", "more", "parts", "silent",
        ])
    func breaches(word: String) throws {
        let problem = try failure(of: word)
        guard case .misbehaved = problem else { return #expect(Bool(false), "\(word): \(String(describing: problem))") }
    }

    @Test("Another format than the chosen one is refused")
    func chosen() throws {
        let path = try folder.write("file", Array("read me".utf8))
        let reader = ReaderProgram(path: try ExternalProgram.built("KCHostileReader"), spoolingIn: folder.path)
        #expect(throws: ReaderFailure(.misbehaved("another format than the chosen one"), reading: .bitwarden)) {
            try reader.read(ReaderInput(path, now: .reference), ReaderProgram.Choice(.keePass), secrets: GivenSecrets())
        }
    }

    @Test("An outline with a negative number is refused")
    func outline() throws {
        let path = try folder.write("file", Array("x".utf8))
        let reader = ReaderProgram(path: try ExternalProgram.built("KCHostileReader"), spoolingIn: folder.path)
        #expect(throws: ReaderFailure(.misbehaved("a number is negative"))) {
            try reader.outline(ReaderInput(path, now: .reference))
        }
    }

    @Test("A program that is not there is named")
    func missing() throws {
        let path = try folder.write("file", Array("x".utf8))
        let reader = ReaderProgram(path: folder.path("none"), spoolingIn: folder.path)
        #expect(throws: ReaderFailure(.missing(path: folder.path("none")))) {
            try reader.recognise(ReaderInput(path, now: .reference))
        }
    }
}

/// Gives one password, and nothing else.
private struct GivenSecrets: ForeignSecrets {
    var given = "wrong"

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        try use(SecretBytes(copying: given.utf8))
    }

    func keyFile() -> ForeignFile? { nil }
}
