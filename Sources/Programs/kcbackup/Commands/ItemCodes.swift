internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCTerminal

/// The current codes of one-time passwords that were found.
struct ItemCodes {
    /// The code that is shown for an item, or why there is none.
    enum Shown {
        case code(OneTimePasswordCode)
        case none(OneTimePasswordCode.Problem)
    }

    private let shown: [ItemUUID: Shown]

    /// Makes the codes of items whose seals are whole; no code is counted up, and nothing is written.
    ///
    /// - Throws: `Refusal` if none of them has a code, `CryptographyFailure`, and what reading the items throws.
    init(of items: ListedItems, at time: Timestamp) throws {
        var shown: [ItemUUID: Shown] = [:]
        var problem: OneTimePasswordCode.Problem?
        var hasCode = false
        try items.forEachSecret { item, number, secret in
            if number == ListedSeal.broken.rawValue { return }
            do {
                if item.secretSize == nil { throw OneTimePasswordCode.Problem.notAnAddress }
                shown[item.uuid] = .code(try OneTimePasswordCode(of: SecretBytes(secret), at: time))
                hasCode = true
            } catch let error as OneTimePasswordCode.Problem {
                shown[item.uuid] = Shown.none(error)
                problem = problem ?? error
            }
        }
        if let problem, !hasCode {
            throw Refusal(
                .refused, "there is no code: \(problem.words)",
                hint: "'\(OptionName.reveal.spelling)' in place of '\(OptionName.code.spelling)' shows the secret")
        }
        self.shown = shown
    }

    /// The result for an item; nil for one that was not among those given.
    subscript(item: Item) -> Shown? { shown[item.uuid] }
}

extension ItemCodes.Shown {
    /// Appends the members of an item's JSON object, each with a comma before it.
    func append(to line: inout SecretBytes) {
        switch self {
        case .code(let code):
            CanonicalJSON.literal(",\"code\":", into: &line)
            code.text.withBytes { CanonicalJSON.string($0, into: &line) }
            CanonicalJSON.literal(",\"secondsLeft\":\(code.secondsLeft)", into: &line)
        case .none(let problem): CanonicalJSON.literal(",\"noCode\":\"\(problem.rawValue)\"", into: &line)
        }
    }

    /// Appends the value as text for people.
    func appendText(to text: inout SecretBytes) {
        switch self {
        case .code(let code):
            code.text.withBytes { text.append($0) }
            text.append(utf8: ", for \(code.secondsLeft) s")
        case .none(let problem): text.append(utf8: "none: \(problem.words)")
        }
    }
}

extension OneTimePasswordCode.Problem {
    /// The problem as text.
    var words: String {
        switch self {
        case .notAnAddress: "the secret is not an address such as 'otpauth://totp/…'"
        case .counter: "it depends on a counter, which the program that makes all codes has to count up"
        case .algorithm: "its hash function is not SHA-1, SHA-256 or SHA-512"
        case .seed: "its seed is not base32"
        }
    }
}
