internal import KeychainModel

/// Returns a number with its noun, as in "1 item" and "2 items".
func counted(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a number of bytes in a suitable unit, with one decimal: "17 B", "1.5 KiB".
func byteCount(_ count: UInt64) -> String {
    if count < 1024 { return "\(count) B" }
    var tenths = count * 10 / 1024
    for unit in ["KiB", "MiB", "GiB"] {
        if tenths < 10_240 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
        tenths /= 1024
    }
    return "\(tenths / 10).\(tenths % 10) TiB"
}

extension Timestamp {
    /// The day in UTC, as in `2026-03-01`.
    var day: String { String(description.prefix(10)) }

    /// The day and the time in UTC, to the second, as in `2026-03-01 09:30:00 UTC`.
    var moment: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }
}

/// Returns a duration as text, as in "40 s" and "3 min".
func duration(seconds: Int) -> String {
    seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
}
