import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCSecretShares

@Suite("Secrets split into shares")
struct SecretSharingTests {
    private func secret(_ seed: UInt8 = 7, count: Int = 32) -> SecretBytes {
        SecretBytes(copying: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) ^ seed })
    }

    /// The shares with these indices, combined.
    private func combined(_ shares: [SecretShare], _ indices: [Int]) throws -> [UInt8] {
        try SecretSharing.combine(indices.map { shares[$0] }).bytesForTest()
    }

    @Test("All 45 public vectors give the secret that they name, or are refused")
    func vectors() throws {
        let data = try Data(
            contentsOf: Project.folder.appending(path: "Tests/KCSecretSharesTests/Vectors/vectors.json"))
        let vectors = try #require(try JSONSerialization.jsonObject(with: data) as? [[Any]])
        #expect(vectors.count == 45)
        var given = 0
        for vector in vectors {
            let name = try #require(vector[0] as? String)
            let words = try #require(vector[1] as? [String])
            let expected = try #require(vector[2] as? String)
            let passphrase = SecretBytes(copying: Array("TREZOR".utf8))
            if expected.isEmpty {
                #expect(throws: (any Error).self, "\(name)") {
                    _ = try SecretSharing.combine(words.map { try SecretShare(text: $0) }, passphrase: passphrase)
                }
                continue
            }
            let secret = try SecretSharing.combine(words.map { try SecretShare(text: $0) }, passphrase: passphrase)
            #expect(Hexadecimal.encode(secret.bytesForTest()) == expected, "\(name)")
            for text in words { #expect(try SecretShare(text: text).text == text) }
            given += 1
        }
        #expect(given == 15)
    }

    @Test("Any two of three shares give the secret, one or three do not")
    func twoOfThree() throws {
        let shares = try SecretSharing.split(secret(), threshold: 2, count: 3)
        for indices in [[0, 1], [0, 2], [1, 2], [2, 0]] {
            #expect(try combined(shares, indices) == secret().bytesForTest())
        }
        #expect(throws: SharingFailure.count) { try combined(shares, [1]) }
        #expect(throws: SharingFailure.count) { try combined(shares, [0, 1, 2]) }
        #expect(throws: SharingFailure.twice) { try combined(shares, [1, 1]) }
        #expect(throws: SharingFailure.count) { _ = try SecretSharing.combine([]) }
    }

    @Test(
        "Every number of shares up to 16 works, with any of them, and their words have 33 for 32 bytes",
        arguments: [(2, 2), (3, 5), (5, 5), (8, 16), (16, 16)])
    func schemes(threshold: Int, count: Int) throws {
        let shares = try SecretSharing.split(secret(3), threshold: threshold, count: count)
        #expect(shares.count == count && Set(shares.map(\.setName)).count == 1)
        for share in shares {
            #expect(share.text.split(separator: " ").count == SecretShare.usualWordCount)
            #expect(try SecretShare(text: share.text).text == share.text)
        }
        var random = SeededRandom(seed: 1)
        for _ in 0..<3 {
            let some = Array((0..<count).shuffled(using: &random).prefix(threshold))
            #expect(try combined(shares, some) == secret(3).bytesForTest())
        }
    }

    @Test("Shares of two secrets do not go together, and a wrong value is noticed")
    func mixed() throws {
        let first = try SecretSharing.split(secret(1), threshold: 2, count: 2)
        let second = try SecretSharing.split(secret(2), threshold: 2, count: 2)
        #expect(throws: SharingFailure.mixed) { _ = try SecretSharing.combine([first[0], second[1]]) }
        // Of the same set by name, as if somebody had made it up.
        let forged = SecretShare(
            first[0].family, groupIndex: 0, memberIndex: 1, memberThreshold: 2, value: second[1].value.copy())
        #expect(throws: SharingFailure.digest) { _ = try SecretSharing.combine([first[0], forged]) }
    }

    @Test("Two splits of one secret have nothing in common, and a share is not the secret")
    func random() throws {
        let splits = try (0..<2).map { _ in try SecretSharing.split(secret(), threshold: 2, count: 2) }
        #expect(splits[0][0].text != splits[1][0].text)
        for share in splits.joined() { #expect(share.value.bytesForTest() != secret().bytesForTest()) }
    }

    @Test("The field has AES's multiplication, and each element but 0 an inverse")
    func field() {
        // FIPS 197, 4.2.
        #expect(GaloisField.multiply(0x57, 0x83) == 0xc1 && GaloisField.multiply(0x57, 0x13) == 0xfe)
        for element in UInt8(1)...255 {
            #expect(GaloisField.multiply(element, GaloisField.inverse(element)) == 1)
        }
        #expect(GaloisField.multiply(0, 0x57) == 0)
    }

    @Test("Each word is found by itself and by its first four letters, and nothing else is")
    func words() {
        for number in UInt16(0)..<1_024 {
            let word = ShareWords.publicWord(number)
            #expect(wordNumber(word) == number)
            #expect(wordNumber(word.prefix(4)) == number)
        }
        #expect(ShareWords.publicWord(0) == "academic" && ShareWords.publicWord(1_023) == "zero")
        for text in ["", "aca", "acadx", "academicx", "academics", "aaaa", "zerox", "Academic", "????"] {
            #expect(wordNumber(text) == nil, "\(text)")
        }
    }

    @Test("One, two or three wrong words and swapped neighbors are always noticed")
    func noticed() throws {
        var random = SeededRandom(seed: 2)
        let shares = try SecretSharing.split(secret(), threshold: 2, count: 3)
        for round in 0..<2_000 {
            var words = shares[round % 3].words
            for _ in 0...(round % 3) {
                words[Int.random(in: 0..<33, using: &random)] ^= UInt16.random(in: 1..<1_024, using: &random)
            }
            let right = shares[round % 3].words
            if (0..<33).allSatisfy({ words[$0] == right[$0] }) { continue }
            do throws(ShareProblem) {
                _ = try SecretShare(words)
                Issue.record("\(round % 3 + 1) wrong words are not noticed")
            } catch {
                #expect(error == .checksum)
            }
        }
    }

    /// True if what is found for `typed` is `right`; nil if nothing is found.
    private func finds(_ right: borrowing WordNumbers, in typed: borrowing WordNumbers, without illegible: [Int] = [])
        -> Bool?
    {
        guard let found = ShareRepair.repaired(typed, illegible: illegible) else { return nil }
        return (0..<33).allSatisfy { found[$0] == right[$0] }
    }

    @Test("A single wrong word, two neighbors that were swapped, and two illegible words are found")
    func repaired() throws {
        var random = SeededRandom(seed: 3)
        let right = try SecretSharing.split(secret(), threshold: 2, count: 2)[0].words
        for index in 0..<33 {
            var wrong = right.copy()
            wrong[index] ^= UInt16.random(in: 1..<1_024, using: &random)
            let isFound = finds(right, in: wrong)
            #expect(isFound == true, "\(index)")
            var blank = right.copy()
            let other = (index + 1 + Int.random(in: 0..<32, using: &random)) % 33
            blank[index] = 0
            blank[other] = 0
            let areFound = finds(right, in: blank, without: [index, other])
            #expect(areFound == true, "\(index), \(other)")
            guard index < 32, right[index] != right[index + 1] else { continue }
            var swapped = right.copy()
            swapped[index] = right[index + 1]
            swapped[index + 1] = right[index]
            let isSwapFound = finds(right, in: swapped)
            #expect(isSwapFound == true, "\(index)")
        }
    }

    @Test("What two wrong words nearly are is not made up")
    func notMadeUp() throws {
        var random = SeededRandom(seed: 4)
        let right = try SecretSharing.split(secret(), threshold: 2, count: 2)[0].words
        for _ in 0..<20 {
            var wrong = right.copy()
            let first = Int.random(in: 0..<31, using: &random)
            wrong[first] ^= UInt16.random(in: 1..<1_024, using: &random)
            wrong[first + 2] ^= UInt16.random(in: 1..<1_024, using: &random)
            let isFound = finds(right, in: wrong)
            #expect(isFound == nil)
        }
    }
}
