/// Text quoted for a program that reads it: a shell, systemd, cron, Prometheus, a reader of CSV.
///
/// All functions work on bytes, so a combining character does not hide the one before it.
package enum Quoted {
    /// Why text cannot be written for a program.
    package enum Failure: Error, Hashable, Sendable {
        /// A control character, which ends a line of a unit or a crontab.
        case controlCharacter(String)
        /// A backslash, which implementations of cron treat differently.
        case backslash(String)
    }

    /// Returns one word of a POSIX shell command; bash, zsh and fish read the same, also interactively.
    ///
    /// Words without special characters are unchanged, others are in double quotes. Characters that shells expand even
    /// there, `!` in some interactive ones, are in single quotes.
    ///
    /// - Precondition: the text has no NUL, which no argument can have.
    package static func shellWord(_ text: String) -> String {
        // Letters of other scripts are letters to a shell, too.
        let rest = text.unicodeScalars.filter { $0.isASCII || !$0.properties.isAlphabetic }
        if !text.isEmpty, rest.isEmpty || isPlain(String(rest)) { return text }
        let expanded = "!$`".utf8
        var word = ""
        var left = Substring(text).utf8
        while let first = left.first {
            let isExpanded = expanded.contains(first)
            let part = left.prefix { expanded.contains($0) == isExpanded }
            left = left[part.endIndex...]
            let letters = String(Substring(part))
            word += isExpanded ? "'" + letters + "'" : "\"" + escaped(letters, #"\""#) + "\""
        }
        return word.isEmpty ? "\"\"" : word
    }

    /// Returns one word of a POSIX shell command in ASCII without control characters; the shell computes the bytes.
    ///
    /// - Returns: nil for text that ends in a line feed, which command substitution would remove.
    package static func computedShellWord(_ text: String) -> String? {
        guard text.utf8.last != UInt8(ascii: "\n") else { return nil }
        var word = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            // At the start, printf would take a hyphen for the beginning of an option.
            let isOption = word.isEmpty && scalar == "-"
            if !isOption, String(scalar).exact.isASCIILettersAndDigits(or: "/._-+:@, ") {
                word.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 8)
                word += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }
        return "\"$(printf '" + word + "')\""
    }

    /// Returns one word of a setting in a systemd unit (systemd.syntax(7)), with `%` doubled.
    ///
    /// In paths, also in that of the program, `$` has no meaning.
    package static func unitWord(_ text: String) throws(Failure) -> String {
        let value = try unitValue(text)
        return isPlain(text) ? value : "\"" + escaped(value, #"\""#) + "\""
    }

    /// Returns the rest of a line in a systemd unit, where quotes have no meaning, with `%` doubled.
    package static func unitValue(_ text: String) throws(Failure) -> String {
        guard !text.exact.hasControlCharacter else { throw .controlCharacter(text) }
        return text.exact.replacing("%", with: "%%")
    }

    /// Returns a shell command made of words as the command of a crontab(5) line.
    package static func crontabCommand(_ words: [String]) throws(Failure) -> String {
        var quoted: [String] = []
        for word in words {
            guard !word.exact.hasControlCharacter else { throw .controlCharacter(word) }
            guard !word.exact.contains("\\") else { throw .backslash(word) }
            let word = isPlain(word) ? word : "'" + word.exact.replacing("'", with: #"'"'"'"#) + "'"
            quoted.append(word.exact.replacing("%", with: "\\%"))
        }
        return quoted.joined(separator: " ")
    }

    /// Returns a label's value in Prometheus's text format, without the quotes around it.
    package static func metricLabel(_ text: String) -> String {
        escaped(text, #"\""#).exact.replacing("\n", with: "\\n")
    }

    /// Returns a field of a CSV file (RFC 4180).
    package static func csvField(_ text: String) -> String {
        let isPlain = !text.utf8.contains { ",\"\r\n".utf8.contains($0) }
        return isPlain ? text : "\"" + text.exact.replacing("\"", with: "\"\"") + "\""
    }

    /// True for a word that no shell and no unit changes.
    private static func isPlain(_ text: String) -> Bool {
        // zsh expands `=` at the start of a word; a `~` is not in the list.
        !text.isEmpty && text.utf8.first != UInt8(ascii: "=") && text.exact.isASCIILettersAndDigits(or: "-._/:@%+,=")
    }

    /// Returns text with a backslash before each of the ASCII characters in `special`.
    private static func escaped(_ text: String, _ special: StaticString) -> String {
        let special = special.description.utf8
        var result: [UInt8] = []
        for byte in text.utf8 {
            if special.contains(byte) { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
