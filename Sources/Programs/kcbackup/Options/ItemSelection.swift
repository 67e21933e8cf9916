internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// The options that select an item on a command line, as the user could type them.
struct ItemSelection: Hashable, Sendable {
    /// The options with their values, quoted for a shell.
    let words: String

    /// Creates the options for the attributes that tell an item from others of its class.
    ///
    /// - Parameter keychain: as the user named it; nil for the default keychain.
    /// - Returns: nil if no attribute that has an option was given, or if one cannot be typed.
    init?(of itemClass: ItemClass, _ attributes: Attributes, in keychain: String?) {
        var options: [String] = itemClass == .genericPassword ? [] : [OptionName.class.spelling, itemClass.word]
        let named: [(AttributeCode, OptionName)] = [
            (.svce, .service), (.srvr, .server), (.acct, .account), (.agrp, .group),
        ]
        let given = named.filter { attributes[$0.0] != nil }
        // A group alone has many items.
        guard given.contains(where: { $0.0 != .agrp }) else { return nil }
        for (code, option) in given {
            guard case .text(let text)? = attributes[code], let word = hintWord(text) else { return nil }
            options += [option.spelling, word]
        }
        if let keychain {
            guard let word = hintWord(keychain) else { return nil }
            options += [OptionName.keychain.spelling, word]
        }
        words = options.joined(separator: " ")
    }
}

/// Returns text as one word of a command within a hint; nil if it has characters that cannot be shown, or is too long.
private func hintWord(_ text: String) -> String? {
    // Options that begin with a hyphen, and quotes within those around the hint, would only confuse.
    guard displayed(text, limit: 200).exact == text.exact, !text.exact.hasPrefix("-"), !text.exact.contains("'") else {
        return nil
    }
    return Quoted.shellWord(text)
}
