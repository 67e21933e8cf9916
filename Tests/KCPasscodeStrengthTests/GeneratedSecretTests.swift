import KCTestSupport
import Testing

@testable import KCPasscodeStrength

@Suite("Secrets that are made up")
struct GeneratedSecretTests {
    @Test("A generated passphrase has 140 bits and no characters that are easily confused")
    func madeUpPassphrases() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 {
            let text = try GeneratedPassphrase.make().bytesForTest()
            #expect(
                String(decoding: text, as: UTF8.self).wholeMatch(of: /([0-9a-hjkmnp-tv-z]{4}-){6}[0-9a-hjkmnp-tv-z]{4}/)
                    != nil)
            seen.insert(text)
        }
        #expect(seen.count == 100)
    }

    @Test("A generated password has the wanted length, of characters that a double click selects")
    func passwords() throws {
        for length in [GeneratedPassword.defaultLength, 12, 256] {
            let text = String(decoding: try GeneratedPassword.make(length: length).bytesForTest(), as: UTF8.self)
            #expect(text.utf8.count == length && text.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil)
        }
    }
}
