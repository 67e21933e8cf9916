import KCByteStreams
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("The words of a command line")
struct ParsingTests {
    private let flags = [
        Flag("a", .value("x"), ""), Flag("b", .none, ""), Flag("c", .none, ""), Flag("w", .secret("x"), ""),
        Flag("T", .value("x"), "", isRepeatable: true),
    ]

    private func parse(_ words: String...) throws(Words.Objection) -> Words { try Words(words, flags: flags) }

    @Test("Flags can be clustered, and a value is attached or the next word")
    func forms() throws {
        let words = try parse("-a", "1", "-bc", "x")
        #expect(words.value("a") == "1")
        #expect(words.has("b") && words.has("c") && !words.has("w"))
        #expect(words.operands == ["x"])
        for other in [
            ["-a1", "-b", "-c", "x"], ["-bca1", "x"], ["-cba", "1", "x"], ["-c", "-b", "-a1", "--", "x"],
            ["-a0", "-bca1", "-b", "x"],
        ] {
            #expect(try Words(other, flags: flags) == words, "\(other)")
        }
    }

    @Test("The same flags in any order and clustering mean the same", arguments: 0..<200)
    func laws(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let plain = ["b", "c"].filter { _ in Bool.random(using: &random) }
        let value = ["1", "-x", "--", "", "a b"].randomElement(using: &random) ?? ""
        let operands = Array(["-", "y", "-b"].prefix(Int.random(in: 0...3, using: &random)))
        let expected = try Words(plain.map { "-" + $0 } + ["-a", value, "--"] + operands, flags: flags)

        var words: [String] = []
        var cluster = "-"
        for flag in (plain + ["a"]).shuffled(using: &random) {
            if flag == "a" {
                // An empty value cannot be attached.
                if value.isEmpty || Bool.random(using: &random) {
                    words += [cluster + "a", value]
                } else {
                    words.append(cluster + "a" + value)
                }
                cluster = "-"
            } else {
                cluster += flag
                if Bool.random(using: &random) {
                    words.append(cluster)
                    cluster = "-"
                }
            }
        }
        if cluster != "-" { words.append(cluster) }
        if operands.first.map({ $0 != "-" && $0.hasPrefix("-") }) == true || Bool.random(using: &random) {
            words.append("--")
        }
        #expect(try Words(words + operands, flags: flags) == expected, "\(words)")
    }

    @Test("The first word that is not a flag ends the flags, and so does --")
    func ends() throws {
        #expect(try parse("x", "-b").operands == ["x", "-b"])
        #expect(try parse("-b", "--", "-c").operands == ["-c"])
        #expect(try parse("-", "-c").operands == ["-", "-c"])
        #expect(try parse("-a", "--", "--", "y").value("a") == "--")
        let first = try Words(["file", "-b", "x"], flags: flags, operandFirst: true)
        #expect(first.has("b"))
        #expect(first.operands == ["file", "x"])
    }

    @Test("The last value of a flag counts, unless the flag collects a list")
    func repetition() throws {
        #expect(try parse("-a1", "-a", "2").values["a"] == ["2"])
        #expect(try parse("-T1", "-T", "2").values["T"] == ["1", "2"])
    }

    @Test("The flag of a secret prompts if it is the last word, and takes the next word otherwise")
    func secrets() throws {
        #expect(try parse("-bw").asked == ["w"])
        #expect(try parse("-bw").has("w"))
        #expect(try parse("-w", "x").value("w") == "x")
        #expect(try parse("-w", "x").asked == [])
        #expect(try parse("-wx", "-w").asked == ["w"])
        #expect(try parse("-wx", "-w").value("w") == nil)
    }

    @Test("An unknown flag and a missing value are refused")
    func objections() {
        #expect(throws: Words.Objection.unknownFlag("z")) { try parse("-bz") }
        #expect(throws: Words.Objection.unknownFlag("-")) { try parse("--long") }
        #expect(throws: Words.Objection.valueMissing("a")) { try parse("-ba") }
    }

    @Test("No command declares a letter twice, and every command parses its own help")
    func declarations() throws {
        for command in Command.all {
            let letters = command.flags.map(\.letter) + ["h"]
            #expect(Set(letters).count == letters.count, "\(command.name)")
            #expect(command.usage.contains("Usage: \(command.name) "))
            if !command.takesAllWords { #expect(try command.parse(["-h"]).has("h")) }
        }
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
    }

    @Test("A command is found by its name or by an unambiguous prefix")
    func abbreviations() {
        #expect(Command.named("dump-keychain")?.name == "dump-keychain")
        #expect(Command.named("dump")?.name == "dump-keychain")
        #expect(Command.named("list-keychain")?.name == "list-keychains")
        #expect(Command.named("delete") == nil)
        #expect(Command.named("") == nil)
        #expect(Command.named("dump-keychains") == nil)
    }

    @Test(
        "A line of interactive mode is split as in a shell",
        arguments: [
            ("", []), ("  a  b\tc ", ["a", "b", "c"]), ("'a b' \"c d\"", ["a b", "c d"]), ("a'b'\"c\"", ["abc"]),
            ("'' \"\"", ["", ""]), (#"a\ b \' \\"#, ["a b", "'", #"\"#]), (#""a\"b\\c\n""#, [#"a"b\c\n"#]),
            (#"'a\b'"#, [#"a\b"#]), ("'a", nil), ("\"a", nil), (#"a\"#, nil),
        ] as [(String, [String]?)])
    func shell(line: String, words: [String]?) {
        #expect((try? shellWords(SecretBytes(line.utf8.span))) == words)
    }

    @Test("Bytes that are not UTF-8 are refused, and a long word is one word")
    func shellBytes() throws {
        for bytes in [[0x61, 0x20, 0xe9], [0xc3, 0x20], [0x27, 0xff, 0x27], [0xed, 0xa0, 0x80]] as [[UInt8]] {
            #expect(throws: LineObjection.notUTF8) { try shellWords(SecretBytes(copying: bytes)) }
        }
        let long = String(repeating: "é", count: 500_000)
        #expect(try shellWords(SecretBytes("a \(long) b".utf8.span)) == ["a", long, "b"])
    }
}
