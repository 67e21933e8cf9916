import KCTestSupport
import Testing

@testable import KCSandbox

/// Runs `KCSandboxProgram`, which tries what a hostile file would make a reader do.
@Suite(
    "The sandbox", .waitsForPrograms,
    .enabled(if: SandboxSupport().isComplete, "this kernel lacks Landlock or filters of system calls"))
struct SandboxTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExternalProgram.run("/bin/mkdir", ["-p", folder.path("given/below")])
        for name in ["given/file", "given/below/file", "other"] { try folder.write(name, Array("words\n".utf8)) }
    }

    /// How the program ended: the end of its output, and its status as a shell sees that.
    private struct Ending {
        let text: String
        let call: RefusedCall?
        let status: String
    }

    /// Runs the program with pipes; `redirections` is a constant of a test.
    private func run(_ words: String..., redirections: String = "", file: String? = nil) throws -> Ending {
        let script = "path=$1; shift; { \"$@\" 2>&1 \(redirections); echo \"status $?\"; } | cat"
        let program = try ExternalProgram.built("KCSandboxProgram")
        let output = try ExternalProgram.run(
            "/bin/sh", ["-c", script, "sh", file ?? "", program] + words + (words.count == 1 ? ["none"] : []),
            input: Array("typed\n".utf8)
        ).text
        let lines = output.split(separator: "\n")
        let status = try #require(lines.last?.split(separator: " ").last)
        let text = lines.dropLast().map { $0 + "\n" }.joined()
        return Ending(text: text, call: RefusedCall(endOf: text.utf8), status: String(status))
    }

    @Test(
        "A call that is not allowed ends the process, and its kind is known",
        arguments: [
            ("openFile", RefusedCall.openFile), ("makeFile", .openFile), ("socket", .socket), ("fork", .startProgram),
            ("execute", .startProgram), ("trace", .trace), ("kill", .signal),
            ("killThread", .signal), ("executable", .memory), ("shared", .memory), ("unknown", .other(0x3fff_ffff)),
        ])
    func refused(verb: String, call: RefusedCall) throws {
        let ending = try run(verb)
        #expect(ending.call == call && ending.status == "\(RefusedCall.status)", "\(ending)")
        #expect(!ending.text.contains("done") && !ending.text.contains("failed"))
    }

    @Test("Beneath the given folder nothing is written or made", arguments: ["writeFile", "makeFile", "openPath"])
    func readOnly(verb: String) throws {
        let ending = try run(verb, folder.path("given"))
        #expect(ending.call == .openFile && ending.status == "\(RefusedCall.status)", "\(ending)")
        #expect(try folder.list() == ["given", "given/below", "given/below/file", "given/file", "other"])
    }

    @Test("Files beneath the given folder are listed and read, and no others")
    func given() throws {
        // With `.` and `..`.
        #expect(try run("readFile", folder.path("given")).text == "4 names\nwords\n")
        for verb in ["openFile", "openOther"] {
            // EACCES of Landlock.
            #expect(try run(verb, folder.path("given")).text == "failed 13\n", "\(verb)")
        }
    }

    @Test("Memory, time, input and output are there")
    func work() throws {
        let ending = try run("work")
        #expect(ending.text == "100000 50 typed\n" && ending.status == "0", "\(ending)")
    }

    @Test("No thread is started, and the program goes on without")
    func thread() throws {
        let ending = try run("thread")
        #expect(ending.text.hasPrefix("failed") && ending.status == "0", "\(ending)")
    }

    @Test("Memory ends at the limit")
    func memory() throws {
        #expect(try run("allocate").text == "failed 12\n")
    }

    @Test("What the C library asks for its own tuning has no answer, and ends nothing")
    func tuning() throws {
        #expect(try run("terminal", redirections: ">/dev/null").status == "0")
    }

    @Test("The handler that reports a call cannot be replaced", arguments: ["handler", "handlerOfLong"])
    func handler(verb: String) throws {
        let ending = try run(verb)
        #if arch(x86_64)
            let call = RefusedCall.other(13)
        #else
            let call = RefusedCall.other(134)
        #endif
        #expect(ending.call == call && ending.status == "\(RefusedCall.status)", "\(ending)")
    }

    #if arch(x86_64)
        @Test("Calls by the numbers of x32 kill the process without a record")
        func otherNumbers() throws {
            let ending = try run("x32")
            // The shell's number for SIGSYS is the same; some shells also print the signal.
            #expect(ending.call == nil && !ending.text.contains("failed") && ending.status == "159", "\(ending)")
        }
    #endif

    @Test("A crash is a signal, not a refused call")
    func crash() throws {
        let ending = try run("crash")
        #expect(ending.call == nil && ending.status == "134", "\(ending)")
    }

    @Test("Nobody enters with a file that can be written, and what is not named is closed")
    func descriptors() throws {
        let file = folder.path("other")
        for (redirection, number) in [(">>\"$path\"", 1), ("<>\"$path\"", 0)] {
            let ending = try run("nothing", redirections: redirection, file: file)
            #expect(ending.status == "1", "\(number): \(ending)")
        }
        let kept = try run("inherited", "none", "3", redirections: "3>>\"$path\"", file: file)
        #expect(kept.text == "outside: \(SandboxFailure.writableFile(3).reason)\n")
        // EBADF.
        #expect(try run("inherited", redirections: "3>>\"$path\"", file: file).text == "failed 9\n")
        #expect(try run("inherited", "none", "3", redirections: "3>&1").text == "worddone\n")
        #expect(try run("nothing", redirections: "<&-").text.contains("error 9"))
    }

    @Test("A process with several threads does not enter")
    func threads() throws {
        #expect(try run("severalThreads").text == "outside: \(SandboxFailure.severalThreads.reason)\n")
    }
}

@Suite("The record of a refused call")
struct RefusedCallTests {
    private func call(_ text: String) -> RefusedCall? { RefusedCall(endOf: Array(text.utf8)) }

    @Test("It is read at the end of other messages, and nowhere else")
    func records() {
        let record = "sandbox: refused system call 4000000000\n"
        #expect(call(record) == .other(4_000_000_000) && call("odd: \(record)") == .other(4_000_000_000))
        for text in ["", "\n", record + "x", String(record.dropLast()), record.replacing("4", with: "9")] {
            #expect(call(text) == nil, "\(text)")
        }
        #expect(call("sandbox: refused system call +123456789\n") == nil)
    }
}
