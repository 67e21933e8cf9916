internal import KCByteStreams

/// The parsed words after a command name: flags with their values, then operands.
struct Words: Hashable, Sendable {
    /// The values of each given flag, in order; empty for a flag without a value.
    private(set) var values: [Character: [String]] = [:]
    /// Secret flags at the end of the command line without a value, for which the user is prompted.
    private(set) var asked: Set<Character> = []
    /// Everything after the flags.
    private(set) var operands: [String] = []

    /// Why the words cannot be parsed.
    enum Objection: Error, Hashable, Sendable {
        case unknownFlag(Character)
        case valueMissing(Character)
    }

    /// Parses words as getopt(3) does.
    ///
    /// Flags can be combined, and a value is attached or is the next word. `--`, or the first word that is not a flag,
    /// ends the flags.
    ///
    /// - Parameter operandFirst: true if one operand precedes the flags.
    init(_ words: some Sequence<String>, flags: [Flag], operandFirst: Bool = false) throws(Objection) {
        var rest = Array(words)[...]
        var first: [String] = []
        if operandFirst, rest.first?.exact.hasPrefix("-") == false, let word = rest.popFirst() { first = [word] }
        while let word = rest.first, word.exact.hasPrefix("-"), word != "-" {
            rest.removeFirst()
            if word == "--" { break }
            try add(word.dropFirst(), flags, &rest)
        }
        operands = first + rest
    }

    private mutating func add(
        _ cluster: Substring, _ flags: [Flag], _ rest: inout ArraySlice<String>
    ) throws(Objection) {
        var cluster = cluster
        while let letter = cluster.popFirst() {
            guard let flag = flags.first(where: { $0.letter == letter }) else { throw .unknownFlag(letter) }
            switch flag.argument {
            case .none: values[letter] = []
            case .value, .secret:
                let value: String
                if !cluster.isEmpty {
                    value = String(cluster)
                    cluster = ""
                } else if let next = rest.popFirst() {
                    value = next
                } else if case .secret = flag.argument {
                    asked.insert(letter)
                    values[letter] = nil
                    return
                } else {
                    throw .valueMissing(letter)
                }
                asked.remove(letter)
                values[letter] = flag.isRepeatable ? values[letter, default: []] + [value] : [value]
            }
        }
    }

    /// True if the flag was given, with or without a value.
    func has(_ letter: Character) -> Bool { values[letter] != nil || asked.contains(letter) }

    /// Returns the value of a flag.
    func value(_ letter: Character) -> String? { values[letter]?.last }
}
