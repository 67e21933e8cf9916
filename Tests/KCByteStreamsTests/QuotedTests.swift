import KCByteStreams
import KCTestSupport
import Testing

@Suite("Text quoted for other programs", .waitsForPrograms)
struct QuotedTests {
    /// Returns the words that a shell passes to a command.
    private func words(_ shell: String, _ words: [String]) throws -> [String] {
        let home = try TemporaryFolder()
        let script = "printf '%s\\0' " + words.joined(separator: " ")
        let outcome = try ExternalProgram.run(
            shell, ["-c", script], environment: ["PATH": "/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8"])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func expectSame(_ found: [String], _ expected: [String]) {
        #expect(found.count == expected.count)
        for (one, other) in zip(found, expected) where one.exact != other.exact {
            Issue.record("\(other.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()) became \(one)")
        }
    }

    private static let shells = ["sh", "bash", "zsh", "fish"].filter { ExternalProgram.locate($0) != nil }

    @Test("Each shell reads back the text of a word", arguments: shells)
    func shellWords(shell: String) throws {
        let texts = HostileText.texts(600) + HostileText.texts(600, withControls: true) + ["", "-n", "=ls"]
        expectSame(try words(shell, texts.map(Quoted.shellWord)), texts)
    }

    @Test("Each shell computes the text of a word in ASCII", arguments: shells)
    func computedWords(shell: String) throws {
        let texts = HostileText.texts(100, withControls: true).filter { $0.utf8.last != UInt8(ascii: "\n") }
        let computed = try texts.map { try #require(Quoted.computedShellWord($0)) }
        #expect(computed.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7f).contains($0) } })
        expectSame(try words(shell, computed), texts)
        #expect(Quoted.computedShellWord("a\r\n") == nil)
    }

    @Test("Python's shlex splits words as they were joined", .enabled(if: ExternalProgram.locate("python3") != nil))
    func shlex() throws {
        let texts = HostileText.texts(600) + HostileText.texts(600, withControls: true) + [""]
        let outcome = try ExternalProgram.run(
            "python3",
            ["-c", "import shlex, sys; sys.stdout.write(''.join(w + '\\0' for w in shlex.split(sys.argv[1])))"]
                + [texts.map(Quoted.shellWord).joined(separator: " ")], environment: ["PATH": "/usr/bin:/bin"])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        expectSame(
            outcome.output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }, texts)
    }

    @Test(
        "What reaches a crontab runs as the words that were given, in each variant of cron", arguments: [true, false])
    func crontab(readsDoubledBackslash: Bool) throws {
        let texts = HostileText.texts(600).filter { !$0.exact.contains("\\") }
        let line = try Quoted.crontabCommand(["printf", "%s\\0".exact.replacing("\\0", with: "|||")] + texts)
        #expect(!line.exact.hasControlCharacter)
        // The command that do_command.c of cron makes of a line: everything before the first % without a backslash.
        var command: [UInt8] = []
        var isEscaped = false
        for byte in line.utf8 {
            if isEscaped, byte == UInt8(ascii: "%") || readsDoubledBackslash && byte == UInt8(ascii: "\\") {
                command.removeLast()
            } else if !isEscaped, byte == UInt8(ascii: "%") {
                break
            }
            command.append(byte)
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        let outcome = try ExternalProgram.run(
            "sh", ["-c", String(decoding: command, as: UTF8.self)], environment: ["PATH": "/usr/bin:/bin"])
        #expect(outcome.output == texts.flatMap { Array($0.utf8) + Array("|||".utf8) })
    }

    @Test("A control character does not reach a unit or a crontab, a backslash no crontab")
    func refused() throws {
        for control in HostileText.controls + ["\0"] {
            let text = "/mnt/a" + control + "ExecStartPre=/bin/id"
            #expect(throws: Quoted.Failure.controlCharacter(text)) { try Quoted.unitWord(text) }
            #expect(throws: Quoted.Failure.controlCharacter(text)) { try Quoted.unitValue(text) }
            #expect(throws: Quoted.Failure.controlCharacter(text)) { try Quoted.crontabCommand(["true", text]) }
        }
        #expect(throws: Quoted.Failure.backslash("a\\\u{301}")) { try Quoted.crontabCommand(["a\\\u{301}"]) }
    }

    @Test("systemd reads back paths", .enabled(if: ExternalProgram.locate("systemd-analyze") != nil))
    func unitWords() throws {
        let folder = try TemporaryFolder()
        // The program of a unit may not have a quotation mark or a backslash; other settings have both.
        let paths = HostileText.texts(100).map { "/nonexistent/" + $0.exact.replacing("/", with: "_") + "." }
        var files: [String] = []
        for (number, path) in paths.enumerated() {
            let isProgram = !path.utf8.contains { #"'"\"#.utf8.contains($0) }
            let word = try Quoted.unitWord(path)
            let unit = """
                [Service]
                Environment=WORD=\(word)
                ReadWritePaths=\(try Quoted.unitWord("-" + path)) \(word)
                ExecStart=\(isProgram ? word : "/bin/true") run \(word)

                """
            files.append(folder.path("t\(number).service"))
            try folder.write("t\(number).service", Array(unit.utf8))
        }
        let outcome = try ExternalProgram.run("systemd-analyze", ["verify", "--man=no"] + files)
        var complaints = Set(outcome.errorText.exact.split(separator: "\n").map(\.exact))
        for (number, path) in paths.enumerated() where !path.utf8.contains(where: { #"'"\"#.utf8.contains($0) }) {
            let start = "t\(number).service: Command \(path) is not executable: "
            let found = complaints.filter { $0.hasPrefix(start) }
            #expect(found.count == 1, "\(path)")
            complaints.subtract(found)
        }
        #expect(complaints == [], "\(complaints.prefix(5))")
    }

    @Test("A parser of Prometheus's text format reads back the label")
    func labels() {
        for text in HostileText.texts(600, withControls: true) {
            let line = Array("up{job=\"\(Quoted.metricLabel(text))\"} 1".utf8)
            var value: [UInt8] = []
            var position = 8
            while position < line.count, line[position] != UInt8(ascii: "\""), line[position] != UInt8(ascii: "\n") {
                if line[position] == UInt8(ascii: "\\") {
                    position += 1
                    value.append(line[position] == UInt8(ascii: "n") ? UInt8(ascii: "\n") : line[position])
                } else {
                    value.append(line[position])
                }
                position += 1
            }
            #expect(value == Array(text.utf8))
            #expect(line[position...].elementsEqual("\"} 1".utf8))
        }
    }

    @Test("Python's csv reads back fields", .enabled(if: ExternalProgram.locate("python3") != nil))
    func fields() throws {
        let texts = HostileText.texts(600, withControls: true)
        let file = texts.map { "\(Quoted.csvField($0)),\(Quoted.csvField("'" + $0))\r\n" }.joined()
        let script = """
            import csv, io, sys
            rows = csv.reader(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline=""), strict=True)
            sys.stdout.buffer.write("".join(cell + "\\0" for row in rows for cell in row).encode())
            """
        let outcome = try ExternalProgram.run(
            "python3", ["-c", script], input: Array(file.utf8), environment: ["PATH": "/usr/bin:/bin"])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        expectSame(
            outcome.output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }, texts.flatMap { [$0, "'" + $0] })
    }
}
