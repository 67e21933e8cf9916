/// A command of the program; parsing and the usage text are based on this.
struct Command: Sendable {
    /// The name of the command.
    let name: String
    /// The purpose of the command, in one sentence.
    let summary: String
    /// The flags, in the order of the usage text.
    let flags: [Flag]
    /// The operands after the flags, as in `[keychain...]`.
    let operands: String
    /// True if one operand precedes the flags.
    let operandFirst: Bool
    /// True if words that begin with a dash, such as negative numbers, are operands.
    let takesAllWords: Bool
    /// Additional lines for the usage text.
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

    /// The flag that every command has: `-h` shows its usage.
    static let helpFlag = Flag("h", .none, "Show this usage")

    /// Parses the words after the name.
    func parse(_ words: some Collection<String>) throws(Words.Objection) -> Words {
        // After `--`, every word is an operand.
        if takesAllWords, words.first != "-h" { return try Words(["--"] + words, flags: []) }
        return try Words(words, flags: flags + [Self.helpFlag], operandFirst: operandFirst)
    }

    /// The usage text: the syntax, one line for each flag, and the notes.
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

/// An invalid command line; the reason, if any, contains no foreign text.
struct UsageProblem: Error, Hashable, Sendable {
    var reason: String?
}
