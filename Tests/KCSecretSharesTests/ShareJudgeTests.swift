import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCSecretShares

@Suite("Shares, judged by another program", .waitsForPrograms)
struct ShareJudgeTests {
    /// A Python installation with the reference implementation.
    private static let judge = ExternalProgram.python(with: "shamir_mnemonic")

    private static let secret = [UInt8](0..<32)

    private func judged(_ script: String, _ input: String) throws -> String {
        let outcome = try ExternalProgram.run(
            try #require(Self.judge), ["-c", "import sys; from shamir_mnemonic import *\n" + script],
            input: Array(input.utf8))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text
    }

    @Test("It combines our shares", .enabled(if: judge != nil, "'make judges' installs it"), arguments: [2, 3, 5])
    func ours(threshold: Int) throws {
        let shares = try SecretSharing.split(SecretBytes(copying: Self.secret), threshold: threshold, count: 5)
        let lines = shares.suffix(threshold).map(\.text)
        let found = try judged(
            "print(combine_mnemonics(sys.stdin.read().splitlines()).hex())", lines.joined(separator: "\n"))
        #expect(found == Hexadecimal.encode(Self.secret) + "\n")
    }

    @Test("We combine its shares, stretched or not", .enabled(if: judge != nil, "'make judges' installs it"))
    func theirs() throws {
        for options in ["", ", extendable=False", ", iteration_exponent=0", ", iteration_exponent=3, extendable=False"]
        {
            let text = try judged(
                "print('\\n'.join(generate_mnemonics(1, [(3, 5)], bytes(range(32))\(options))[0][1:4]))", "")
            let shares = try text.split(separator: "\n").map { try SecretShare(text: String($0)) }
            #expect(shares.count == 3)
            #expect(try SecretSharing.combine(shares).bytesForTest() == Self.secret, "\(options)")
        }
    }
}
