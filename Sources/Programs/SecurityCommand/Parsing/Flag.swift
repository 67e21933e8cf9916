/// One flag of a command: a dash and a letter, alone or with a value.
struct Flag: Hashable, Sendable {
    /// What follows the letter.
    enum Argument: Hashable, Sendable {
        case none
        /// A value, attached or as the next word; the text is its name in the usage.
        case value(String)
        /// A secret as a value; if the flag is the last word of the command line, it prompts instead.
        case secret(String)
    }

    let letter: Character
    let argument: Argument
    /// The description in the usage.
    let help: String
    /// True if each repetition adds a value; otherwise the last one counts, as in getopt(3).
    let isRepeatable: Bool

    init(_ letter: Character, _ argument: Argument = .none, _ help: String, isRepeatable: Bool = false) {
        self.letter = letter
        self.argument = argument
        self.help = help
        self.isRepeatable = isRepeatable
    }

    /// The flag as typed.
    var spelling: String { "-\(letter)" }

    /// The flag with the name of its value.
    var form: String {
        switch argument {
        case .none: spelling
        case .value(let name), .secret(let name): "\(spelling) \(name)"
        }
    }
}
