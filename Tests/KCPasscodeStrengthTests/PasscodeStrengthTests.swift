import KCByteStreams
import KCTestSupport
import Testing

@testable import KCPasscodeStrength

@Suite struct PasscodeStrengthTests {
    private func strength(_ passcode: String, knowing words: [String] = []) throws -> PasscodeStrength {
        try PasscodeStrength(judging: SecretBytes(copying: passcode.utf8), knowing: words)
    }

    private func strength(_ bytes: [UInt8]) throws -> PasscodeStrength {
        try PasscodeStrength(judging: SecretBytes(copying: bytes), knowing: [])
    }

    @Test("A passcode that is harder to guess gets more bits")
    func order() throws {
        let rising = [
            "password", "P4ssw0rd", "tulip1987", "correct horse", "correct horse battery staple",
            "kV7#pw-9Lx2!qRt5zB8&",
        ]
        let bits = try rising.map { try strength($0).bits }
        #expect(bits == bits.sorted() && Set(bits).count == bits.count, "\(bits)")
    }

    @Test(
        "Scores follow the scale of zxcvbn's authors",
        arguments: [
            ("", 0), ("password", 0), ("123456", 0), ("letmein", 0),
            ("correct horse battery staple", 4), ("kV7#pw-9Lx2!qRt5zB8&", 4),
        ])
    func scores(passcode: String, score: Int) throws {
        #expect(try strength(passcode).score == score)
    }

    @Test("The score increases at 10^3, 10^6, 10^8 and 10^10 guesses")
    func steps() throws {
        let seen = try (1...40).map { try strength(String("zQ7kVx3Jp9Wm5Rt8Lb2NcDf6Gh4Ks1MvYtBqXwPzRjLn".prefix($0))) }
        for strength in seen {
            let expected = [9.9658, 19.9316, 26.5754, 33.2193].count { strength.bits >= $0 }
            #expect(strength.score == expected, "\(strength.bits)")
        }
        #expect(Set(seen.map(\.score)) == [0, 1, 2, 3, 4])
    }

    @Test(
        "The reason describes the weakest part of the passcode",
        arguments: [
            ("", Reason.empty), ("kV7", .tooShort), ("password", .commonWord), ("p4ssw0rd", .disguisedWord),
            ("aaaaaaa", .repetition), ("abcdefghijk", .sequence), ("zxcvbghjkl", .keyboard), ("27.11.1987", .date),
            ("kV7#pw-9Lx2!qRt5zB8&", .unpredictable),
        ])
    func reasons(passcode: String, reason: Reason) throws {
        #expect(try strength(passcode).reason == reason.rawValue)
    }

    @Test("Known words make a passcode that contains them weak, regardless of case")
    func knownWords() throws {
        let unknown = try strength("Thessalonike7")
        let known = try strength("Thessalonike7", knowing: ["login", "THESSALONIKE"])
        #expect(known.bits < unknown.bits - 10)
        #expect(known.reason == Reason.knownWord.rawValue && unknown.reason != known.reason)
    }

    @Test("Words that cannot be names are ignored")
    func oddWords() throws {
        let odd = ["", "T", "Thes\0salonike", String(repeating: "w", count: 100_000)]
        #expect(try strength("Thessalonike7", knowing: odd) == strength("Thessalonike7"))
        let many = (0..<16).map { "name\($0)" }
        #expect(try strength("Thessalonike7", knowing: many + ["thessalonike"]) == strength("Thessalonike7"))
        #expect(try strength("Thessalonike7", knowing: odd + many.dropFirst() + ["thessalonike"]).bits < 20)
    }

    @Test("Bytes after a zero byte and invalid UTF-8 count")
    func wholePasscode() throws {
        let strong = Array("kV7#pw-9Lx2!qRt5zB8&".utf8)
        #expect(try strength(Array("password".utf8)).score == 0)
        #expect(try strength(Array("password".utf8) + [0] + strong).score == 4)
        #expect(try strength([0] + strong).score == 4)
        #expect(try strength([0xff, 0xc0] + strong).score == 4)
        #expect(try strength([0]).score == 0)
        #expect(try strength([0]).reason == Reason.tooShort.rawValue)
    }

    @Test("Bytes after the first 256 are ignored, and a long passcode is judged quickly")
    func long() throws {
        let random = SeededRandom(seed: 7)
        var generator = random
        let long = generator.bytes(PasscodeStrength.judgedLength)
        #expect(try strength(long) == strength(long + Array("password".utf8)))
        #expect(try strength([UInt8](repeating: 0x61, count: 1_000_000)).bits < 40)
    }

    @Test("Any bytes are judged without crashing, and every result is in range")
    func odd() throws {
        var random = SeededRandom(seed: 20_260_101)
        for count in 0..<400 {
            let strength = try strength(random.bytes(count))
            #expect((0...4).contains(strength.score) && strength.bits.isFinite && strength.bits >= 0)
        }
        for byte in UInt8.min ... .max {
            for count in [1, 2, 30, 256] {
                let strength = try strength([UInt8](repeating: byte, count: count))
                #expect((0...4).contains(strength.score) && strength.bits.isFinite && strength.bits >= 0)
            }
        }
    }

    @Test("No reason quotes the passcode")
    func quotesNothing() throws {
        for passcode in ["tulip", "Thessalonike", "aaaa", "2026", "zxcvbn"] {
            #expect(try Reason.allCases.map(\.rawValue).contains(strength(passcode).reason))
        }
    }

    @Test("The time to guess is described in words, from a second to centuries")
    func crackTimes() throws {
        #expect(try strength("").crackTime == "1 second")
        #expect(try strength("kV7#pw-9Lx2!qRt5zB8&").crackTime == "centuries")
        let told = try (1...20).map { try strength(String("zQ7kVx3Jp9Wm5Rt8Lb2N".prefix($0))).crackTime }
        #expect(told.allSatisfy { !$0.isEmpty && !$0.hasPrefix("0") })
        #expect(Set(told).count > 4, "\(told)")
    }
}
