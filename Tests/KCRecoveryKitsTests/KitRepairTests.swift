import KCAgeEncryption
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCRecoveryKits

@Suite("What a wrong or illegible kit may have to be")
struct KitRepairTests {
    private static let alphabet = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
    private let identity: NativeIdentity
    /// The lines as they are typed, with their check characters and without numbers and blanks.
    private let lines: [[Character]]

    init() throws {
        // The identity whose 32 bytes are 0, 1, 2, ….
        identity = try #require(try NativeIdentity.of(SecretBytes(copying: 0..<32), .x25519))
        let text = String(decoding: KitText.lines(of: identity).bytesForTest(), as: UTF8.self)
        lines = text.split(separator: "\n").map { Array($0.dropFirst(4).filter { $0 != " " }) }
    }

    private enum Reading: Equatable { case right, repaired([Int]), other, nothing }

    /// Types lines, those that do not fit twice.
    private func type(_ lines: [[Character]], known: [NativeRecipient] = []) throws -> Reading {
        var entry = KitEntry()
        for line in lines {
            let typed = SecretBytes(copying: Array(String(line).utf8))
            if case .problem(let problem) = entry.take(typed) {
                #expect(problem == .check)
                #expect(entry.take(typed) == .doubtful)
            }
        }
        switch try entry.finish(known: known) {
        case .identity(let found): return found.recipient == identity.recipient ? .right : .other
        case .repaired(let found, let lines):
            return found.recipient == identity.recipient ? .repaired(lines) : .other
        case .nothing: return .nothing
        }
    }

    @Test("One wrong character anywhere is found, and so are two neighbors that were swapped")
    func single() throws {
        var random = SeededRandom(seed: 5)
        for (number, line) in lines.enumerated() {
            for position in line.indices {
                var typed = lines
                let letter = try #require(Self.alphabet.randomElement(using: &random))
                if letter != line[position] {
                    typed[number][position] = letter
                    #expect(try type(typed) == .repaired([number + 1]), "line \(number + 1), \(position + 1)")
                }
                guard position + 1 < line.count, line[position] != line[position + 1] else { continue }
                typed = lines
                typed[number].swapAt(position, position + 1)
                #expect(try type(typed) == .repaired([number + 1]), "swap in line \(number + 1), \(position + 1)")
            }
        }
    }

    @Test("A mistake that its check character misses is found too")
    func missed() throws {
        var found = 0
        for position in 0..<16 {
            for letter in Self.alphabet where letter != lines[0][position] {
                var typed = lines
                typed[0][position] = letter
                let line = SecretBytes(copying: Array(String(typed[0]).utf8))
                guard line.withBytes({ KitText.hasCheck($0, number: 1) }) else { continue }
                #expect(try type(typed) == .repaired([1]))
                found += 1
            }
        }
        #expect(found > 5)
    }

    @Test("A mistake in each of the four lines is found")
    func each() throws {
        var random = SeededRandom(seed: 6)
        for _ in 0..<5 {
            var typed = lines
            for number in 0..<4 {
                let position = Int.random(in: 0..<typed[number].count, using: &random)
                typed[number][position] = try #require(
                    Self.alphabet.filter { $0 != typed[number][position] }.randomElement(using: &random))
            }
            #expect(try type(typed, known: [identity.recipient]) == .repaired([1, 2, 3, 4]))
        }
    }

    @Test("One or two illegible characters in a line are found, also that at its end")
    func illegible() throws {
        for number in 0..<4 {
            for positions in [[0], [5, 6], [lines[number].count - 1], [2, lines[number].count - 1]] {
                var typed = lines
                for position in positions { typed[number][position] = "?" }
                #expect(try type(typed) == .repaired([number + 1]), "\(number) \(positions)")
            }
        }
        var typed = lines
        for number in 0..<4 { typed[number][number] = "?" }
        #expect(try type(typed) == .repaired([1, 2, 3, 4]))
        // Eight in all.
        for number in 0..<4 { typed[number][number + 4] = "?" }
        #expect(try type(typed) == .repaired([1, 2, 3, 4]))
        // A line lacks a character, another one is wrong.
        typed = lines
        typed[0][3] = "?"
        typed[2].swapAt(1, 2)
        if lines[2][1] != lines[2][2] { #expect(try type(typed) == .repaired([1, 3])) }
        var entry = KitEntry()
        #expect(entry.take(SecretBytes(copying: Array("???YQCYQ5RQWZQFPQ".utf8))) == .problem(.illegible(3)))
    }

    @Test("Two wrong characters in a line are no key, and nothing is made up for them")
    func tooMuch() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<40 {
            var typed = lines
            let number = Int.random(in: 0..<4, using: &random)
            for position in [1, 4, 7] {
                typed[number][position] = try #require(
                    Self.alphabet.filter { $0 != typed[number][position] }.randomElement(using: &random))
            }
            #expect(try type(typed) == .nothing)
        }
    }

    @Test("A line is doubted only if it comes again as it was")
    func again() throws {
        var wrong = lines[0]
        wrong.swapAt(0, 3)
        var other = lines[0]
        other.swapAt(4, 8)
        var entry = KitEntry()
        func take(_ line: [Character]) -> KitEntry.Answer {
            entry.take(SecretBytes(copying: Array(String(line).utf8)))
        }
        #expect(take(wrong) == .problem(.check) && take(other) == .problem(.check))
        #expect(take(wrong) == .problem(.check) && take(wrong) == .doubtful)
        #expect(take(lines[1]) == .taken)
    }
}
