import KeychainModel
import Testing

@Suite struct DisplayedTests {
    @Test(
        "what could mislead a reader or a terminal is escaped",
        arguments: [
            ("\u{1b}[2J", "\\u{1b}[2J"), ("a\nb\r\tc", "a\\u{a}b\\u{d}\\u{9}c"), ("\r\n", "\\u{d}\\u{a}"),
            ("\u{7f}\u{85}\u{9b}", "\\u{7f}\\u{85}\\u{9b}"), ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("\u{2066}\u{2069}\u{200f}\u{61c}", "\\u{2066}\\u{2069}\\u{200f}\\u{61c}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("\u{feff}x\u{ad}", "\\u{feff}x\\u{ad}"), ("a\u{a0}b", "a\\u{a0}b"), ("\u{3164}", "\\u{3164}"),
            ("\u{e0041}", "\\u{e0041}"), ("\u{e000}", "\\u{e000}"), ("\\u{1b}", "\\\\u{1b}"), ("\0", "\\u{0}"),
        ])
    func escaped(text: String, expected: String) {
        #expect(displayed(text) == expected)
    }

    @Test(
        "harmless text stays as it is",
        arguments: ["", "plain text", "Größe", "漢字", "שלום", "e\u{301}", "👩‍👩‍👧", "नी", "می‌خواهم", "{a} 'b' \"c\""])
    func harmless(text: String) {
        #expect(displayed(text) == text)
    }

    @Test("two different texts never look the same for want of an escape")
    func injective() {
        #expect(displayed("\u{1b}") != displayed("\\u{1b}"))
    }

    @Test("a long text is cut, and so is a tower of marks on one letter")
    func cut() {
        #expect(displayed("abcdef", limit: 3) == "abc…")
        #expect(displayed("abc", limit: 3) == "abc")
        let tower = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(displayed(tower).unicodeScalars.count <= 20)
    }
}
