/// A flag of a command: a dash and a letter, with or without a value.
struct Flag: Hashable, Sendable {
    /// The argument that follows the letter.
    enum Argument: Hashable, Sendable {
        case none
        /// A value, either attached or as the next word; the string is its name in the usage text.
        case value(String)
        /// A secret as a value; if the flag is the last word on the command line, the user is prompted instead.
        case secret(String)
    }

    let letter: Character
    let argument: Argument
    /// The description in the usage text.
    let help: String
    /// True if each repetition adds a value; otherwise the last one wins, as with getopt(3).
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
