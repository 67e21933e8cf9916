/// Explains a weak passcode by the kind of part that gives most of it away.
enum Reason: String, CaseIterable {
    case empty = "it is empty"
    case tooShort = "it is too short"
    case commonWord = "it is made of common words or passwords"
    case disguisedWord = "it is made of common words with some letters exchanged, which is tried early"
    case knownWord = "it has the name of the user or of the keychain in it"
    case repetition = "it repeats itself"
    case sequence = "it is a sequence, such as of letters or numbers that follow each other"
    case keyboard = "it is a pattern on the keyboard"
    case date = "it has a date in it"
    case year = "it has a year in it"
    case fewGuesses = "it takes too few guesses"
    case unpredictable = "it has no weakness that is known"

    /// Chooses the words: for a strong passcode no part matters, for a weak one the longest known part.
    init(of estimate: Estimate, score: Int) {
        if estimate.length == 0 {
            self = .empty
        } else if score == 4 {
            self = .unpredictable
        } else if let part = estimate.parts.filter({ $0.kind != .unknown }).max(by: { $0.length < $1.length }),
            // A mostly unpredictable passcode needs to be longer, whatever else it contains.
            part.length * 3 >= estimate.length
        {
            self = Self.reason(of: part)
        } else {
            self = estimate.length < 12 ? .tooShort : .fewGuesses
        }
    }

    private static func reason(of part: Estimate.Part) -> Reason {
        if part.isRepeated { return .repetition }
        switch part.kind {
        case .word: return .commonWord
        case .disguisedWord: return .disguisedWord
        case .knownWord: return .knownWord
        case .repetition: return .repetition
        case .sequence: return .sequence
        case .keyboard: return .keyboard
        case .date: return .date
        case .year: return .year
        case .unknown: return .tooShort
        }
    }
}
