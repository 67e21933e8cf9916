internal import KCByteStreams

/// A line of a crontab that starts a job with nothing but variables before the program.
struct CronLine {
    /// The program, with a path or without; nil if only a shell knows it.
    let program: String?
    /// The folders in which programs are looked for; nil if only a shell knows them.
    let folders: [String]?

    /// The folders in which cron looks for programs if nothing is set (crontab(5)).
    static let usualFolders = ["/usr/bin", "/bin"]

    private static let blanks = " \t".utf8

    /// The lines of a crontab that start a job, without those that leave more to a shell.
    ///
    /// - Parameter system: where lines name the user as whom they run; nil for the user's own crontab.
    static func all(in text: String, starting job: String, ofSystem system: JobSurroundings? = nil) -> [CronLine] {
        var folders = usualFolders
        var lines: [CronLine] = []
        for line in text.exact.split(separator: "\n") {
            if let setting = setting(line) {
                folders = setting
            } else if JobStarter.starts(job, line), system?.isUser(JobStarter.user(ofCronLine: line)) ?? true,
                let found = CronLine(command(of: line, hasUser: system != nil), folders: folders)
            {
                lines.append(found)
            }
        }
        return lines
    }

    /// The folders that a line sets for the lines below it; nil for any other line.
    private static func setting(_ line: String) -> [String]? {
        let parts = line.exact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(bare)
        guard parts.count == 2, parts[0].exact == "PATH".exact else { return nil }
        // cron puts nothing in the place of variables.
        return parts[1].exact.split(separator: ":")
    }

    /// A text without the blanks around it, and the quotes around the rest.
    private static func bare(_ text: String) -> String {
        var bytes = Array(text.utf8.drop { blanks.contains($0) })
        while let last = bytes.last, blanks.contains(last) { bytes.removeLast() }
        if bytes.count > 1, let quote = bytes.first, "'\"".utf8.contains(quote), bytes.last == quote {
            bytes = Array(bytes.dropFirst().dropLast())
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The command of a line, after its times and the user.
    private static func command(of line: String, hasUser: Bool) -> String {
        var rest = Substring(line).utf8.drop { blanks.contains($0) }
        let times = rest.first == UInt8(ascii: "@") ? 1 : 5
        for _ in 0..<(hasUser ? times + 1 : times) {
            rest = rest.drop { !blanks.contains($0) }.drop { blanks.contains($0) }
        }
        return String(Substring(rest))
    }

    private init?(_ command: String, folders known: [String]) {
        guard let words = Self.words(of: command), let last = words.last, last.assignment == nil,
            last.text.exact.hasSuffix("kcbackup")
        else { return nil }
        var folders: [String]? = known
        for word in words.dropLast() {
            guard let (name, value) = word.assignment, name.exact == "PATH".exact else { continue }
            folders = word.isLiteral ? value.exact.split(separator: ":") : nil
        }
        program = last.isLiteral ? last.text : nil
        self.folders = folders
    }

    /// A word of a shell command, without its quotes.
    private struct Word {
        var bytes: [UInt8] = []
        /// False if a shell puts something else in its place.
        var isLiteral = true

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// Its parts, if it sets a variable.
        var assignment: (name: String, value: String)? {
            let parts = text.exact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, parts[0].exact.isASCIILettersAndDigits(or: "_") else {
                return nil
            }
            return (parts[0], parts[1])
        }
    }

    /// The words of a command up to the first that sets no variable; nil if a shell has to do more than read words.
    private static func words(of command: String) -> [Word]? {
        var words: [Word] = []
        var word: Word?
        var quote: UInt8?
        // cron takes this backslash away.
        for byte in command.exact.replacing("\\%", with: "%").utf8 {
            if quote == nil, blanks.contains(byte) {
                guard let ended = word else { continue }
                words.append(ended)
                word = nil
                if ended.assignment == nil { return words }
                continue
            }
            var current = word ?? Word()
            switch byte {
            case quote: quote = nil
            case UInt8(ascii: "'") where quote == nil, UInt8(ascii: "\"") where quote == nil: quote = byte
            default:
                if quote == nil, "\\`;&|<>()*?[{!#".utf8.contains(byte) { return nil }
                if quote == UInt8(ascii: "\""), "\\`".utf8.contains(byte) { return nil }
                if quote != UInt8(ascii: "'"), "$~".utf8.contains(byte) { current.isLiteral = false }
                current.bytes.append(byte)
            }
            word = current
        }
        guard quote == nil else { return nil }
        return words + (word.map { [$0] } ?? [])
    }
}
