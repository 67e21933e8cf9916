/// A command of the program; parsing, usage and manual are generated from this.
struct Command: Sendable {
    /// Its name.
    let name: String
    /// One sentence on what it does.
    let summary: String
    /// Its flags, in the order of the usage.
    let flags: [Flag]
    /// The operands after the flags, as in `[keychain...]`.
    let operands: String
    /// True if one operand comes before the flags.
    let operandFirst: Bool
    /// True if words that begin with a dash are operands, such as negative numbers.
    let takesAllWords: Bool
    /// Additional lines of the usage.
    let notes: [String]
    /// Runs the command.
    let run: @Sendable (Words, Session) throws -> ExitStatus

    init(
        _ name: String, _ summary: String, flags: [Flag] = [], operands: String = "", operandFirst: Bool = false,
        takesAllWords: Bool = false, notes: [String] = [],
        run: @escaping @Sendable (Words, Session) throws -> ExitStatus
    ) {
        self.name = name
        self.summary = summary
        self.flags = flags
        self.operands = operands
        self.operandFirst = operandFirst
        self.takesAllWords = takesAllWords
        self.notes = notes
        self.run = run
    }

    /// Every command shows its usage with `-h`.
    static let helpFlag = Flag("h", .none, "Show this usage")

    /// Parses the words after the name.
    ///
    /// - Throws: `Words.Objection`.
    func parse(_ words: some Collection<String>) throws(Words.Objection) -> Words {
        // The separator makes everything an operand.
        if takesAllWords, words.first != "-h" { return try Words(["--"] + words, flags: []) }
        return try Words(words, flags: flags + [Self.helpFlag], operandFirst: operandFirst)
    }

    /// The usage: the syntax, a line for each flag, and the notes.
    var usage: String {
        let form = ([name] + (flags + [Self.helpFlag]).map { "[\($0.form)]" } + [operands]).filter { !$0.isEmpty }
        let width = flags.map(\.form.count).max() ?? 0
        let lines = (flags + [Self.helpFlag]).map { flag in
            "    \(flag.form)\(String(repeating: " ", count: max(width, 2) - flag.form.count))  \(flag.help)\n"
        }
        return "Usage: \(form.joined(separator: " "))\n" + lines.joined() + notes.map { $0 + "\n" }.joined()
            + "        \(summary)\n"
    }
}

/// The command line is invalid; the text, if any, says why and contains no foreign text.
struct UsageProblem: Error, Hashable, Sendable {
    var reason: String?
}
