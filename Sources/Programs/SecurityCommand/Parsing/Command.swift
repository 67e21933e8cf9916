/// A command of the program, declared in one place: parsing, usage and the manual come from here.
struct Command: Sendable {
    /// Its name.
    let name: String
    /// One sentence on what it does.
    let summary: String
    /// Its flags, in the order of the usage.
    let flags: [Flag]
    /// What stands after the flags, as in `[keychain...]`.
    let operands: String
    /// True when one operand stands before the flags.
    let operandFirst: Bool
    /// True when words that begin with a dash are operands, as negative numbers are.
    let takesAllWords: Bool
    /// What else the usage says, a line each.
    let notes: [String]
    /// Does the work.
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

    /// Sorts the words that follow the name.
    ///
    /// - Throws: `Words.Objection`.
    func parse(_ words: some Collection<String>) throws(Words.Objection) -> Words {
        // The separator makes operands of everything.
        if takesAllWords, words.first != "-h" { return try Words(["--"] + words, flags: []) }
        return try Words(words, flags: flags + [Self.helpFlag], operandFirst: operandFirst)
    }

    /// How the command is used: one line on its form, one for each flag, and what else there is to say.
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

/// The command line cannot be meant; the text, where there is one, says why and holds no foreign text.
struct UsageProblem: Error, Hashable, Sendable {
    var reason: String?
}
