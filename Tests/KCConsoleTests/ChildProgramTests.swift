import Glibc
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCConsole

@Suite("Programs that are run without a shell", .waitsForPrograms)
struct ChildProgramTests {
    private func shell(_ script: String, _ words: [String] = []) -> ChildProgram {
        ChildProgram(path: "/bin/sh", arguments: ["-c", script, "sh"] + words, environment: ["PATH": "/usr/bin:/bin"])
    }

    @Test("Output and messages are read together, however long they are, and arguments are words")
    func output() throws {
        var count = 0
        let script =
            "i=0; while [ $i -lt 40 ]; do head -c 10000 /dev/zero; head -c 10000 /dev/zero >&2; i=$((i + 1)); done"
        let long = try shell(script + "; echo last >&2; exit 3").run { count += $0.count }
        #expect(count == 400_000 && long.status == 3)
        #expect(long.messages.hasSuffix("last\n") && long.messages.utf8.count <= 16_384)
        var bytes: [UInt8] = []
        let words = ["'; exit 9; '\u{301}", "$(exit 9)", "-n"]
        let ending = try shell("printf '%s|' \"$@\"", words).run { piece in bytes += piece.indices.map { piece[$0] } }
        #expect(ending.status == 0 && bytes == words.flatMap { Array($0.utf8) + [124] })
    }

    @Test("A program gets only the environment that it is given, no input, and no descriptor")
    func surroundings() throws {
        var bytes: [UInt8] = []
        let ending = try shell("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_=; ! read line; ls /proc/self/fd").run { piece in
            bytes += piece.indices.map { piece[$0] }
        }
        #expect(ending.status == 0)
        // `ls` has one for the folder.
        #expect(String(decoding: bytes, as: UTF8.self) == "PATH=/usr/bin:/bin\n0\n1\n2\n3\n")
    }

    @Test("A program reads its input to the end, also if it reads none of it")
    func input() throws {
        for script in ["cat", "exit 0"] {
            var bytes: [UInt8] = []
            let input = [UInt8](repeating: 7, count: 4_096)
            let program = ChildProgram(
                path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"], input: input)
            #expect(try program.run { piece in bytes += piece.indices.map { piece[$0] } }.status == 0)
            #expect(bytes == (script == "cat" ? input : []))
        }
    }

    @Test("If what it prints is not wanted any longer, the program is ended with its children")
    func ended() throws {
        struct Enough: Error {}
        let folder = try TemporaryFolder()
        let path = try folder.write("group", [])
        #expect(throws: Enough.self) {
            _ = try shell("echo $$ > \"$1\"; echo; (sleep 600; true) & wait", [path]).run { _ in throw Enough() }
        }
        let group = try #require(try pid_t(String(decoding: folder.read("group"), as: UTF8.self).dropLast()))
        let end = ContinuousClock.now + .seconds(60)
        while kill(-group, 0) == 0, .now < end { _ = poll(nil, 0, 20) }
        #expect(kill(-group, 0) != 0)
    }

    @Test("A program does not outlive this one, even if it is killed")
    func bound() throws {
        let outcome = try ExternalProgram.run(
            "timeout",
            [
                "60", "bash", "-c",
                """
                coproc "$0" child
                read -r child <&${COPROC[0]}
                kill -0 $child && kill -KILL $COPROC_PID
                # Until it is gone, or only its parent is to be told.
                while state=$(ps -o stat= -p $child) && [ "${state#Z}" = "$state" ]; do :; done
                echo ended
                """, ExternalProgram.built("KCTerminalProgram"),
            ], environment: ["PATH": "/usr/bin:/bin"])
        #expect(outcome.text == "ended\n" && outcome.status == 0, "\(outcome.errorText)")
    }

    @Test("A program has the default signals, but for those that were ignored when this one started")
    func signals() throws {
        var bytes: [UInt8] = []
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        let ending = try shell("exec cat /proc/self/status").run { piece in
            bytes += piece.indices.map { piece[$0] }
        }
        var masks: [Substring: UInt64] = [:]
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        for line in lines where line.hasPrefix("Sig") { masks[line.prefix(6)] = UInt64(line.dropFirst(8), radix: 16) }
        #expect(ending.status == 0 && masks["SigBlk"] == 0 && masks["SigCgt"] == 0)
        let ignored = try #require(masks["SigIgn"])
        for signal in [SIGPIPE, SIGXFSZ] { #expect(ignored >> UInt64(signal - 1) & 1 == 0) }
    }

    @Test("A program that is not there is not started")
    func missing() {
        let program = ChildProgram(path: "/none/rclone", arguments: [], environment: [:])
        #expect(throws: ChildProgram.Failure.notStarted(ENOENT)) { try program.run { _ in } }
    }
}
