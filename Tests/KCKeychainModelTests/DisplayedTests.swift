import KCKeychainModel
import Testing

@Suite struct DisplayedTests {
    @Test(
        "Text that could mislead a reader or a terminal is escaped",
        arguments: [
            ("\u{1b}[2J", "\\u{1b}[2J"), ("a\nb\r\tc", "a\\u{a}b\\u{d}\\u{9}c"), ("\r\n", "\\u{d}\\u{a}"),
            ("\u{7f}\u{85}\u{9b}", "\\u{7f}\\u{85}\\u{9b}"), ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("\u{2066}\u{2069}\u{200f}\u{61c}", "\\u{2066}\\u{2069}\\u{200f}\\u{61c}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("\u{feff}x\u{ad}", "\\u{feff}x\\u{ad}"), ("a\u{a0}b", "a\\u{a0}b"), ("\u{3164}", "\\u{3164}"),
            ("a\u{fe0f}", "a\\u{fe0f}"), ("7\u{fe0f}", "7\\u{fe0f}"), ("\u{fe0e}", "\\u{fe0e}"),
            ("😀\u{fe0f}", "😀\\u{fe0f}"), ("漢\u{e0100}", "漢\\u{e0100}"), ("漢\u{fe00}", "漢\\u{fe00}"),
            ("pay\u{200d}pal", "pay\\u{200d}pal"), ("pay\u{200c}pal", "pay\\u{200c}pal"),
            ("👩\u{200d}", "👩\\u{200d}"), ("\u{200d}👩", "\\u{200d}👩"), ("👩\u{200d}\u{200d}👧", "👩\\u{200d}\\u{200d}👧"),
            ("\u{645}\u{6cc}\u{200c}", "\u{645}\u{6cc}\\u{200c}"), ("1\u{200d}👩", "1\\u{200d}👩"),
            ("a\u{34f}b\u{2060}\u{2062}c", "a\\u{34f}b\\u{2060}\\u{2062}c"), ("\u{115f}\u{1160}", "\\u{115f}\\u{1160}"),
            ("\u{ffa0}\u{17b4}\u{180e}", "\\u{ffa0}\\u{17b4}\\u{180e}"), ("\u{2800}", "\\u{2800}"),
            ("🏴\u{e0067}\u{e007f}", "🏴\\u{e0067}\\u{e007f}"), ("😀\u{e0067}\u{e007f}", "😀\\u{e0067}\\u{e007f}"),
            ("\u{1d173}", "\\u{1d173}"), ("\u{e0041}", "\\u{e0041}"), ("\u{e000}", "\\u{e000}"),
            ("\\u{1b}", "\\\\u{1b}"), ("\0", "\\u{0}"),
        ])
    func escaped(text: String, expected: String) {
        #expect(displayed(text) == expected)
    }

    @Test(
        "Harmless text is shown unchanged",
        arguments: [
            "", "plain text", "Größe", "漢字", "שלום", "e\u{301}", "👩‍👩‍👧", "नी", "می‌خواهم", "❤️", "☺︎", "🏳️‍🌈", "👩🏽‍🚀", "❤️‍🔥", "1️⃣", "🇩🇪",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}", "क्\u{200d}ष", "ക്\u{200d}", "क्\u{200c}ष",
            "\u{1820}\u{180b}\u{1821}",
            "بَ\u{200c}ب", "{a} 'b' \"c\"",
        ])
    func harmless(text: String) {
        #expect(displayed(text) == text)
    }

    @Test("Escaping keeps different texts distinguishable")
    func injective() {
        #expect(displayed("\u{1b}") != displayed("\\u{1b}"))
    }

    @Test("A long text is truncated, and so is a long run of combining marks")
    func cut() {
        #expect(displayed("abcdef", limit: 3) == "abc…")
        #expect(displayed("abc", limit: 3) == "abc")
        let tower = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(displayed(tower).unicodeScalars.count <= 20)
    }
}

extension DisplayedTests {
    @Test("No default-ignorable character is shown next to a letter, a digit or a space")
    func ignorable() {
        let all = (UInt32(0)...0x10ffff).lazy.compactMap(Unicode.Scalar.init)
        let ignorable = all.filter { $0.properties.isDefaultIgnorableCodePoint }
        #expect(ignorable.count > 4_000)
        for (index, scalar) in ignorable.enumerated() {
            let text = ["a\(scalar)b", "7\(scalar) ", "\(scalar)", "漢\(scalar)字"][index % 4]
            #expect(!displayed(text).unicodeScalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
        }
    }
}
