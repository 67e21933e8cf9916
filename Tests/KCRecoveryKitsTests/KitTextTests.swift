import KCAgeEncryption
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCRecoveryKits

@Suite("The key of a recovery kit, printed and typed")
struct KitTextTests {
    // The identity whose 32 bytes are 0, 1, 2, ….
    private static let key = "AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG"

    private func identity(_ text: String = key) throws -> NativeIdentity {
        try #require(try NativeIdentity.parse(text.utf8.span))
    }

    /// The printed lines, without line feeds.
    private func lines() throws -> [String] {
        let text = try KitText.lines(of: identity())
        return String(decoding: text.bytesForTest(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Types lines until one is wrong.
    private func type(_ lines: [String]) throws -> (problem: KitEntry.Problem?, recipient: NativeRecipient?) {
        var entry = KitEntry()
        for line in lines {
            let answer = entry.take(SecretBytes(copying: Array(line.utf8)))
            if case .problem(let problem) = answer { return (problem, nil) }
        }
        guard entry.nextLine == nil, case .identity(let identity) = try entry.finish(known: []) else {
            return (nil, nil)
        }
        return (nil, identity.recipient)
    }

    @Test("The key stands in four numbered lines, whose check characters sha256sum computes too", .waitsForPrograms)
    func printed() throws {
        let lines = try lines()
        #expect(lines.count == 4)
        var key = ""
        for (index, line) in lines.enumerated() {
            let words = line.split(separator: " ").map(String.init)
            let characters = words[1..<(words.count - 1)].joined()
            #expect(words[0] == "\(index + 1)" && words.dropFirst().dropLast().allSatisfy { $0.count <= 4 })
            let sum = try ExternalProgram.run("/usr/bin/sha256sum", [], input: Array("\(index + 1)\(characters)".utf8))
            let first = try #require(UInt8(String(decoding: sum.output.prefix(2), as: UTF8.self), radix: 16))
            let alphabet = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
            #expect(words.last == String(alphabet[Int(first >> 3)]))
            key += characters
        }
        #expect("AGE-SECRET-KEY-1" + key == Self.key)
    }

    @Test(
        "What is printed can be typed in small letters, without blanks, with dashes, with numbers and with its beginning",
        arguments: [
            { $0 }, { $0.lowercased() }, { $0.replacing(" ", with: "") }, { $0.replacing(" ", with: "-") },
            { String($0.dropFirst(4)) }, { $0 + " \r" },
        ] as [@Sendable (String) -> String])
    func typed(_ change: @Sendable (String) -> String) throws {
        let lines = try lines().map(change)
        #expect(try type(lines).recipient == identity().recipient)
    }

    @Test("The beginning may be typed, and a scanner may give the whole key at once")
    func whole() throws {
        let lines = try lines()
        let first = "AGE-SECRET-KEY-1 " + lines[0].dropFirst(6)
        #expect(try type([first] + lines.dropFirst()).recipient == identity().recipient)
        #expect(try type(["AGE-SECRET-KEY-1"] + lines).recipient == identity().recipient)
        #expect(try type([Self.key]).recipient == identity().recipient)
        #expect(try type([String(Self.key.dropFirst(16))]).recipient == identity().recipient)
    }

    @Test("No wrong character gives another key: its line is named, or the whole is refused")
    func wrongCharacters() throws {
        let lines: [String] = try lines().map { String($0.dropFirst(4).filter { $0 != " " }) }
        var named = 0
        var refused = 0
        for (number, line) in lines.enumerated() {
            for offset in 0..<line.count {
                for other in "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" {
                    var characters = Array(line)
                    if characters[offset] == other { continue }
                    characters[offset] = other
                    var typed = lines
                    typed[number] = String(characters)
                    let result = try type(typed)
                    #expect(result.recipient == nil)
                    if result.problem == .check { named += 1 } else { refused += 1 }
                }
            }
        }
        // 58 characters of the key and 4 of the checks, each with 31 others.
        #expect(named + refused == 62 * 31 && refused < named / 20)
    }

    @Test("Letters that no kit has are named with what they look like, and other mistakes with what is wrong")
    func problems() throws {
        var first = Array(try lines()[0].dropFirst(4).filter { $0 != " " })
        #expect(try type([String(first.dropLast())]).problem == .length(16, wanted: 17))
        #expect(try type([""]).problem == .length(0, wanted: 17))
        #expect(try type([String(first) + "QQ"]).problem == .length(19, wanted: 17))
        for (typed, meant) in [("O", "0"), ("I", "L"), ("1", "L"), ("B", "8")] as [(Character, Character)] {
            first[2] = typed
            #expect(try type([String(first)]).problem == .lookalike(typed, of: meant, offset: 3))
        }
        first[2] = "é"
        #expect(try type([String(first)]).problem == .character(offset: 3))
    }

    @Test("A whole key that is wrong is refused at its end")
    func wholeWrong() throws {
        #expect(try type([String(Self.key.dropLast()) + (Self.key.hasSuffix("Q") ? "P" : "Q")]).recipient == nil)
    }
}
