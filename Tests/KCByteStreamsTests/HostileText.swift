import KCTestSupport

/// Texts made of what shells, systemd, cron and parsers of lines treat specially, next to what Swift's characters hide.
enum HostileText {
    /// Pieces without control characters.
    static let pieces = [
        "'", "\"", "\\", "$", "`", "!", "%", "=", "~", "-", "#", ";", "&", "|", "*", "?", "{a,b}", "(", ")", "<", ">",
        ",", " ", "/", ":", "$HOME", "%n", "$(id)", "a", "n", "x41", "0", "K", "\u{212a}", "\u{301}", "\u{308}",
        "é", "e\u{301}", "각", "\u{1100}\u{1161}\u{11a8}", "\u{37e}", "\u{1fef}", "\u{202e}", "\u{2066}", "\u{200d}",
        "\u{85}", "\u{2028}", "\u{feff}", "\u{1f469}\u{200d}\u{1f4bb}",
    ]
    static let controls = ["\r", "\n", "\r\n", "\t", "\u{1}", "\u{1b}[2J", "\u{7f}", "\n\u{301}", "\r\u{301}"]

    /// Returns texts of up to eight pieces, the same ones each time.
    static func texts(_ count: Int, withControls: Bool = false) -> [String] {
        var random = SeededRandom(seed: withControls ? 2 : 1)
        let all = withControls ? pieces + controls + controls : pieces
        let single = all.map { $0 } + all.map { $0 + "\u{301}" } + all.map { "'" + $0 + "\u{301}; exit 9" }
        return single
            + (0..<count).map { _ in
                (0..<Int.random(in: 1...8, using: &random)).map { _ in all.randomElement(using: &random) ?? "" }
                    .joined()
            }
    }
}
