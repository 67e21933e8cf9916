package import KCHomeFiles
package import KCKeychainModel

/// Returns a number with its noun, as in "1 item" and "2 items".
package func counted(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a noun with its article, as in "a key" and "an internet password".
package func withArticle(_ noun: String) -> String {
    let isVowel = noun.first.map { "aeiouAEIOU".contains($0) } ?? false
    return "\(isVowel ? "an" : "a") \(noun)"
}

/// Says how many items an archive lacks: files that were not followed, collections that were locked, damaged items.
///
/// An archive has their number alone, and not the reasons.
package func lackingWords(_ count: Int) -> String {
    "\(counted(count, "item")) \(count == 1 ? "is" : "are") not in the archive: left out, or not readable, when it was made"
}

/// Returns words as in "label", "label and port" and "label, port and path".
package func listed(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + last
}

/// Returns a number of bytes in a suitable unit, with one decimal: "17 B", "1.5 KiB".
package func byteCount(_ count: UInt64) -> String {
    if count < 1024 { return "\(count) B" }
    var tenths = count * 10 / 1024
    for unit in ["KiB", "MiB", "GiB"] {
        if tenths < 10_240 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
        tenths /= 1024
    }
    return "\(tenths / 10).\(tenths % 10) TiB"
}

/// Returns the number of bytes that a text of `byteCount` stands for, as far as it says; nil for another text.
package func bytes(ofCount text: String) -> UInt64? {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let unit = ["B", "KiB", "MiB", "GiB", "TiB"].firstIndex(of: String(parts[1])) else {
        return nil
    }
    let digits = parts[0].split(separator: ".")
    guard digits.count == (unit == 0 ? 1 : 2), let whole = UInt64(digits[0]), let tenths = UInt64(digits.last ?? "")
    else { return nil }
    return unit == 0 ? whole : (whole * 10 + tenths) << UInt64(10 * unit) / 10
}

/// Returns a duration as text, as in "40 s" and "3 min".
package func duration(seconds: Int) -> String {
    seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
}

/// The desktop keyring in a sentence, or one of its collections; an empty label means all of it.
package func desktopWords(collection label: String) -> String {
    label.isEmpty ? "the desktop keyring" : "collection \(quoted(label)) of the Secret Service"
}

extension HomeRoot {
    /// The files for use in a sentence.
    package var words: String {
        switch self {
        case .home: "the files of the home"
        case .credentials: "the credentials of systemd"
        }
    }

    /// A number of the files for use in a sentence.
    package func words(count: Int) -> String {
        switch self {
        case .home: "\(counted(count, "file")) of your home"
        case .credentials: "\(counted(count, "credential")) of systemd"
        }
    }
}

/// Returns how long ago a time was, as in "7 h" and "3 days".
package func age(_ time: Timestamp, at now: Timestamp) -> String {
    let seconds = now.seconds - time.seconds
    switch seconds {
    case ..<0: return "in the future"
    case ..<120: return "\(seconds) s"
    case ..<7_200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3_600) h"
    default: return "\(seconds / 86_400) days"
    }
}

/// Returns the plural of a kind's name: "entry without a password" becomes "entries without a password".
package func plural(_ kind: String) -> String {
    let end = [" without ", " with ", " of ", " in ", " that ", " for ", " beside "].compactMap {
        kind.firstRange(of: $0)?.lowerBound
    }
    .min()
    let noun = String(kind[..<(end ?? kind.endIndex)])
    let rest = kind[(end ?? kind.endIndex)...]
    let vowels = "aeiou"
    if noun.hasSuffix("y"), let before = noun.dropLast().last, !vowels.contains(before) {
        return noun.dropLast() + "ies" + rest
    }
    if ["s", "x", "ch", "sh"].contains(where: noun.hasSuffix) { return noun + "es" + rest }
    return noun + "s" + rest
}
