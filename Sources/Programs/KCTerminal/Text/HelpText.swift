package import ArgumentParser
internal import KCReportPages
internal import KCReportText

/// Help as this program shows it, made of the parser's.
package struct HelpText {
    private static let usage = "USAGE: "
    private static let options = "OPTIONS:"

    private let root: any ParsableCommand.Type
    private var lines: [String]

    /// The help for one width; `text` is the parser's.
    ///
    /// - Parameters:
    ///   - root: the command at the top.
    ///   - showsAll: true to list the options that few people need too.
    package init(_ text: String, of root: any ParsableCommand.Type, width: Int, showsAll: Bool) {
        self.root = root
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if let verb { group(by: verb, showsAll: showsAll) }
        lines = lines.flatMap { Self.broken(Self.untitled($0), at: width) }
    }

    /// The text, with a line feed at its end.
    package var text: String { lines.joined(separator: "\n") + "\n" }

    /// The verb that the help is about; nil for a group of verbs.
    private var verb: (any Verb.Type)? {
        guard let usage = lines.first(where: { $0.hasPrefix(Self.usage) }) else { return nil }
        let words = usage.dropFirst(Self.usage.count).split(separator: " ").dropFirst()
        return CommandPath(of: root, words.map(String.init)).command as? any Verb.Type
    }

    /// Lists the options under titles, those that most people need first.
    ///
    /// The parser has titles for groups of declarations, but one declaration serves several verbs, which differ in what
    /// most people need.
    private mutating func group(by verb: any Verb.Type, showsAll: Bool) {
        guard let start = lines.firstIndex(of: Self.options) else { return }
        let end = lines[start...].firstIndex(of: "") ?? lines.endIndex
        var main: [OptionName: [String]] = [:]
        var titled: [OptionTitle: [String]] = [:]
        var rest: [String] = []
        var hidden = 0
        let shown = showsAll ? nil : verb.otherOptions
        // An entry begins with the option; its other lines are indented further.
        var entry: [String] = []
        for line in lines[(start + 1)..<end] + [""] {
            if line.hasPrefix("   ") {
                entry.append(line)
                continue
            }
            switch Self.option(of: entry) {
            case let option? where verb.mainOptions.contains(option): main[option] = entry
            case let option? where shown?.contains(option) == false: hidden += 1
            case let option?: titled[verb.title(of: option), default: []] += entry
            case nil: rest += entry
            }
            entry = [line]
        }
        titled[.main] = verb.mainOptions.flatMap { main[$0] ?? [] }
        var grouped: [String] = []
        for title in OptionTitle.allCases {
            guard let entries = titled[title], !entries.isEmpty else { continue }
            grouped += [title.rawValue + ":"] + entries + [""]
        }
        if hidden > 0 { rest.append("  --help-hidden           Show \(hidden) more options, which few people need.") }
        lines.replaceSubrange(start..<end, with: grouped + [Self.options] + rest)
    }

    /// Returns the option that an entry is about; nil for those of the parser, such as help.
    private static func option(of entry: [String]) -> OptionName? {
        guard let name = entry.first?.firstMatch(of: /^  (?:-\w, )?--([a-z-]+)/) else { return nil }
        return OptionName(rawValue: String(name.1))
    }

    /// Returns the title of a group of verbs without the parser's word for them; other lines as they are.
    private static func untitled(_ line: String) -> String {
        let title = " SUBCOMMANDS:"
        return line.hasSuffix(title) && line.count > title.count ? String(line.dropLast(title.count)) + ":" : line
    }

    /// Breaks a usage that is too wide between its options, which the parser prints on one line.
    private static func broken(_ line: String, at width: Int) -> [String] {
        guard line.hasPrefix(usage), line.count > width else { return [line] }
        var broken: [String] = []
        for (index, part) in line.split(separator: " [").enumerated() {
            let word = index == 0 ? String(part) : "[" + part
            if let last = broken.last, last.count + 1 + word.count <= width {
                broken[broken.count - 1] += " " + word
            } else {
                broken.append(index == 0 ? word : String(repeating: " ", count: usage.count) + word)
            }
        }
        return broken
    }
}
