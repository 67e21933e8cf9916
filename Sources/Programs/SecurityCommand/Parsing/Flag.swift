/// One flag of a command: a dash and a letter, alone or with a value.
struct Flag: Hashable, Sendable {
    /// What follows the letter.
    enum Argument: Hashable, Sendable {
        case none
        /// A value, attached or as the next word; the text names it in the usage.
        case value(String)
        /// A secret as a value; as the last word of the command line, the flag asks for it instead.
        case secret(String)
    }

    let letter: Character
    let argument: Argument
    /// What it does, as the usage has it.
    let help: String
    /// True when each further one adds a value; the last one counts otherwise, as for getopt(3).
    let isRepeatable: Bool

    init(_ letter: Character, _ argument: Argument = .none, _ help: String, isRepeatable: Bool = false) {
        self.letter = letter
        self.argument = argument
        self.help = help
        self.isRepeatable = isRepeatable
    }

    /// The flag as one types it.
    var spelling: String { "-\(letter)" }

    /// The flag with the name of its value.
    var form: String {
        switch argument {
        case .none: spelling
        case .value(let name), .secret(let name): "\(spelling) \(name)"
        }
    }
}
