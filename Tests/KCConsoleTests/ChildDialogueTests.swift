import Glibc
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCConsole

@Suite("Programs that are talked with", .waitsForPrograms)
struct ChildDialogueTests {
    private func shell(_ script: String, patience: Duration? = nil) throws -> ChildDialogue {
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        return try ChildDialogue(
            "/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"], patience: patience)
    }

    /// Reads until a line feed or the end.
    private func line(_ talk: ChildDialogue) throws -> String {
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "\n") {
            let before = bytes.count
            try bytes.append(upTo: 1) { output throws(StreamFailure) in try talk.read(into: &output) }
            if bytes.count == before { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A program answers line by line, and ends by itself when it is done")
    func conversation() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("ended")
        let talk = try shell("while read line; do echo \"<$line>\"; done; echo >'\(path)'; echo warning >&2")
        for word in ["one", "two"] {
            try talk.write(Array("\(word)\n".utf8).span)
            #expect(try line(talk) == "<\(word)>\n")
        }
        talk.end(isDone: true)
        #expect(try Path.exists(path))
    }

    @Test("Neither side waits for the other because a pipe is full")
    func fullPipes() throws {
        let sent = [UInt8](repeating: 7, count: 500_000)
        let talk = try shell("cat; head -c 1000000 /dev/zero >&2; echo end >&2")
        try talk.write(sent.span)
        var count = 0
        while count < sent.count {
            var bytes: [UInt8] = []
            try bytes.append(upTo: 65_536) { output throws(StreamFailure) in try talk.read(into: &output) }
            try #require(!bytes.isEmpty)
            count += bytes.count
        }
        #expect(count == sent.count)
    }

    @Test("A program that writes without reading is refused, and so is what follows the end of one")
    func noReader() throws {
        let flood = try shell("exec cat /dev/zero")
        #expect(throws: StreamFailure.self) { try flood.write([UInt8](repeating: 7, count: 500_000).span) }
        let ended = try shell("echo gone >&2; exit 3")
        #expect(try line(ended) == "")
        // More than a pipe holds: a program that another test starts has a copy of its other end for a moment.
        #expect(throws: StreamFailure(.writing, .system(EPIPE))) {
            try ended.write([UInt8](repeating: 7, count: 500_000).span)
        }
        #expect(ended.endOfMessages == "gone\n")
    }

    @Test("A program that does nothing is waited for as long as patience lasts")
    func patience() throws {
        let talk = try shell("exec sleep 600", patience: .zero)
        #expect(throws: StreamFailure(.reading, .system(ETIMEDOUT))) { try line(talk) }
        #expect(throws: StreamFailure(.writing, .system(ETIMEDOUT))) { try talk.write([1].span) }
    }

    @Test(
        "When the talk is over, the program is ended with its children, also if it ignores that", arguments: [1, 2, 3])
    func group(way: Int) throws {
        var talk: ChildDialogue? = try shell("trap '' TERM; echo $$; (sleep 600; true) & wait; sleep 600")
        let group = try #require(try talk.flatMap { pid_t(try line($0).dropLast()) })
        switch way {
        case 1: talk?.end(isDone: false)
        case 2: talk?.end(isDone: true)
        default: talk = nil
        }
        let end = ContinuousClock.now + .seconds(60)
        while kill(-group, 0) == 0, .now < end { _ = poll(nil, 0, 20) }
        #expect(kill(-group, 0) != 0)
    }

    @Test("A program that is not there is not started")
    func missing() {
        #expect(throws: ChildProgram.Failure.notStarted(ENOENT)) {
            try ChildDialogue("/none/age-plugin-x", [], environment: [:], patience: nil)
        }
    }
}
